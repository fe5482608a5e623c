"""The agent that looks ahead, in Python: as it plays compiled, action by action."""

from collections.abc import Callable, Sequence

import numpy as np

from engine import Action, Deck, Outcome, PlayerView, Position
from engine.codes import ActionKind
from engine.jit import njit_borrowing
from engine.lazy import loaded
from engine.rules import apply_plain, encode, outcome
from engine.state import STATE
from engine.view import Shown
from ilp_agent.lookahead.explore import NEVER, NO_STREAM
from ilp_agent.lookahead.hands import foresee, take_over
from ilp_agent.lookahead.judge import Memory
from ilp_agent.lookahead.kernel import choose_turn
from ilp_agent.lookahead.library import Library, class_decks, library_for
from ilp_agent.lookahead.options import DEFAULT_BUDGET, DEFAULT_DEPTH, DEFAULT_SAMPLES
from ilp_agent.lookahead.records import MAX_ACTIONS_OF_TURN
from ilp_agent.lookahead.selfplay import looking_of_thread, memory_of_thread
from ilp_agent.lookahead.weights import HANDS, LookaheadWeights, kernel_rows
from ilp_agent.planner import place_actions
from ilp_agent.profiles import Profile
from ilp_agent.search.backend import searcher_of_thread


class LookaheadAgent:
    """Judges different ends of its turn by the opponent's reply, and plays the one that is worth most.

    Args:
        profile: the weights and the name that results show; or weights alone.
        budget: positions judged in a turn at most, 1 to `ilp_agent.lookahead.options.MOST_BUDGET`; with 1 it
            plays the turn program's plan.
        depth: 1 judges the end at once, 2 after the opponent's reply, 3 after the own turn that follows.
        samples: on real cards, how often each way to go on is tried; they share the budget. On bodies, on how
            many of the opponent's hands each end is judged.
        hands: a value of `ilp_agent.lookahead.options.HANDS`: what is taken of the opponent's hand.
        further: decks that an opponent may play beside the shipped ones, where its deck is predicted.

    Attributes:
        shown: what of the opponent's cards it is to be shown beside its view.
        library: decks that it reckons with on real cards, whose cards must be in the game's table.
        turns: turns chosen so far.
        judged: positions judged in all of them.
        unproven: turns in which not all ends were found, since there were too many positions on the way.
    """

    def __init__(
        self,
        profile: Profile[LookaheadWeights] | LookaheadWeights,
        budget: int = DEFAULT_BUDGET,
        depth: int = DEFAULT_DEPTH,
        samples: int = DEFAULT_SAMPLES,
        hands: int = Shown.NOTHING,
        further: Sequence[Deck] = (),
    ) -> None:
        self.name = profile.name if isinstance(profile, Profile) else LookaheadWeights.AGENT
        self.weights = profile.weights if isinstance(profile, Profile) else profile
        self.budget, self.depth, self.samples = budget, depth, samples
        self.turns = self.judged = self.unproven = 0
        self.shown = Shown(hands)
        self.further = tuple(further)
        self.library = class_decks(self.further) if self.shown == Shown.SEEN else ()
        self._rows = kernel_rows(np.array([[*self.weights.everything, budget, depth, samples, hands]]))
        self._planned: list[tuple[bytes, Action]] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the turn; chosen again where the position is not the one planned for."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def _plan(self, view: PlayerView) -> None:
        """Choose, and note each action with the position it is meant for."""
        if view.position.table.effects:
            self._plan_cards(view)
            return
        position, memory = view.position, memory_of_thread()
        codes, steps = np.zeros(MAX_ACTIONS_OF_TURN, np.int64), np.zeros(MAX_ACTIONS_OF_TURN + 1, STATE)
        cards, library = self._library(position, False)
        n_shown = take_over(view, memory.hands)
        n = plan_turn(position.states, cards, self._rows, n_shown, library, memory, codes, steps)
        self.turns += 1
        if memory.judged[0]:
            self.judged += int(memory.judged[0])
            self.unproven += int(memory.pool.unproven[0])
        actions = [Action.from_code(code) for code in codes[:n].tolist()]
        self._planned = [(state.tobytes(), action) for state, action in zip(steps, actions, strict=False)]

    def _library(self, position: Position, real: bool) -> tuple[np.ndarray, Library]:
        """See `library_for`."""
        return library_for(position.table.array, bool(self.library), real, position.table, self.further)

    def _plan_cards(self, view: PlayerView) -> None:
        """The same on real cards."""
        position, looking = view.position, looking_of_thread()
        looking.know(position.table.array)
        library = self._library(position, True)[1]
        choose: Callable[..., None] = loaded("ilp_agent.lookahead.cards:plan_cards")
        search = searcher_of_thread().ready()
        choose(
            position.states,
            position.table.array,
            looking.cards,
            self._rows,
            take_over(view, looking.memory.hands),
            library,
            looking.facts,
            *search,
            looking.memory,
        )
        plan = looking.memory.plan[0]
        self.turns += 1
        self.judged += int(looking.memory.judged[0])
        self.unproven += int(plan["unproven"])
        actions = list(map(Action.from_code, plan["actions"][: plan["n"]].tolist()))
        self._planned = place_actions(position, actions, bool(plan["again"]))


@njit_borrowing
def plan_turn(
    states: np.ndarray,
    cards: np.ndarray,
    rows: np.ndarray,
    n_shown: int,
    library: Library,
    memory: Memory,
    codes: np.ndarray,
    steps: np.ndarray,
) -> int:
    """Choose the turn of the only state of an array of shape (1,), which is left as it is.

    Of the opponent's cards `n_shown` are in `memory.hands.shown`.
    `memory`, `codes` (the actions, the end of the turn included where it is reached) and `steps` (the
    position before each action) are modified in place.

    Returns:
        How many actions there are.
    """
    foresee(states[0], int(rows[0, HANDS]), n_shown, cards, library, memory.hands)
    n = choose_turn(states[0], cards, rows[0], NEVER, NO_STREAM, memory, codes)
    memory.hands.n_decks[0] = 0
    steps[0] = states[0]
    for step in range(n):
        steps[step + 1] = steps[step]
        apply_plain(steps[step + 1], cards, codes[step])
    if memory.again[0] or outcome(steps[n]) != Outcome.ONGOING:
        return n
    codes[n] = encode(ActionKind.END_TURN, 0, 0)
    return n + 1
