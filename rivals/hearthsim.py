"""HearthSim: plays the turn whose end scores most, found by exhaustive search.

Source: the HearthSim posts "Intro" (the score, the search), "Tuning the AI" (aggressiveness) and "Divine
Shield Modeling" (the weight of Divine Shield). The score of a position, for the player to move:

    S = S_b + S~_b + S_c + S_h + S~_h
    S_b  =  sum over own minions (w_a a + w_h h, and w_ds (a + h) with Divine Shield)
    S~_b = -sum over enemy minions (w~_a a + w~_h h)
    S_c  =  w_m sum of the mana costs in hand
    S_h  =  w_hh times the own hero's health; minus infinity once it is dead
    S~_h = -w~_hh times the enemy hero's health; infinity once it is dead

Armour counts as health, as in HearthSim's code. All lethal turns are worth the same, infinity, and the first
that is found is played. `rivals.hearthsim_search` describes how a turn is searched,
`rivals.effects.hearthsim` how with real cards.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from engine import Action, Outcome, PlayerView
from engine.cards import Card
from engine.codes import ActionKind
from engine.effects.cardsets import has_effects
from engine.jit import njit
from engine.lazy import loaded
from engine.rules import apply_plain, encode, outcome
from engine.state import STATE
from ilp_agent import Profile, WeightVector
from rivals.hearthsim_node import BUDGET, MAX_STEPS, SEARCHED, Tree, new_tree
from rivals.hearthsim_search import search_turn

if TYPE_CHECKING:
    from rivals.effects.hearthsim import CardTree


@dataclass(frozen=True, slots=True)
class HearthSimWeights(WeightVector):
    """The eight weights of the score, of which only the proportions matter, and four more for real cards.

    In the order w_a, w_h, w~_a, w~_h, w_m, w_hh, w~_hh, w_ds; then w_dds, c_dds, w_w and w_c of
    `rivals.effects.hearthsim_score`. `aggressiveness` means w_a and w_h together, as
    in "Tuning the AI": the higher it is, the more the own minions are worth, and the fewer trades are made.

    Raises:
        WeightError: a weight is NaN, infinite or no number, or another one than that of Divine Shield
            negative.
    """

    AGENT: ClassVar[str] = "hearthsim"
    NEGATIVE: ClassVar[frozenset[str]] = frozenset({"divine_shield"})
    MEANINGS: ClassVar[tuple[str, ...]] = (
        "each point of attack of an own minion",
        "each point of health of an own minion",
        "each point of attack of an enemy minion, against",
        "each point of health of an enemy minion, against",
        "each point of mana cost of a card in hand",
        "each point of the own hero's health",
        "each point of the enemy hero's health, against",
        "each point of attack and health of an own minion with Divine Shield",
        "each point of damage of a spell in hand",
        "each spell in hand that deals damage",
        "attack times durability of the own weapon, less that of the enemy's",
        "each minion with Charge in hand",
    )
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"aggressiveness": ("attack", "health")}
    )

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """The weight of Divine Shield if no card has it, and of the own hero if none has Lifesteal.

        In its own turn nothing but Lifesteal changes a hero's health, where cards do no more than that.
        """
        cards = list(cards)
        specs = [card.spec for card in cards]
        if any(card.real for card in cards):
            return frozenset()
        shield = set() if any(spec.divine_shield for spec in specs) else {"divine_shield"}
        return frozenset(shield if any(spec.lifesteal for spec in specs) else shield | {"hero"})

    attack: float
    health: float
    enemy_attack: float
    enemy_health: float
    hand: float
    hero: float
    enemy_hero: float
    divine_shield: float
    direct_damage: float = 1.0
    direct_damage_bonus: float = 0.9
    weapon: float = 0.5
    charge: float = 0.0


USE = np.dtype(
    [
        ("turns", "i8"),  # turns searched
        ("nodes", "i8"),  # nodes of all of them
        ("unproven", "i8"),  # turns whose best was not proven: the budget ran out
    ]
)
"""What searches used."""


@njit
def play_turns(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    tree: Tree,
    use: np.ndarray,
    budget: int,
) -> None:
    """Play each game on while an agent of this kind is to move.

    Args:
        cards: the card table, dtype `engine.state.CARD`.
        weights: shape (agents, weights).
        agents: shape (games, 2) integers into `weights`; -1 for another kind of agent.
        states: dtype `STATE`, shape (games,). Modified in place.
        tree: of `tree_of_thread`. Modified in place.
        use: dtype `USE`, shape (games,). Added to in place.
        budget: most nodes of a turn, 1 to `BUDGET`.
    """
    founds = np.zeros(1, SEARCHED)
    for game in range(len(states)):
        state, found = states[game], founds[0]
        while outcome(state) == Outcome.ONGOING and agents[game, state["active"]] >= 0:
            search_turn(state, cards, weights[agents[game, state["active"]]], tree, found, budget)
            use[game]["turns"] += 1
            use[game]["nodes"] += found["nodes"]
            use[game]["unproven"] += found["unproven"]
            for step in range(found["n"]):
                apply_plain(state, cards, found["actions"][step])
            if outcome(state) == Outcome.ONGOING:
                apply_plain(state, cards, encode(ActionKind.END_TURN, 0, 0))


@njit
def plan_turn(
    states: np.ndarray,
    cards: np.ndarray,
    weights: np.ndarray,
    tree: Tree,
    founds: np.ndarray,
    steps: np.ndarray,
    budget: int,
) -> None:
    """Search a turn from the only state of an array of shape (1,).

    `tree`, `founds` (dtype `SEARCHED`, shape (1,)) and `steps` (dtype `STATE`, shape (`MAX_STEPS`,)) are
    modified in place; the latter hold the position before each action, and after the last. `budget`: most
    nodes, 1 to `BUDGET`.
    """
    found = founds[0]
    search_turn(states[0], cards, weights, tree, found, budget)
    steps[0] = states[0]
    for step in range(found["n"]):
        steps[step + 1] = steps[step]
        apply_plain(steps[step + 1], cards, found["actions"][step])


_LOCAL = threading.local()


def tree_of_thread() -> Tree:
    """Memory for this thread's searches, made once."""
    if not hasattr(_LOCAL, "tree"):
        _LOCAL.tree = new_tree()
    tree: Tree = _LOCAL.tree
    return tree


def card_tree_of_thread() -> "CardTree":
    """The same for searches with real cards."""
    if not hasattr(_LOCAL, "card_tree"):
        _LOCAL.card_tree = loaded("rivals.effects.hearthsim:new_card_tree")()
    tree: CardTree = _LOCAL.card_tree
    return tree


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    chances: np.ndarray,
    turns: np.ndarray,
) -> None:
    """See `rivals.batch.PlayBatch`."""
    use = np.zeros(len(states), USE)
    if has_effects(cards):
        play: Callable[..., None] = loaded("rivals.effects.hearthsim:play_turns")
        play(cards, weights, agents, states, chances, card_tree_of_thread(), use, BUDGET)
    else:
        play_turns(cards, weights, agents, states, tree_of_thread(), use, BUDGET)
    turns["unproven"] += use["unproven"]


class HearthSimAgent:
    """Plays the turn whose end scores most.

    Args:
        profile: the weights and the name that results show; or weights alone.

    Attributes:
        use: what its searches used so far, a record of dtype `USE`.
    """

    def __init__(self, profile: "Profile[HearthSimWeights] | HearthSimWeights") -> None:
        self.name = profile.name if isinstance(profile, Profile) else HearthSimWeights.AGENT
        self.weights = profile.weights if isinstance(profile, Profile) else profile
        self.use = np.zeros(1, USE)[0]
        self._array = self.weights.everything
        self._found = np.zeros(1, SEARCHED)
        self._planned: list[tuple[bytes, Action]] = []

    @property
    def unproven(self) -> int:
        """Turns so far whose best was not proven: the budget ran out."""
        return int(self.use["unproven"])

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """The next action of the turn; searched again where the position is not the one planned for."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            self._plan(view)
        return self._planned.pop(0)[1]

    def _plan(self, view: PlayerView) -> None:
        """Search, and note each action with the position it is meant for."""
        position = view.position
        steps = np.zeros(MAX_STEPS, STATE)
        cards, again = position.table.array, 0
        if position.table.effects:
            plan: Callable[..., int] = loaded("rivals.effects.hearthsim:plan_turn")
            memory = card_tree_of_thread()
            again = plan(position.states, cards, self._array, memory, self._found, steps, BUDGET)
        else:
            plan_turn(position.states, cards, self._array, tree_of_thread(), self._found, steps, BUDGET)
        found = self._found[0]
        self.use["turns"] += 1
        self.use["nodes"] += found["nodes"]
        self.use["unproven"] += found["unproven"]
        n = int(found["n"])
        actions = [Action.from_code(code) for code in found["actions"][:n].tolist()]
        last = [] if again else [Action.end_turn()]
        planned = zip(steps, [*actions, *last], strict=False)
        self._planned = [(state.tobytes(), action) for state, action in planned]
