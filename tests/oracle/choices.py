"""Recorded choices: cards that are offered, and what was chosen before."""

from typing import Any

import numpy as np

from engine.cards.table import CardTable
from engine.effect_codes import N_OFFERED_CARDS, Op
from engine.effects.choices import N_POTION_COSTS, potion_effects
from tests.oracle.cards import Cards, SkippedError

BRANN = "LOE_077"
TRACKING = "DS1_184"
BREWING = "KazakusAction"
ASKING = (Op.DISCOVER, Op.CHOOSE_POWER, Op.TRACK, Op.DISCOVER_FROM_DECK, Op.CREATE_POTION)


def cards_of(state: dict[str, Any]) -> list[str]:
    """Ids of the cards that the open choices of a state are about; parts of potions come with their card."""
    choices = [choice for choice in state.get("choice") or () if choice["source"]]
    offered = [name for choice in choices if choice["kind"] != BREWING for name in choice["cards"]]
    return [*offered, *(choice["source"] for choice in choices)]


def deck_of(state: dict[str, Any], seat: int, cards: Cards) -> list[str]:
    """A deck, the next card first; what Tracking offers has left it here, there it does so later."""
    deck = [cards.our_id(name) for name in state["players"][seat]["deck"]]
    for choice in state.get("choice") or ():
        if choice["source"] == TRACKING and choice["side"] == seat:
            return deck[len(choice["cards"]) :]
    return deck


def import_choice(
    record: np.void, state: dict[str, Any], cards: Cards, table: CardTable, numbers: dict[str, int]
) -> None:
    """Write the open choice of a recorded state. `record`, of dtype `STATE`, is modified in place.

    Raises:
        SkippedError: it is of a card that is not covered.
    """
    if not state.get("choice"):
        return
    choice = state["choice"][0]
    if len(state["choice"]) > 1 or choice["kind"] == "MulliganChoice":
        raise SkippedError("a mulligan")
    if choice["source"] is None or cards.reason(choice["source"]) or choice["side"] != state["active"]:
        raise SkippedError("a choice of a card that is not covered")
    board = state["players"][choice["side"]]["board"]
    if any(minion["id"] == BRANN and not minion["silenced"] for minion in board):
        raise SkippedError("a choice that may be the first of two")
    if len(choice["cards"]) > N_OFFERED_CARDS:
        raise SkippedError("a choice of more than three cards")
    number = numbers[choice["source"]]
    asking = [
        place for place, effect in enumerate(cards.card(choice["source"]).effects) if effect.op in ASKING
    ]
    if len(asking) != 1:
        raise SkippedError("a choice of a card that is not covered")
    effect = cards.card(choice["source"]).effects[asking[0]]
    first = int(table.array[number]["effects"][asking[0]]["amount"])
    if effect.op == Op.CREATE_POTION:
        numbers = {name: first + place for place, name in enumerate(effect.cards)}
    offered = [numbers[cards.our_id(name)] for name in choice["cards"]]
    record["n_options"] = len(offered)
    record["options"][: len(offered)] = offered
    record["n_choices"] = 1
    open_one = record["choices"][0]
    open_one["card"], open_one["row"] = number, asking[0]
    open_one["chosen_before"] = _memo(choice, first, numbers)


def _memo(choice: dict[str, Any], first: int, numbers: dict[str, int]) -> int:
    """What was chosen before for a potion, as the engine keeps it."""
    chosen = [numbers[name] for name in choice.get("chosen") or ()]
    if not chosen:
        return 0
    cost = chosen[0] - first
    assert 0 <= cost < N_POTION_COSTS, "the pool lists the costs first"
    begin, _ = potion_effects(first, cost)
    return 1 + cost + (4 * (1 + chosen[1] - begin) if len(chosen) > 1 else 0)
