"""The lookahead agent in Python; chooses the same actions as the kernels that play whole games."""

from collections.abc import Sequence

import numpy as np

from engine import Action, Deck, PlayerView
from engine.cards.table import CardTable
from engine.match import card_id_or_name
from engine.view import OpponentInfo
from ilp_agent.agent import pair_with_states
from ilp_agent.card_values import NO_CARD_VALUES
from ilp_agent.lookahead import DEFAULT_BUDGET, DEFAULT_DEPTH, DEFAULT_SAMPLES
from ilp_agent.lookahead.deck_prediction import class_decks, table_and_library
from ilp_agent.lookahead.determinization import copy_revealed_cards
from ilp_agent.lookahead.selfplay import lookahead_kernels
from ilp_agent.lookahead.weights import LookaheadWeights, kernel_rows
from ilp_agent.profiles import Profile


class LookaheadAgent:
    """Plays the candidate turn with the highest value after the opponent's reply.

    Args:
        profile: the weights, card values and the name that results show; or weights alone.
        budget: largest number of evaluated positions per turn, 1 to `ilp_agent.lookahead.MAX_BUDGET`; 1
            plays the turn program's plan.
        depth: evaluate at the end of the turn (1), after the opponent's reply (2) or after the next own turn
            (3).
        samples: chance samples per candidate with card effects, which share the budget; without card effects,
            sampled opponent hands per candidate.
        hands: model of the opponent's hand, a value of `ilp_agent.lookahead.HANDS`.
        further: decks in addition to the shipped ones, for deck prediction.

    Attributes:
        shown: cards of the opponent to reveal in addition to the view.
        library: decks for prediction with card effects; the game's table must hold their cards.
        turns: searches so far.
        judged: positions evaluated so far.
        unproven: turns whose candidates are incomplete because of the limit of positions.
    """

    def __init__(
        self,
        profile: Profile[LookaheadWeights] | LookaheadWeights,
        budget: int = DEFAULT_BUDGET,
        depth: int = DEFAULT_DEPTH,
        samples: int = DEFAULT_SAMPLES,
        hands: int = OpponentInfo.NOTHING,
        further: Sequence[Deck] = (),
    ) -> None:
        self.name = profile.name if isinstance(profile, Profile) else LookaheadWeights.AGENT
        self.weights = profile.weights if isinstance(profile, Profile) else profile
        self.card_values = profile.card_values if isinstance(profile, Profile) else NO_CARD_VALUES
        self.budget, self.depth, self.samples = budget, depth, samples
        self.turns = self.judged = self.unproven = 0
        self.shown = OpponentInfo(hands)
        self.further = tuple(further)
        self.library = class_decks(self.further) if self.shown == OpponentInfo.SEEN else ()
        self._rows = kernel_rows(np.array([[*self.weights.full_array, budget, depth, samples, hands]]))
        self._rows_of_table: tuple[CardTable, np.ndarray] | None = None  # the last with card values
        self._planned: list[tuple[bytes, Action]] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Next action of the planned turn; searches again if the position is not the planned one."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def _plan(self, view: PlayerView) -> None:
        """Search the turn; store each action with the position it is planned for."""
        position, table = view.position, view.position.table
        cards, library = table_and_library(
            table.array, bool(self.library), table.effects, table, self.further
        )
        kernels, memory = lookahead_kernels(cards)
        n_shown = copy_revealed_cards(view, memory.hands)
        kernels.plan(position.states, cards, self._rows_for(table), n_shown, library, memory)
        plan = memory.plan[0]
        self.turns += 1
        self.judged += int(memory.judged[0])
        self.unproven += int(plan["unproven"])
        actions = list(map(Action.from_code, plan["actions"][: plan["n"]].tolist()))
        self._planned = pair_with_states(position, actions, bool(plan["again"]))

    def _rows_for(self, table: CardTable) -> np.ndarray:
        """The agent's row for kernels, shape (1, numbers); with card values if the cards have effects."""
        if not self.card_values or not table.effects:
            return self._rows
        if self._rows_of_table is None or self._rows_of_table[0] is not table:
            values = self.card_values.by_number(list(map(card_id_or_name, table.cards)))
            self._rows_of_table = table, np.concatenate([self._rows, values[None]], axis=1)
        return self._rows_of_table[1]
