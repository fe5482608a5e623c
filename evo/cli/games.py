"""Commands about single games and agents: play, replay, explain, check-agent."""

import json
import os
import shlex
import signal
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import ConsoleRenderable

from engine.errors import check_choice
from engine.shipped import shipped_decks
from engine.terminal import safe_text
from evo.cli import options
from evo.cli.options import (
    ENTRANT_HELP,
    AllowAgent,
    AnyDeck,
    AsBodies,
    AsJson,
    DealSeed,
    DeckEdition,
    LibraryFolder,
    Patches,
    RulesetName,
    decks_with_options,
)
from evo.play.notation import NOTATION
from evo.terminal.console import Column, FittingTable
from ilp_agent.backends import BACKENDS, DEFAULT_BACKEND, FORMULATIONS
from ilp_agent.shipped import shipped_profiles

if TYPE_CHECKING:
    from engine import Deck, Position
    from evo.play.checking import Check
    from ilp_agent import Profile, Weights


SOLVERS = "; ".join(entry.summary for entry in BACKENDS.values())


GamePage = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write an HTML page to step through the game, with the plans of ILP agents.",
    ),
]


ReplayPage = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="The page to write. (default: game-NUMBER.html)"),
]
TournamentFolder = Annotated[
    Path, typer.Argument(metavar="TOURNAMENT", help="The folder of a tournament.", show_default=False)
]


def play_command(
    first: str = typer.Argument(
        help=f"Agent that goes first: {NOTATION}.", autocompletion=options.complete_entrants
    ),
    second: str = typer.Argument(help="Agent that goes second.", autocompletion=options.complete_entrants),
    decks: str = typer.Option(
        "thesis-paladin,thesis-warrior",
        help=f"Decks of the first and the second, separated by a comma; one for both: "
        f"{', '.join(shipped_decks())}, files or deck codes.",
        autocompletion=options.complete_decks,
    ),
    edition: DeckEdition = "",
    bodies: AsBodies = False,
    any_deck: AnyDeck = False,
    patch: Patches = None,
    library: LibraryFolder = None,
    seed: int = typer.Option(1, min=0, max=2**64 - 1, help="Seed of the game: the same seed, the same game."),
    ruleset: RulesetName = "",
    explain_turns: bool = typer.Option(
        False,
        "--explain",
        help="Explain the plan of each turn of agents ilp:PROFILE; others give no reasons.",
    ),
    html: GamePage = None,
) -> None:
    """Play one game and show it turn by turn."""
    import numpy as np

    from engine import Action, Position, find_ruleset, play
    from engine.batches import dealt_cards
    from engine.codes import ActionKind
    from engine.decks import changes_sentence, coverage_sentence, default_ruleset
    from engine.view import PlayerView
    from evo.cli.tables import draw_secret_explanation
    from evo.decklibrary import library_for_prediction
    from evo.game_pages.story import GameInfo, explainer_of, game_data, story_page
    from evo.play.entrants import find_entrant
    from evo.play.games import mulligans_of_pair
    from evo.terminal.drawing import console, draw_position
    from ilp_agent import IlpAgent
    from rivals import refuse_decks

    if html is not None:
        _write_game(html, b"")
    both = _two_decks(decks, edition, bodies, any_deck, patch)
    players = (
        find_entrant(first).player.with_deck(both[0].name),
        find_entrant(second).player.with_deck(both[1].name),
    )
    refuse_decks((player.kind_and_backend for player in players), both)
    known = library_for_prediction(any(player.predicts for player in players), library, both)
    agents = players[0].agent(known), players[1].agent(known)
    ruleset = ruleset or default_ruleset(both)
    rules = find_ruleset(ruleset)
    names = f"{first} with {both[0].name}", f"{second} with {both[1].name}"
    print(safe_text(f"{names[0]} (first) against {names[1]} (second), ruleset {ruleset}, seed {seed}"))
    print(safe_text(coverage_sentence(dict.fromkeys(both))))
    if explain_turns and not any(isinstance(agent, IlpAgent) for agent in agents):
        print("--explain: neither agent gives reasons; those of ilp:PROFILE do")
    dealt = np.zeros((2, 0), np.int16)  # both deck lists
    parts: list[str] = []  # heading and actions of the current turn
    reasons: list[ConsoleRenderable] = []  # explained plan of the current turn

    def print_turn() -> None:
        if parts:
            turn = safe_text(f"{parts[0]} {'; '.join(parts[1:]) or 'nothing'}")
            print(fill(turn, min(100, console().width), subsequent_indent=" " * 17))
        for reason in reasons:
            console().print(reason)
        parts.clear()
        reasons.clear()

    def watch(position: Position, action: Action) -> None:
        nonlocal dealt
        agent = agents[position.active]
        if not dealt.size:
            dealt = dealt_cards(position.states)[0]
        if not parts:
            parts.append(_heading(position))
            if explain_turns and isinstance(agent, IlpAgent):
                view = PlayerView(position, position.active, agent.shown, dealt[1 - position.active])
                reasons.append(_explained(view.position, agent.weights, agent.backend))
                secrets = agent.explain_secrets(view)
                if secrets is not None:
                    reasons.append(draw_secret_explanation(secrets, view.position))
        if action.kind == ActionKind.END_TURN:
            print_turn()
        else:
            parts.append(position.describe(action))

    keeps = mulligans_of_pair(players, both)
    result = play(*agents, both, seed, ruleset=rules, watch=watch, keeps=keeps)
    print_turn()
    screen = console()
    screen.print(draw_position(result.position))
    ending = "a draw" if result.winner is None else f"{names[result.winner]} wins"
    screen.print(f"{ending} in turn {result.turns} ({result.reason})", style="bold", markup=False)
    if result.error:
        screen.print(result.error.strip(), markup=False)
    if html is not None:
        command = ["manaforge", "play", first, second, "--decks", decks, "--ruleset", ruleset]
        command += ["--seed", str(seed), *(["--edition", edition] if edition else [])]
        command += ["--bodies"] * bodies + ["--any-deck"] * any_deck
        command += [word for text in both[0].patch.texts for word in ("--patch", text)]
        command += ["--library", str(library)] if library is not None else []
        info = GameInfo(
            players=(first, second),
            decks=(both[0].name, both[1].name),
            ruleset=rules.name,
            command=shlex.join(command),
            changes=changes_sentence(both),
        )
        _write_game(html, story_page(game_data(result, info, tuple(map(explainer_of, agents)))))
        screen.print(f"written: {html}", markup=False)


def replay_command(
    folder: TournamentFolder,
    number: int = typer.Argument(min=0, help="Number of the game, from 0."),
    html: ReplayPage = None,
    _agents: AllowAgent = None,
) -> None:
    """Replay a game of a tournament, and write a page to step through it, with the agents' plans."""
    from engine.errors import WrongValueError
    from engine.game_session import no_op
    from evo.game_pages.story import replay_recorded_game, story_page
    from evo.tournament.reading import read_tournament, tournament_to_replay

    if not (folder / "tournament.json").is_file():
        raise WrongValueError(f"{folder} is not a tournament folder: it has no tournament.json")
    html = html or Path(f"game-{number}.html")
    _write_game(html, b"")
    record = read_tournament(folder)
    if number >= len(record.games):
        raise WrongValueError(f"{folder} has {len(record.games):,} games, numbered from 0; got {number}")
    story = replay_recorded_game(record, tournament_to_replay(record), number, no_op)
    _write_game(html, story_page(story))
    print(safe_text("\n".join(filter(None, (story["result"], story["error"], story["remark"])))))
    print(safe_text(f"written: {html}"))


def _write_game(file: Path, page: bytes) -> None:
    """Write a game's HTML page; for an empty page, only check that the file can be written.

    Raises:
        RunError: the file cannot be written.
    """
    from evo.storage.files import temporary_path, write_atomically, write_error_text
    from evo.storage.run_folder import RunError

    temporary = temporary_path(file)
    why = write_error_text(file, temporary)
    if why:
        raise RunError(f"cannot write {file}: {why}; choose another --html")
    if page:
        write_atomically(file, page, temporary)


def _explained(
    position: "Position", weights: "Weights", backend: str, title: str = ""
) -> "ConsoleRenderable":
    """Explain the best plan of the player to move, on real cards or on bodies."""
    from evo.cli.tables import draw_explanation
    from ilp_agent import explain, turn_of

    return draw_explanation(explain(turn_of(position), weights, backend), position, title)


def _heading(position: "Position") -> str:
    """Heading of a turn: number, player, health and mana."""
    own, enemy = (position.state["sides"][seat] for seat in (position.active, 1 - position.active))
    return (
        f"turn {position.state['turn']:>2} {('first', 'second')[position.active]:<6} "
        f"({own['health']} against {enemy['health']} health, {own['mana']} mana):"
    )


def _two_decks(
    text: str, edition: str, bodies: bool, any_deck: bool, patch: list[str] | None
) -> "tuple[Deck, Deck]":
    """Parse the decks of the first and second player; a single name is the deck of both players."""
    from engine import find_deck
    from engine.errors import DeckNameError
    from evo.config.files import split_names

    names = split_names(text)
    if len(names) not in (1, 2):
        raise DeckNameError(f"--decks takes one deck for both players, or two as FIRST,SECOND, got {text!r}")
    names = decks_with_options(names, edition, bodies, any_deck, patch)
    return find_deck(names[0]), find_deck(names[-1])


def read_position(text: str) -> "Position":
    """Parse the position of a command line.

    Raises:
        WrongValueError: it is the name of a file, or not in notation.
    """
    from engine import parse_position
    from engine.errors import WrongValueError

    if os.path.isfile(text):  # noqa: PTH113 - accepts texts that no file can have as its name
        raise WrongValueError(
            f'{text} is a file; give the position itself, such as "$(cat {shlex.quote(text)})"'
        )
    return parse_position(text)


def read_profile(text: str) -> "Profile[Weights]":
    """Find the profile that --profile names: a shipped one, a file, or a run folder.

    Raises:
        UnknownNameError: there is none, or it names an agent.
    """
    from engine.errors import UnknownNameError
    from evo.play.entrants import entrant_profile
    from ilp_agent import Profile, Weights
    from rivals import AGENTS, DEFAULT_AGENT

    try:
        found = entrant_profile(DEFAULT_AGENT, text)
    except UnknownNameError:
        if text.partition(":")[0] not in AGENTS:
            raise
        raise UnknownNameError(
            f"--profile takes weights of {DEFAULT_AGENT}, not an agent, got {text!r}: "
            f"{', '.join(shipped_profiles())}, a profile file, or a run folder"
        ) from None
    return Profile(found.name, Weights.from_array(found.weights.array))


def explain_command(
    position: str = typer.Argument(help="A position on one line (docs/game.md#notation)."),
    profile: str = typer.Option(
        "true-balanced",
        help=f"{', '.join(shipped_profiles())}, a profile file, or a run folder.",
        autocompletion=options.complete_profiles,
    ),
    backend: str = typer.Option(
        DEFAULT_BACKEND, help=f"{SOLVERS}.", autocompletion=options.complete_backends
    ),
    as_data: bool = typer.Option(False, "--json", help="Print JSON for machines."),
    program: str = typer.Option(
        "",
        help=f"Print the integer program instead of its solution: {' or '.join(FORMULATIONS)}.",
        autocompletion=options.complete_formulations,
    ),
) -> None:
    """Show the best plan of a turn, term by term against the best plan without its first action."""
    from evo.cli.tables import explanation_json
    from evo.terminal.drawing import console, draw_position
    from ilp_agent import explain, find_solver, program_of, turn_of

    find_solver(backend)
    if program:
        check_choice("--program", "formulation", program, tuple(FORMULATIONS))
    parsed, chosen = read_position(position), read_profile(profile)
    if program:
        width = console().width if parsed.table.effects else 0
        print(program_of(turn_of(parsed), chosen.weights, program).text(width))
        return
    if as_data:
        explanation = explain(turn_of(parsed), chosen.weights, backend)
        print(json.dumps(explanation_json(explanation, chosen, backend, parsed), indent=1))
        return
    explained = _explained(parsed, chosen.weights, backend, f"{chosen.name}, {backend}")
    screen = console()
    screen.print(draw_position(parsed))
    screen.print(explained)


VERDICTS = {True: "ok", False: "FAILED", None: "not checked"}
"""Verdict of a check in the table, by `Check.passed`."""

CHECK_COLUMNS = (Column("check"), Column("verdict"), Column("result", folds=True))


def check_agent_command(
    entrant: str = typer.Argument(
        help=f"The agent. {ENTRANT_HELP}", show_default=False, autocompletion=options.complete_entrants
    ),
    games: int = typer.Option(1000, min=2, max=10**6, help="Games against the random agent."),
    pairs: int = typer.Option(
        200, min=1, max=10**6, help="Pairs of positions that differ only in hidden information."
    ),
    seed: DealSeed = 1,
    as_data: AsJson = False,
) -> None:
    """Check that an agent plays legally, in time, reproducibly, and without hidden information."""
    from engine.terminal import print_error
    from evo.play.checking import REPLAYED_GAMES, check_agent
    from evo.play.entrants import find_entrant
    from evo.play.pool import InterruptedRunError
    from evo.sessions.progress import GameCounter, output_console, stop_on_signals
    from rivals import is_outside
    from rivals.outside.agent import SECONDS_TO_START

    console = output_console(stderr=as_data)
    if is_outside(entrant):
        console.print(f"waiting for {entrant} to start, at most {SECONDS_TO_START:g} s", markup=False)
    found = find_entrant(entrant)
    again = min(REPLAYED_GAMES, games)
    console.print(
        f"{games + 2 * again:,} games: {games:,} against a random agent, then the first {again} "
        "twice more, which must repeat",
        highlight=False,
    )
    counter = GameCounter(console, games + 2 * again)
    counter.stops_immediately = True
    checks: list[Check] = []
    try:
        with stop_on_signals(counter):
            checks += check_agent(found, games, pairs, seed, counter.advance)
    except (InterruptedRunError, KeyboardInterrupt):
        print_error("stopped: no results were saved")
        raise typer.Exit(128 + (counter.stopping or signal.SIGINT)) from None
    finally:
        counter.close()
    passed = all(check.passed for check in checks)
    if as_data:
        print(json.dumps({"passed": passed, "checks": [check._asdict() for check in checks]}, indent=1))
    else:
        rows = [[check.name, VERDICTS[check.passed], check.told] for check in checks]
        console.print(FittingTable(CHECK_COLUMNS, rows))
        for check in checks:
            if check.position:
                text = f"position of the first failure of {check.name!r}: {check.position}"
                console.print(text, markup=False, highlight=False)
        console.print(f"{found.text} {'passed' if passed else 'did not pass'}", markup=False, highlight=False)
    if not passed:
        raise typer.Exit(1)
