"""Whole games of lookahead agents in compiled batches, with random exploration."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from engine.batches import game_loop, nothing_dealt
from engine.codes import ActionKind, Outcome
from engine.effects.card_filters import has_effects
from engine.jit import njit_borrowing
from engine.match import Reckoned
from engine.rules import apply, encode, outcome
from engine.streams import below
from engine.view import hide
from ilp_agent.lookahead import PREDICTED, body_ends
from ilp_agent.lookahead import card_ends as real
from ilp_agent.lookahead.deck_prediction import Library, library_for
from ilp_agent.lookahead.determinization import foresee, look_at, stream_of
from ilp_agent.lookahead.evaluation import LOST, WON, Memory, keep_features, new_memory
from ilp_agent.lookahead.weights import HANDS, kernel_rows
from ilp_agent.search.backend import searcher_of_thread
from ilp_agent.search.card_facts import learn_facts

NEVER = 0
"""A chance of exploring, in millionths."""

ALWAYS = 1_000_000

NO_STREAM = np.uint64(0)
"""Stands for the stream where nothing is drawn."""

_WHETHER, _WHICH = range(2)
"""Numbers of a stream: whether an end is drawn, and which."""


@njit_borrowing
def draw_end(explore: int, key: np.uint64, found: int) -> int:
    """The number of an end drawn at random, below `found`; -1 where none is drawn.

    Args:
        explore: chance that one is, in millionths.
        key: stream of the turn.
        found: how many ends there are, >= 1.
    """
    if explore > NEVER and below(key, _WHETHER, ALWAYS) < explore:
        return int(below(key, _WHICH, found))
    return -1


USE = np.dtype(
    [
        ("turns", "i8"),  # turns chosen, parts of turns too
        ("judged", "i8"),  # positions judged
        ("unproven", "i8"),  # turns in which positions ran out before all ends were found
    ]
)
"""What looking ahead used."""


class Ends(NamedTuple):
    """The kernels that find and judge different ends of a turn.

    Attributes:
        find: `(cards, row, memory)`: finds ends of the turn in `memory.here`, which has what its player sees,
            and returns how many there are; 0 where what is left in `memory.plan` is played.
        worth: `(number, cards, row, stream, memory)`: what an end is worth, all that is drawn coming from the
            stream; `memory.features` are those of the position judged last.
        is_before: `(number, other, memory)`: whether an end is played that is worth the same as another, of a
            lower number; else that is.
        take: `(number, cards, memory)`: writes an end to `memory.plan`.
    """

    find: Callable[..., int]
    worth: Callable[..., float]
    is_before: Callable[..., bool]
    take: Callable[..., None]


class Looking(NamedTuple):
    """The kernels of looking ahead, for ends found in one way.

    Attributes:
        choose: chooses a turn, which it leaves in `plan` of the memory.
        play_games: plays games on, of `engine.batches.game_loop`.
        plan: chooses one turn for Python.
    """

    choose: Callable[..., None]
    play_games: Callable[..., None]
    plan: Callable[..., None]


@njit_borrowing
def carry_out(state: np.void, cards: np.ndarray, plan: np.void, luck: np.void) -> None:
    """Make a plan's actions, and end the turn unless it goes on. `state` and `luck` are modified in place."""
    for step in range(plan["n"]):
        apply(state, cards, plan["actions"][step], luck)
    if not plan["again"] and outcome(state) == Outcome.ONGOING:
        apply(state, cards, encode(ActionKind.END_TURN, 0, 0), luck)


def _looking_by(ends: Ends) -> Looking:
    find, worth_of, is_before, take = ends

    @njit_borrowing
    def choose(
        state: np.void, cards: np.ndarray, row: np.ndarray, explore: int, key: np.uint64, memory: Memory[Any]
    ) -> None:
        """Choose the actions of a turn, or of the part of it up to what only the game decides.

        Args:
            state: dtype `STATE`, not over; the active player plays. Left as it is; hidden cards are not read.
            cards: the card table.
            row: weights as `ilp_agent.lookahead.weights.kernel_rows` makes them, then options.
            explore: chance that an end is drawn at random in place of the best, in millionths.
            key: stream of that draw; nothing else depends on it.
            memory: modified in place: `plan` is what is chosen. Where `judged` is above 0, `leaf` holds the
                features of the position judged last of the chosen end. `hands` say what the opponent may
                hold (`hands.foresee`).
        """
        memory.here[0] = state
        hide(memory.here[0], cards, state["active"])
        memory.judged[0] = 0
        found = find(cards, row, memory)
        if found == 0:
            return
        drawn, stream = draw_end(explore, key, found), stream_of(memory.here[0])
        best, most = -1, 0.0
        for number in range(found):
            if drawn >= 0 and number != drawn:
                continue
            worth = worth_of(number, cards, row, stream, memory)
            if best < 0 or worth > most or (worth == most and is_before(number, best, memory)):
                best, most = number, worth
                keep_features(memory.features, memory.leaf)
        if not LOST < most < WON:
            memory.judged[0] = 0
        take(best, cards, memory)

    @njit_borrowing
    def take_turn(
        game: int,
        state: np.void,
        cards: np.ndarray,
        row: np.ndarray,
        luck: np.void,
        looking: tuple[Memory[Any], np.ndarray, Library],
        used: np.void,
    ) -> None:
        """Play the turn that is chosen, or a part of it; see `engine.batches.game_loop`.

        `looking` is memory of `looking_at`, the cards dealt (`engine.batches.dealt_cards`), and the library.
        """
        memory, dealt, library = looking
        look_at(state, dealt[game, 1 - state["active"]], int(row[HANDS]), cards, library, memory.hands)
        choose(state, cards, row, NEVER, NO_STREAM, memory)
        used["turns"] += 1
        used["judged"] += memory.judged[0]
        used["unproven"] += memory.plan[0]["unproven"]
        carry_out(state, cards, memory.plan[0], luck)

    @njit_borrowing
    def plan(
        states: np.ndarray,
        cards: np.ndarray,
        rows: np.ndarray,
        n_shown: int,
        library: Library,
        memory: Memory[Any],
    ) -> None:
        """Choose the turn of the only state of an array of shape (1,), which is left as it is.

        Of the opponent's cards `n_shown` are in `memory.hands.shown`.
        """
        foresee(states[0], int(rows[0, HANDS]), n_shown, cards, library, memory.hands)
        choose(states[0], cards, rows[0], NEVER, NO_STREAM, memory)

    return Looking(choose, game_loop(take_turn), plan)


AT_BODIES = _looking_by(Ends(body_ends.find, body_ends.worth, body_ends.is_before, body_ends.take))
AT_CARDS = _looking_by(Ends(real.find, real.worth, real.is_before, real.take))

_LOCAL = threading.local()


def looking_at(cards: np.ndarray) -> tuple[Looking, Memory[Any]]:
    """How games with a card table are looked ahead in, and this thread's memory for it.

    The memory is made once: kernels run without the GIL, so no two threads may share it.
    """
    if not has_effects(cards):
        if not hasattr(_LOCAL, "bodies"):
            _LOCAL.bodies = new_memory(body_ends.new_bodies())
        return AT_BODIES, _LOCAL.bodies
    search = searcher_of_thread().ready()
    if getattr(_LOCAL, "table", None) is not cards:
        _LOCAL.table, own, facts = cards, cards.copy(), learn_facts(cards)
        if hasattr(_LOCAL, "cards"):
            ends = _LOCAL.cards.ends._replace(own_cards=own, facts=facts)
            _LOCAL.cards = _LOCAL.cards._replace(ends=ends)
        else:
            _LOCAL.cards = new_memory(real.new_cards(own, facts, search))
    works, memo, slots = search
    ends = _LOCAL.cards.ends._replace(works=works, memo=memo, slots=slots)
    return AT_CARDS, _LOCAL.cards._replace(ends=ends)


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,
    known: Reckoned | None = None,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    rows, use = kernel_rows(weights), np.zeros(len(states), USE)
    predicts = bool((rows[:, HANDS] == PREDICTED).any())
    dealt, table, further = known or Reckoned(nothing_dealt(len(states)))
    longer, library = library_for(cards, predicts, has_effects(cards), table, further)
    looking, memory = looking_at(longer)
    looking.play_games(longer, rows, agents, states, chances, (memory, dealt, library), use)
    turns["unproven"] += use["unproven"]
