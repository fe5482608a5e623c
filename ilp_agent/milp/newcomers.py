"""Minions that come or change in the turn: Deathrattles, transformation, and guards that are silenced.

An enemy that may come is numbered behind those that are there when the turn begins. It comes where another
dies, or in place of one that is transformed.
"""

from dataclasses import dataclass

import numpy as np

from engine.codes import Keyword
from engine.vocabulary import ENEMY, HEROES, OWN, Condition, Op, Pick, Trait, Trigger
from ilp_agent.milp.casts import OutsideError

_UNCHANGED = Trait.SILENCED
"""Traits that silence leaves as they are."""

_NEVER_BETTER = Trait.SILENCED | Trait.ELUSIVE | Trait.FREEZES | Trait.DEATHRATTLE
"""Traits of own minions that their player never wants to lose."""


@dataclass(frozen=True)
class Rattle:
    """A constant Deathrattle.

    Attributes:
        tokens: cards of the minions that it summons for its owner.
        draws: cards that its owner draws.
        blow: damage to the hero of its owner's opponent.
    """

    tokens: tuple[int, ...] = ()
    draws: int = 0
    blow: int = 0


@dataclass(frozen=True)
class Newcomer:
    """An enemy minion that may come this turn.

    Attributes:
        card: its number.
        dead: the enemy whose death summons it; -1 for none.
        cast: the place among the casts of what turns another into it; -1 for none.
    """

    card: int
    dead: int = -1
    cast: int = -1


def read_rattle(title: str, card: np.void, gifts: np.ndarray | None = None) -> Rattle:
    """The Deathrattle of a minion.

    Args:
        title: its name.
        card: its card, dtype `engine.state.CARD`.
        gifts: of a minion on board, Deathrattles that were given to it.

    Raises:
        OutsideError: it is not constant, or the program has no word for it.
    """
    tokens: tuple[int, ...] = ()
    draws = blow = 0
    outside = OutsideError(title, "Deathrattle")
    if gifts is not None and gifts.any():
        raise outside
    for row in card["effects"][: card["n_effects"]]:
        if row["trigger"] != Trigger.DEATHRATTLE:
            continue
        op, pick, side, amount = row["op"], row["pick"], row["side"], int(row["amount"])
        if row["condition"] != Condition.NONE or row["amount2"] > amount:
            raise outside
        if op == Op.SUMMON and pick == Pick.NONE and side == OWN and amount >= 0:
            tokens += (amount,) * int(row["times"])
        elif op == Op.DRAW and pick == Pick.NONE and side == OWN:
            draws += amount
        elif op == Op.DAMAGE and pick == Pick.ALL and side == ENEMY and row["kind"] == HEROES:
            blow += amount
        else:
            raise outside
    return Rattle(tokens, draws, blow)


def foes_of(enemy: np.void, cards: np.ndarray, newcomers: tuple[Newcomer, ...]) -> np.ndarray:
    """All enemy minions, those that may come behind the others, as records of a board.

    Args:
        enemy: dtype `engine.state.SIDE`.
        cards: the card table.
        newcomers: those that may come.
    """
    n = int(enemy["n_board"])
    foes = np.zeros(n + len(newcomers), enemy["board"].dtype)
    foes[:n] = enemy["board"][:n]
    for foe, newcomer in zip(foes[n:], newcomers, strict=True):
        card = cards[newcomer.card]
        for field in ("attack", "health", "keywords", "traits"):
            foe[field] = card[field]
        foe["max_health"], foe["card"] = card["health"], newcomer.card
    return foes


def _as_printed(minion: np.void, card: np.void) -> bool:
    """Whether a minion has its card's attack and health, and no text that works on board."""
    rows = card["effects"][: card["n_effects"]]
    text = bool((rows["trigger"] != Trigger.PLAY).any()) and not minion["traits"] & Trait.SILENCED
    same = minion["attack"] == card["attack"] and minion["max_health"] == card["health"]
    return bool(same and not text and not minion["spell_damage"] and not minion["turn_attack"])


def silence_changes(minion: np.void, card: np.void, keywords: int = 0) -> bool:
    """Whether silence takes anything from a minion beside some keywords."""
    return bool(
        not _as_printed(minion, card) or minion["traits"] & ~_UNCHANGED or minion["keywords"] & ~keywords
    )


def silence_may_help(minion: np.void, card: np.void) -> bool:
    """Whether the player of a minion may want it silenced."""
    weaker = minion["attack"] < card["attack"] or minion["max_health"] < card["health"]
    return bool(weaker or minion["traits"] & ~_NEVER_BETTER or minion["turn_attack"])


def is_guard_alone(minion: np.void, card: np.void) -> bool:
    """Whether silence takes Taunt from a minion, and nothing else."""
    return bool(minion["keywords"] & Keyword.TAUNT) and not silence_changes(minion, card, Keyword.TAUNT)
