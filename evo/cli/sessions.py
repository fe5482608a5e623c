"""A session of a command that plays games: a pool, signal handlers, and the message after a stop."""

import contextlib
import signal
from collections.abc import Iterable, Iterator, Sequence

import typer

from engine import Deck
from engine.screen import say_error
from evo.cli.consoles import stop_on_signals
from evo.cli.options import Place
from evo.cli.progress import Counter, Display
from evo.config import RunConfig
from evo.evolution.opponents import find_opponents
from evo.evolution.run import begin_session, evolve, extend
from evo.play.games import Player, compile_games
from evo.play.outside import refuse_changed
from evo.play.pool import InterruptedRunError, Pool
from evo.play.pools import open_pool
from evo.play.results import PoolLostError
from evo.storage.store import RunFolder
from evo.wording import counted
from rivals import find_kind, is_outside
from rivals.outside.agent import check_starts
from rivals.outside.allowed import allowing


@contextlib.contextmanager
def playing(config: RunConfig, display: Display, opponents: Sequence[Player] | None = None) -> Iterator[Pool]:
    """A pool for a configuration.

    Args:
        config: of the run.
        display: shows its progress.
        opponents: the fixed ones; None: those that the configuration names, which must be there.
    """
    refuse_changed(config)
    players = [Player((1.0,) * len(config.vector.names()), config.backend, config.agent)]
    if config.final.benchmark_games:
        players.append(Player(backend=config.backend))
    players += find_opponents(config).values() if opponents is None else opponents
    place = Place(config.pool, config.workers, config.address)
    with pool_of(place, players, config.found_decks, display) as pool:
        yield pool


@contextlib.contextmanager
def pool_of(
    place: Place,
    players: Sequence[Player],
    decks: Iterable[Deck],
    display: Display | Counter,
    if_stopped: str = "",
) -> Iterator[Pool]:
    """A pool for players, with signal handlers; after a signal the process exits with 130 or 143.

    Args:
        place: where games are played.
        players: who plays.
        decks: that are played.
        display: shows the progress.
        if_stopped: what a stop means, said on standard error; "" where the caller says it.
    """
    for player in players:
        if is_outside(player.kind):
            check_starts(player.kind)
    compiled = all(player.compiled for player in players)
    short = isinstance(display, Counter) and display.total <= games_before_ray(players)
    stopped: InterruptedRunError | None = None
    ready = False
    with stop_on_signals(display):
        try:
            with open_pool(*place, compiled, display.raise_if_stopped, short=short) as (pool, reason):
                display.console.print(reason, markup=False, highlight=False)
                slow = slow_players(players)
                if slow and any(player.compiled for player in players):
                    names = ", ".join(slow)
                    note = f"games of {names} are not compiled, so far slower than the others"
                    display.console.print(note, markup=False, highlight=False)
                display.at_once = True
                compile_games(players, decks)
                display.at_once = False
                display.raise_if_stopped()
                ready = True
                yield pool
        except (InterruptedRunError, KeyboardInterrupt) as error:
            if not display.stopping:
                raise
            stopped = (
                error if isinstance(error, InterruptedRunError) else InterruptedRunError(display.stopping)
            )
            name = signal.Signals(stopped.signal).name
            if not ready:
                say_error(f"stopped by {name} before the first game")
            elif if_stopped:
                display.close()
                say_error(f"stopped by {name}: {if_stopped}")
        finally:
            display.close()
    if stopped is not None:
        raise typer.Exit(128 + stopped.signal)


def games_before_ray(players: Sequence[Player]) -> int:
    """How many games Python plays about as soon as Ray starts: by an agent, or by a solver for every turn."""
    by_solver = any(find_kind(player.kind).takes_backend and not player.compiled for player in players)
    return 50 if by_solver else 10_000


def slow_players(players: Sequence[Player]) -> list[str]:
    """The agent kinds that do not play compiled games, with the backend that is to blame."""
    names = (
        f"{player.kind} with {player.backend}" if find_kind(player.kind).takes_backend else player.kind
        for player in players
        if not player.compiled
    )
    return list(dict.fromkeys(names))


def carry_on(
    folder: RunFolder,
    pool: Pool,
    display: Display,
    address: str,
    generations: int | None = None,
    again: str = "",
) -> None:
    """Evolve a run to its end, or to a new one; if it is stopped, print how to resume it.

    Args:
        folder: of the run.
        pool: plays its games.
        display: shows its progress.
        address: of the cluster; "" without one.
        generations: a new total.
        again: what goes on with it; "" for `manaforge resume`.
    """
    begin_session(folder, pool)
    if generations is not None:
        extend(folder, generations)
    try:
        evolve(folder, pool, display)
    except InterruptedRunError as error:
        display.close()
        name = signal.Signals(error.signal).name
        folder.note(event="stopped", signal=name)
        say_error(f"stopped by {name}: {_how_to_continue(folder, address, again)}")
        raise
    except PoolLostError as error:
        folder.note(event="stopped", error=str(error))
        raise PoolLostError(f"{error}; {_how_to_continue(folder, address, again)}") from None
    finally:
        display.close()


def _how_to_continue(folder: RunFolder, address: str, again: str) -> str:
    safe = f"{counted(folder.committed, 'generation')} {'is' if folder.committed == 1 else 'are'} safe"
    kept = safe if folder.committed else "no generation was finished"
    config = folder.config
    command = f"manaforge resume {folder.path}" + (f" --address {address}" if address else "")
    command += allowing(config.agent, *config.opponents.fixed)
    return f"{kept}. To continue: {again or command}"
