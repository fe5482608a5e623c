"""HearthSim: plays the turn whose final position has the highest score, found by exhaustive search.

Source: the HearthSim posts "Intro" (the score, the search), "Tuning the AI" (aggressiveness) and "Divine
Shield Modeling" (the weight of Divine Shield). The score of a position, for the player to move:

    S = S_b + S~_b + S_c + S_h + S~_h
    S_b  =  sum over own minions (w_a a + w_h h, and w_ds (a + h) with Divine Shield)
    S~_b = -sum over enemy minions (w~_a a + w~_h h)
    S_c  =  w_m sum of the mana costs in hand
    S_h  =  w_hh times the own hero's health; minus infinity once it is dead
    S~_h = -w~_hh times the enemy hero's health; infinity once it is dead

Armour counts as health, as in HearthSim's code. All lethal turns score infinity; the first one found is
played. `ilp_agent.search` searches the turn with this score as evaluation.

With card effects, the terms of cards in hand and of weapons follow the post "Direct damage spells" and the
authors' program:

    S_c = w_m sum of the costs of all cards except damage spells + w_c for each minion with Charge
          + sum over damage spells (w_dds a + c_dds), a the printed damage
    S_w = w_w (attack times durability of the own weapon, less that of the enemy's)

The post's formula has w_dds (a + c_dds); its examples (a Holy Smite is worth 1.9 at w_dds = 0.5, and 4.9 at
2) and the authors' program have c_dds outside the weight, as here. S_w and w_c are of that program, the
class WeightedScorer of github.com/oyachai/HearthSim, in which w_w is 0.5 and w_c is 0. A drawn card counts as
the mean over the cards in the own deck. After the post "Modeling Unpredictable Outcomes", a random action
ends a sequence: its score is the mean over the outcomes, and once it is played the rest of the turn is
searched again.

The authors' public program (its class ArtificialPlayer in the first commits of July 2014) has a further term
that the posts do not print, w_n (own minions) - w~_n (enemy minions), with 0.5 for both: the profiles
`posted-standard`, `posted-balanced`, `posted-spends-spells` and `posted-keeps-spells`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from engine import Action, PlayerView
from engine.cards import Card
from ilp_agent import Profile, WeightVector
from ilp_agent.agent import pair_with_states
from ilp_agent.features import ENEMY_ATTACK, ENEMY_HEALTH, ENEMY_HERO, ENEMY_MINIONS, HIDDEN_CARDS
from ilp_agent.search.backend import thread_searcher
from ilp_agent.selfplay import SOLVER_STATISTICS, play_searched_games, search_memory
from ilp_agent.weights import N_TERMS, WEIGHT_NAMES, WeightError, Weights

BUDGET = 100_000
"""Largest number of positions searched per turn."""

AGAINST = [N_TERMS + count for count in (ENEMY_ATTACK, ENEMY_HEALTH, ENEMY_HERO, ENEMY_MINIONS)]
"""Indices of the weights that count against the player."""


@dataclass(frozen=True, slots=True)
class HearthSimWeights(WeightVector):
    """The eight weights of the score, which is scale-free, four more for card effects, and two for minions.

    In the order w_a, w_h, w~_a, w~_h, w_m, w_hh, w~_hh, w_ds, w_dds, c_dds, w_w, w_c, w_n, w~_n.
    `aggressiveness` sets w_a and w_h together, as in "Tuning the AI": the higher, the more own minions are
    worth and the fewer trades are made.

    Raises:
        WeightError: a weight is not a finite number, or negative (only that of Divine Shield may be).
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
        "each own minion",
        "each enemy minion, against",
    )
    OPTIONAL_SETS: ClassVar[tuple[int, ...]] = (4, 2)
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"aggressiveness": ("attack", "health")}
    )

    @classmethod
    def inert(cls, cards: Iterable[Card]) -> frozenset[str]:
        """Weights of Divine Shield and of the own hero's health, if no card has Divine Shield or Lifesteal.

        Without card effects only Lifesteal changes the own hero's health in the own turn.
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
    minions: float = 0.0
    enemy_minions: float = 0.0


def score_rows(weights: np.ndarray) -> np.ndarray:
    """Convert weights to the layout of the search's score function (`ilp_agent.search.objective.is_score`).

    Args:
        weights: shape (agents, 14), in the order of the fields of `HearthSimWeights`.
    """
    counted = np.insert(np.asarray(weights, np.float64), HIDDEN_CARDS, 0.0, axis=1)
    rows = np.pad(counted, ((0, 0), (N_TERMS, 0)))
    rows[:, AGAINST] *= -1.0
    return rows


WIN = 1e4
"""Weight `lethal` of `turn_weights`, times the largest other weight: no other terms outweigh a win."""


def turn_weights(weights: HearthSimWeights) -> Weights:
    """The score as weights of the turn program: at the end of a turn the objective is the score.

    A won game is worth much instead of infinitely much, and the objective follows random actions further than
    HearthSim's search does (docs/eva-2018.md compares both).

    Raises:
        WeightError: `charge`, `minions` or `enemy_minions` is not 0, which no weight counts, or
            `divine_shield` is negative.
    """
    for name in ("charge", "minions", "enemy_minions"):
        if getattr(weights, name) != 0.0:
            raise WeightError(f"{name} must be 0 for the turn program, got {getattr(weights, name):g}")
    chosen = {
        "attack": weights.attack,
        "health": weights.health,
        "threat": weights.enemy_attack,
        "enemy_health": weights.enemy_health,
        "hand_mana": weights.hand,
        "hero": weights.hero,
        "enemy_hero": weights.enemy_hero,
        "shield": weights.divine_shield,
        "spell_damage": weights.direct_damage,
        "damage_spells": weights.direct_damage_bonus,
        "weapon": weights.weapon,
        "enemy_weapon": weights.weapon,
    }
    thesis = dict.fromkeys(WEIGHT_NAMES, 0.0) | {"lethal": WIN * max(chosen.values())}
    return Weights(**(thesis | chosen))


def play_batch(
    cards: np.ndarray,
    weights: np.ndarray,
    agents: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,  # noqa: ARG001
    logs: np.ndarray,
    turns: np.ndarray,
) -> None:
    """Play a batch of games; see `rivals.batch.PlayBatch`."""
    use, memory = np.zeros(len(states), SOLVER_STATISTICS), search_memory(cards, BUDGET)
    play_searched_games(cards, score_rows(weights), agents, states, logs, memory, use)
    turns["unproven"] += use["unproven"]


class HearthSimAgent:
    """Plays the turn whose final position has the highest score.

    Args:
        profile: the weights and the name that results show; or weights alone.

    Attributes:
        unproven: turns so far in which the budget ran out, so that optimality is not proven.
    """

    def __init__(self, profile: "Profile[HearthSimWeights] | HearthSimWeights") -> None:
        self.name = profile.name if isinstance(profile, Profile) else HearthSimWeights.AGENT
        self.weights = profile.weights if isinstance(profile, Profile) else profile
        self.unproven = 0
        self._row = score_rows(self.weights.full_array[None])[0]
        self._planned: list[tuple[bytes, Action]] = []

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002
        """Next action of the planned turn; searches again if the position is not the planned one."""
        now = view.position.state.tobytes()
        if not self._planned or self._planned[0][0] != now:
            solved = thread_searcher().search(view.position, self._row, BUDGET)
            self.unproven += int(solved["unproven"])
            actions = [Action.from_code(code) for code in solved["actions"][: solved["n"]].tolist()]
            self._planned = pair_with_states(view.position, actions, bool(solved["again"]))
        return self._planned.pop(0)[1]
