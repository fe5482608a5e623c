"""Minimax with learned weights: plays the action chain that is best after the opponent's best reply.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?". The value of a position is linear in
16 features (`rivals.minimax_search`). The paper prints no weights; they are learned by temporal differences
(`rivals.minimax_learning`). Its prediction of the opponent's hand from decks on the internet is omitted,
since no such decks are shipped.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import make_dataclass
from typing import Any, ClassVar

import numpy as np

from engine import Action, Deck, PlayerView
from engine.batches import unknown_decks
from engine.cards import Card
from engine.effects.card_filters import has_effects
from engine.match import OpponentModelData
from engine.state import STATE
from engine.view import OpponentInfo
from ilp_agent import Profile, WeightVector
from ilp_agent.lookahead.deck_prediction import class_decks, table_and_library
from ilp_agent.lookahead.determinization import copy_revealed_cards
from rivals.batch import with_options
from rivals.minimax_search import (
    FEATURES,
    HANDS,
    MAX_STEPS,
    MEANINGS,
    MinimaxMemory,
    new_memory,
    plan_chain,
    play_games,
)

_Vector: Any = make_dataclass(
    "_Vector", [(name, float) for name in FEATURES], bases=(WeightVector,), frozen=True, slots=True
)


class MinimaxWeights(_Vector):  # type: ignore[misc]
    """One weight per feature of a position; weights may be negative.

    Raises:
        WeightError: a weight is not a finite number.
    """

    __slots__ = ()
    AGENT: ClassVar[str] = "minimax-td"
    SCALE: ClassVar[str] = "shares of the sum of absolute weights"
    NEGATIVE: ClassVar[frozenset[str]] = frozenset(FEATURES)
    MEANINGS: ClassVar[tuple[str, ...]] = tuple(MEANINGS.values())

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """Weights that change no decision: the bias; without card effects also armour and enemy mana."""
        real = any(card.real for card in cards)
        return frozenset({"bias"} if real else {"bias", "armour", "enemy_armour", "enemy_mana"})


_LOCAL = threading.local()


def thread_memory() -> MinimaxMemory:
    """This thread's working memory; kernels run without the GIL, so threads must not share it."""
    if not hasattr(_LOCAL, "memory"):
        _LOCAL.memory = new_memory()
    memory: MinimaxMemory = _LOCAL.memory
    return memory


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    logs: np.ndarray,
    turns: np.ndarray,
    known: OpponentModelData | None = None,
) -> None:
    """Play a batch of games; see `rivals.batch.PlayBatch`."""
    rows = with_options(weights, HANDS + 1)
    predicts = bool((rows[:, HANDS] == OpponentInfo.SEEN).any())
    dealt, table, further, _ = known or OpponentModelData(unknown_decks(len(states)))
    longer, library = table_and_library(cards, predicts, has_effects(cards), table, further)
    play_games(longer, rows, agents, states, logs, (thread_memory(), dealt, library), turns)


class MinimaxAgent:
    """Plays the action chain with the highest value after the opponent's best reply.

    Args:
        profile: the weights and the name that results show; or weights alone.
        depth: turns searched: 1, the own turn; 2, also the opponent's reply.
        chains: best chains of the own turn to search deeper, 1 to `rivals.minimax_search.MAX_CHAINS`.
        hands: model of the opponent's hand, a value of `ilp_agent.lookahead.HANDS`.
        further: decks in addition to the shipped ones, for deck prediction.

    Attributes:
        shown: cards of the opponent to reveal in addition to the view.
        library: decks for prediction with card effects; the game's table must hold their cards.
        unproven: choices so far that met the limit of positions.
    """

    def __init__(
        self,
        profile: "Profile[MinimaxWeights] | MinimaxWeights",
        depth: int = 2,
        chains: int = 3,
        hands: int = OpponentInfo.NOTHING,
        further: Sequence[Deck] = (),
    ) -> None:
        self.name = profile.name if isinstance(profile, Profile) else MinimaxWeights.AGENT
        self.weights = profile.weights if isinstance(profile, Profile) else profile
        self.unproven = 0
        self.shown = OpponentInfo(hands)
        self.further = tuple(further)
        self.library = class_decks(self.further) if self.shown == OpponentInfo.SEEN else ()
        self._row = np.array([*self.weights.full_array, depth, chains, hands])
        self._planned: list[tuple[bytes, Action]] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Next action of the planned chain; searches again if the position is not the planned one."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def _plan(self, view: PlayerView) -> None:
        """Choose an action chain; store each action with the position for which it is planned."""
        position, memory = view.position, thread_memory()
        steps = np.zeros(MAX_STEPS + 1, STATE)
        real = position.table.effects
        cards, library = table_and_library(
            position.table.array, bool(self.library), real, position.table, self.further
        )
        n_shown = copy_revealed_cards(view, memory.hands)
        plan_chain(position.states, cards, self._row, n_shown, library, memory, steps)
        found = memory.found[0]
        self.unproven += int(found["unproven"])
        n = int(found["n"])
        actions = [Action.from_code(code) for code in found["actions"][:n].tolist()]
        last = [] if found["again"] else [Action.end_turn()]
        planned = zip(steps, [*actions, *last], strict=False)
        self._planned = [(state.tobytes(), action) for state, action in planned]
