"""The agent that looks ahead, in Python: as it plays compiled, action by action."""

from collections.abc import Sequence

import numpy as np

from engine import Action, Deck, PlayerView
from engine.view import Shown
from ilp_agent.agent import place_actions
from ilp_agent.lookahead import DEFAULT_BUDGET, DEFAULT_DEPTH, DEFAULT_SAMPLES
from ilp_agent.lookahead.deck_prediction import class_decks, library_for
from ilp_agent.lookahead.determinization import take_over
from ilp_agent.lookahead.selfplay import looking_at
from ilp_agent.lookahead.weights import LookaheadWeights, kernel_rows
from ilp_agent.profiles import Profile


class LookaheadAgent:
    """Judges different ends of its turn by the opponent's reply, and plays the one that is worth most.

    Args:
        profile: the weights and the name that results show; or weights alone.
        budget: positions judged in a turn at most, 1 to `ilp_agent.lookahead.MOST_BUDGET`; with 1 it
            plays the turn program's plan.
        depth: 1 judges the end at once, 2 after the opponent's reply, 3 after the own turn that follows.
        samples: on real cards, how often each way to go on is tried; they share the budget. On bodies, on how
            many of the opponent's hands each end is judged.
        hands: a value of `ilp_agent.lookahead.HANDS`: what is taken of the opponent's hand.
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
        position, table = view.position, view.position.table
        cards, library = library_for(table.array, bool(self.library), table.effects, table, self.further)
        looking, memory = looking_at(cards)
        n_shown = take_over(view, memory.hands)
        looking.plan(position.states, cards, self._rows, n_shown, library, memory)
        plan = memory.plan[0]
        self.turns += 1
        self.judged += int(memory.judged[0])
        self.unproven += int(plan["unproven"])
        actions = list(map(Action.from_code, plan["actions"][: plan["n"]].tolist()))
        self._planned = place_actions(position, actions, bool(plan["again"]))
