"""Whether an agent plays legally, in time, repeatably, and by what its player knows alone."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine import Action, Outcome, PlayerView, Position, RandomAgent, find_deck
from engine.batches import dealt_cards
from engine.effects.chance import Chance
from engine.game_session import Agent, MatchResult, Reason
from engine.match import deal, play
from engine.streams import generator
from engine.view import Shown
from evo.play.entrants import Entrant
from evo.play.results import last_line
from rivals import find_kind
from rivals.outside.agent import processes

REPEATED = 20
"""Games that are played twice."""

BODIES = ("thesis-paladin", "thesis-warrior")
REAL = ("basic-mage", "basic-hunter")
"""Pairs of decks of the games: of bodies, and of cards that do what they say."""

HOPELESS = 10
"""Games lost by faults after which no more are played."""

UNDECIDED = "not looked at: it made no decision"

MOST_STEPS = 40
"""Actions at random before a position of a pair, at most."""


class Check(NamedTuple):
    """What was found of one thing.

    Attributes:
        name: what was looked at.
        passed: the verdict.
        told: what came out, or what is wrong and where.
    """

    name: str
    passed: bool
    told: str


class Timed:
    """An agent whose decisions are timed; else as it is."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name
        self.shown = getattr(agent, "shown", Shown.NOTHING)
        self.library = getattr(agent, "library", ())
        self.seconds: list[float] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Its own decision."""
        began = time.perf_counter()
        action = self.agent.act(view, rng)
        self.seconds.append(time.perf_counter() - began)
        return action

    def new_game(self, seat: int, rng: np.random.Generator) -> None:
        """Begin a game."""
        begin = getattr(self.agent, "new_game", None)
        if begin is not None:
            begin(seat, rng)

    def game_over(self, outcome: Outcome, reason: Reason) -> None:
        """End a game."""
        end = getattr(self.agent, "game_over", None)
        if end is not None:
            end(outcome, reason)


def check_agent(
    entrant: Entrant, games: int, pairs: int, seed: int, advance: Callable[[int], None] = lambda _: None
) -> Iterator[Check]:
    """Check an agent; yields what was found of each thing, as soon as it is known.

    Args:
        entrant: the agent, which could be started.
        games: against an agent that plays at random.
        pairs: positions that differ only in what is hidden.
        seed: of games and positions.
        advance: called with the number of games played since the last call.
    """
    decks = [BODIES, REAL] if find_kind(entrant.player.kind).effects else [BODIES]
    agent = Timed(entrant.player.agent())
    lost: dict[Reason, list[str]] = {}
    asked, number = games, -1
    for number in range(games):
        result = game_of(agent, decks[number % len(decks)], seed, number)
        advance(1)
        if sum(map(len, lost.values())) == HOPELESS:
            break
        if result.reason not in (Reason.HERO_DIED, Reason.FATIGUE, Reason.TURN_CAP):
            where = f"game {number}, after {len(result.actions)} actions: {last_line(result.error)}"
            lost.setdefault(result.reason, []).append(where)
    games = number + 1
    told = {
        reason: f"{len(texts)} of {games:,} games lost; the first: {texts[0]}"
        for reason, texts in lost.items()
    }
    whole = f"{games:,} games, {len(agent.seconds):,} decisions"
    illegal = told.pop(Reason.ILLEGAL_ACTION, "")
    decided = bool(agent.seconds)
    yield Check("legal actions", decided and not illegal, illegal or (whole if decided else UNDECIDED))
    late = told.pop(Reason.TOO_LATE, "")
    yield Check("time", decided and not late, late or (_times(agent.seconds) if decided else UNDECIDED))
    other = "; ".join(f"{reason}: {text}" for reason, text in told.items())
    if games < asked:
        other += f"; ended after {HOPELESS} faults, {asked - games:,} games before the last"
    yield Check("no other fault", not other, other.removeprefix("; ") or whole)
    yield _repeats(entrant, decks, min(REPEATED, games), seed, advance)
    yield _same_decisions(entrant, decks, pairs, seed, advance)


def game_of(agent: Agent, decks: tuple[str, str], seed: int, number: int) -> MatchResult:
    """A game against an agent that plays at random; the agent goes first in every second one of a pair."""
    first = number // 2 % 2 == 0
    return (
        play(agent, RandomAgent(), decks, seed, (number,))
        if first
        else play(RandomAgent(), agent, decks, seed, (number,))
    )


def _repeats(
    entrant: Entrant, decks: Sequence[tuple[str, str]], games: int, seed: int, advance: Callable[[int], None]
) -> Check:
    """Whether the same games, in another order and from a new process, are played alike."""
    records: dict[int, list[tuple[Action, ...]]] = {number: [] for number in range(games)}
    for order in (range(games), reversed(range(games))):
        processes.close()
        agent = entrant.player.agent()
        for number in order:
            result = game_of(agent, decks[number % len(decks)], seed, number)
            advance(1)
            if result.error:
                return Check(
                    "same seed, same game", False, f"not looked at: game {number} was lost by a fault"
                )
            records[number].append(result.actions)
    for number, (one, other) in records.items():
        if one != other:
            step = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
            texts = [str(actions[step]) if step < len(actions) else "nothing" for actions in (one, other)]
            return Check(
                "same seed, same game",
                False,
                f"game {number}, action {step}: {texts[0]} once and {texts[1]} in another order of games; "
                "draw from the seed alone, and forget earlier games",
            )
    return Check(
        "same seed, same game", True, f"{games} games, played again in another order by a new process"
    )


def _same_decisions(
    entrant: Entrant, decks: Sequence[tuple[str, str]], pairs: int, seed: int, advance: Callable[[int], None]
) -> Check:
    """Whether positions that look the same to its player get the same decision."""
    name = "same view, same decision"
    agents = entrant.player.agent(), entrant.player.agent()
    asked = getattr(agents[0], "shown", Shown.NOTHING)
    for number, positions in enumerate(same_views(decks, pairs, seed)):
        found = []
        advance(0)  # which stops where a signal asks for it
        dealt = dealt_cards(positions[0].states)[0][1 - positions[0].active]
        for agent, position in zip(agents, positions, strict=True):
            try:
                found.append(
                    _decision(
                        agent, position, PlayerView(position, position.active, asked, dealt), seed + number
                    )
                )
            except Exception as error:  # an agent may raise anything
                return Check(name, False, f"pair {number}: {error}")
        if found[0] != found[1]:
            return Check(
                name,
                False,
                f"pair {number}: {found[0]} and {found[1]} in positions that differ only in what is hidden; "
                f"the first: {PlayerView(positions[0], positions[0].active).position}",
            )
    return Check(name, True, f"{pairs} pairs of positions that differ only in what is hidden")


def _decision(agent: Agent, position: Position, view: PlayerView, seed: int) -> str:
    seat = position.active
    begin, end = (getattr(agent, name, None) for name in ("new_game", "game_over"))
    if begin is not None:
        begin(seat, generator(seed))
    action = agent.act(view, generator(seed))
    if end is not None:
        end(Outcome.DRAW, Reason.TURN_CAP)
    return str(action)


def same_views(
    decks: Sequence[tuple[str, str]], n: int, seed: int = 1
) -> Iterator[tuple[Position, Position]]:
    """Positions of games at random, each with one that looks the same to who plays.

    Args:
        decks: pairs of decks, which take turns.
        n: how many.
        seed: of games and cards.
    """
    draws, chance = generator(seed), Chance.given([0] * 20)
    found = 0
    while found < n:
        pair = [find_deck(name) for name in decks[found % len(decks)]]
        position = deal((pair[0], pair[1]), int(draws.integers(1000)))
        for _ in range(int(draws.integers(5, MOST_STEPS))):
            legal = position.legal_actions()
            if legal:
                position.play(legal[int(draws.integers(len(legal)))], chance)
        if position.outcome or len(position.legal_actions()) < 2:
            continue
        found += 1
        yield position, with_others_hidden(position, draws)


def with_others_hidden(position: Position, draws: np.random.Generator) -> Position:
    """A position with the hand and deck of who waits mixed anew, and the own deck in another order.

    Args:
        position: of a game.
        draws: for the cards.
    """
    other = position.copy()
    enemy = other.state["sides"][1 - other.active]
    n_hand, n_deck = int(enemy["n_hand"]), int(enemy["n_deck"])
    hidden = np.concatenate([enemy["hand"][:n_hand], enemy["deck"][:n_deck]])
    cards = hidden >= 0  # The Coin stays where it is
    hidden[cards] = draws.permutation(hidden[cards])
    enemy["hand"][:n_hand], enemy["deck"][:n_deck] = hidden[:n_hand], hidden[n_hand:]
    own = other.state["sides"][other.active]
    own["deck"][: own["n_deck"]] = draws.permutation(own["deck"][: own["n_deck"]])
    return other


def _times(seconds: Sequence[float]) -> str:
    """Median, 99th percentile and longest of some times."""
    if not seconds:
        return "no decision"
    middle, late = np.percentile(seconds, [50, 99])
    return f"median {_ms(middle)} ms, 99% within {_ms(late)} ms, longest {_ms(max(seconds))} ms"


def _ms(seconds: float) -> str:
    """Seconds as milliseconds to two digits."""
    return f"{float(f'{seconds * 1e3:.2g}'):g}"
