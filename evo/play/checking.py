"""Agent conformance checks: legal actions, time limits, reproducible games, no use of hidden cards."""

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
from engine.view import OpponentInfo
from evo.play.entrants import Entrant
from evo.play.results import error_message_of
from rivals import find_kind
from rivals.outside.agent import processes

REPLAYED_GAMES = 20
"""Number of games played twice to check reproducibility."""

DECKS_WITHOUT_EFFECTS = ("thesis-paladin", "thesis-warrior")
DECKS_WITH_EFFECTS = ("basic-mage", "basic-hunter")
"""Deck pairs of the games, without and with card effects."""

WARM_UP_GAME = 2**31
"""Number of a game for each pair of decks that is played first, and not timed."""

MAX_FAULTS = 10
"""Number of games lost by faults after which the check stops."""

NO_DECISION = "the agent made no decision"

MAX_RANDOM_ACTIONS = 40
"""Most random actions played to reach a test position."""


class Check(NamedTuple):
    """Result of one conformance check of an agent.

    Attributes:
        name: of the check.
        passed: whether the agent passed; None if it was not checked.
        told: measurements, or the first failure and its place, or why it was not checked.
        position: of the first failure, in notation; "" where there is none, or `told` has it.
    """

    name: str
    passed: bool | None
    told: str
    position: str = ""


class TimedAgent:
    """Agent that wraps another one and times its decisions."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.name = agent, agent.name
        self.shown = getattr(agent, "shown", OpponentInfo.NOTHING)
        self.library = getattr(agent, "library", ())
        self.seconds: list[float] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:
        """Return the wrapped agent's action, and record the time of the decision."""
        began = time.perf_counter()
        action = self.agent.act(view, rng)
        self.seconds.append(time.perf_counter() - began)
        return action

    def new_game(self, seat: int, rng: np.random.Generator) -> None:
        """Tell the wrapped agent that a game begins."""
        begin = getattr(self.agent, "new_game", None)
        if begin is not None:
            begin(seat, rng)

    def game_over(self, outcome: Outcome, reason: Reason) -> None:
        """Tell the wrapped agent that the game is over."""
        end = getattr(self.agent, "game_over", None)
        if end is not None:
            end(outcome, reason)


def check_agent(
    entrant: Entrant, games: int, pairs: int, seed: int, advance: Callable[[int], None] = lambda _: None
) -> Iterator[Check]:
    """Run all conformance checks on an agent, and yield each result as soon as it is known.

    One game for each pair of decks is played first; its faults count, but not its times.

    Args:
        entrant: the agent; it must be able to start.
        games: number of games against a random agent.
        pairs: number of pairs of positions that differ only in hidden cards.
        seed: of games and positions.
        advance: called with the number of games played since the last call.
    """
    decks = (
        [DECKS_WITHOUT_EFFECTS, DECKS_WITH_EFFECTS]
        if find_kind(entrant.player.kind).effects
        else [DECKS_WITHOUT_EFFECTS]
    )
    agent = TimedAgent(entrant.player.agent())
    faults: dict[Reason, list[str]] = {}
    positions: dict[Reason, str] = {}

    def record_fault(result: MatchResult, game: str) -> None:
        if result.reason not in (Reason.HERO_DIED, Reason.FATIGUE, Reason.TURN_CAP):
            where = f"{game}, after {len(result.actions)} actions: {error_message_of(result.error)}"
            lines = [line for line in result.error.splitlines() if line.startswith("in turn ")]
            positions.setdefault(result.reason, lines[-1].removeprefix("in ") if lines else "")
            faults.setdefault(result.reason, []).append(where)

    for pair in decks:  # what loads or compiles at the first decision counts for no time
        result = play_against_random(agent, pair, seed, WARM_UP_GAME)
        if result.reason != Reason.TOO_LATE:
            record_fault(result, f"first game of {' and '.join(pair)}")
    agent.seconds.clear()
    requested, number = games, -1
    for number in range(games):
        result = play_against_random(agent, decks[number % len(decks)], seed, number)
        advance(1)
        if sum(map(len, faults.values())) >= MAX_FAULTS:
            break
        record_fault(result, f"game {number}")
    games = number + 1
    messages = {
        reason: f"{len(details)} of {games + len(decks):,} games lost; the first: {details[0]}"
        for reason, details in faults.items()
    }
    totals = f"{games:,} games, {len(agent.seconds):,} decisions"
    on = "; decks: " + ", ".join(" and ".join(pair) for pair in decks)
    illegal = messages.pop(Reason.ILLEGAL_ACTION, "")
    acted = bool(agent.seconds)
    fine = True if acted else None
    yield Check(
        "legal actions",
        False if illegal else fine,
        illegal or (totals + on if acted else NO_DECISION),
        positions.get(Reason.ILLEGAL_ACTION, ""),
    )
    time_fault = messages.pop(Reason.TOO_LATE, "")
    yield Check(
        "time",
        False if time_fault else fine,
        time_fault or (_times_text(agent.seconds) if acted else NO_DECISION),
        positions.get(Reason.TOO_LATE, ""),
    )
    complete = True if games == requested else None
    other_faults = "; ".join(f"{reason}: {text}" for reason, text in messages.items())
    if games < requested:
        other_faults += f"; ended after {MAX_FAULTS} faults, {requested - games:,} games before the last"
    yield Check(
        "no other fault",
        False if messages else complete,
        other_faults.removeprefix("; ") or totals,
        next((positions[reason] for reason in messages), ""),
    )
    yield _check_reproducible(entrant, decks, min(REPLAYED_GAMES, games), seed, advance)
    yield _check_hidden_cards(entrant, decks, pairs, seed, advance)


def play_against_random(agent: Agent, decks: tuple[str, str], seed: int, number: int) -> MatchResult:
    """Play game `number` against a random agent; the agent goes first in games 0, 1, 4, 5, 8, 9, ..."""
    first = number // 2 % 2 == 0
    return (
        play(agent, RandomAgent(), decks, seed, (number,))
        if first
        else play(RandomAgent(), agent, decks, seed, (number,))
    )


def _check_reproducible(
    entrant: Entrant, decks: Sequence[tuple[str, str]], games: int, seed: int, advance: Callable[[int], None]
) -> Check:
    """Check that an agent's games are reproducible, in another order and in a new process."""
    records: dict[int, list[tuple[Action, ...]]] = {number: [] for number in range(games)}
    for order in (range(games), reversed(range(games))):
        processes.close()
        agent = entrant.player.agent()
        for number in order:
            result = play_against_random(agent, decks[number % len(decks)], seed, number)
            advance(1)
            if result.error:
                return Check("same seed, same game", None, f"game {number} was lost by a fault")
            records[number].append(result.actions)
    for number, (once, again) in records.items():
        if once != again:
            step = next((i for i, (a, b) in enumerate(zip(once, again, strict=False)) if a != b), len(once))
            texts = [str(actions[step]) if step < len(actions) else "nothing" for actions in (once, again)]
            return Check(
                "same seed, same game",
                False,
                f"game {number}, action {step}: {texts[0]} at first, {texts[1]} when the games were "
                "played in another order; use no randomness but the given generator, and keep no state "
                "between games",
            )
    return Check(
        "same seed, same game", True, f"{games} games, played again in another order by a new process"
    )


def _check_hidden_cards(
    entrant: Entrant, decks: Sequence[tuple[str, str]], pairs: int, seed: int, advance: Callable[[int], None]
) -> Check:
    """Check that an agent acts alike in positions that differ only in hidden cards."""
    name = "same view, same decision"
    agents = entrant.player.agent(), entrant.player.agent()
    shown = getattr(agents[0], "shown", OpponentInfo.NOTHING)
    for number, positions in enumerate(same_view_positions(decks, pairs, seed)):
        found = []
        advance(0)  # raises if a signal asked to stop
        dealt = dealt_cards(positions[0].states)[0][1 - positions[0].active]
        for agent, position in zip(agents, positions, strict=True):
            try:
                found.append(
                    _decision(
                        agent, position, PlayerView(position, position.active, shown, dealt), seed + number
                    )
                )
            except Exception as error:  # an agent may raise anything
                return Check(name, False, f"pair {number}: {error}")
        if found[0] != found[1]:
            return Check(
                name,
                False,
                f"pair {number}: {found[0]} and {found[1]} in positions that differ only in what is hidden; "
                f"the first position: {PlayerView(positions[0], positions[0].active).position}",
            )
    return Check(name, True, f"{pairs} pairs of positions that differ only in what is hidden")


def _decision(agent: Agent, position: Position, view: PlayerView, seed: int) -> str:
    """Ask an agent for an action in a position; returns the action as text."""
    seat = position.active
    begin, end = (getattr(agent, name, None) for name in ("new_game", "game_over"))
    if begin is not None:
        begin(seat, generator(seed))
    action = agent.act(view, generator(seed))
    if end is not None:
        end(Outcome.DRAW, Reason.TURN_CAP)
    return str(action)


def same_view_positions(
    decks: Sequence[tuple[str, str]], n: int, seed: int = 1
) -> Iterator[tuple[Position, Position]]:
    """Pairs of random positions that differ only in cards hidden from the active player.

    Args:
        decks: pairs of decks, used in turn.
        n: number of pairs.
        seed: of games and cards.
    """
    draws, chance = generator(seed), Chance.given([0] * 20)
    found = 0
    while found < n:
        pair = [find_deck(name) for name in decks[found % len(decks)]]
        position = deal((pair[0], pair[1]), int(draws.integers(1000)))
        for _ in range(int(draws.integers(5, MAX_RANDOM_ACTIONS))):
            legal = position.legal_actions()
            if legal:
                position.play(legal[int(draws.integers(len(legal)))], chance)
        if position.outcome or len(position.legal_actions()) < 2:
            continue
        found += 1
        yield position, redeal_hidden_cards(position, draws)


def redeal_hidden_cards(position: Position, draws: np.random.Generator) -> Position:
    """A position with the opponent's hand and deck redealt, and the active player's deck reshuffled.

    Args:
        position: of a game.
        draws: random generator of the shuffles.
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


def _times_text(seconds: Sequence[float]) -> str:
    """Median, 99th percentile and maximum of decision times, as text."""
    if not seconds:
        return "no decision"
    median, percentile_99 = np.percentile(seconds, [50, 99])
    return f"median {_ms(median)} ms, 99% within {_ms(percentile_99)} ms, longest {_ms(max(seconds))} ms"


def _ms(seconds: float) -> str:
    """Format seconds as milliseconds with two significant digits."""
    return f"{float(f'{seconds * 1e3:.2g}'):g}"
