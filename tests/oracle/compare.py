"""One record: played here, and compared with what the other engine recorded."""

from collections.abc import Iterator
from typing import Any

from engine import ManaforgeError, Outcome, Position
from engine.codes import COIN, UNKNOWN, ActionKind, Keyword
from engine.effects.luck import Chance
from engine.errors import ChanceError
from engine.vocabulary import Trait
from tests.oracle.cards import PATCHES, Cards, SkippedError
from tests.oracle.importer import COIN_ID, KEYWORDS, import_action, import_state

MOST_OUTCOMES = 3_000
"""Outcomes of an action that are tried."""


def results(position: Position, action: Any) -> Iterator[Position]:
    """Every position that an action can lead to."""
    waiting: list[tuple[int, ...]] = [()]
    tried = 0
    while waiting:
        outcomes = waiting.pop()
        tried += 1
        if tried > MOST_OUTCOMES:
            raise SkippedError("more outcomes than are tried")
        after, chance = position.copy(), Chance.given(outcomes)
        try:
            after.play(action, chance)
        except ChanceError:
            waiting += [(*outcomes, one) for one in range(chance.waiting)]
            continue
        yield after


def facts_of_record(state: dict[str, Any]) -> dict[str, Any]:
    """What is compared of a recorded state."""
    facts: dict[str, Any] = {"active": state["active"]}
    orders = sorted(minion["order"] for player in state["players"] for minion in player["board"])
    for seat, player in enumerate(state["players"]):
        hero, weapon = player["hero"], player["weapon"]
        facts[f"hero {seat}"] = (
            hero["health"],
            hero["armor"],
            hero["frozen"],
            hero["attack"] - (weapon["attack"] if weapon and seat == state["active"] else 0),
            player["power"]["uses_this_turn"],
        )
        facts[f"mana {seat}"] = (
            player["mana"]
            if seat == state["active"]
            else None,  # what is left of a turn that is over has no use
            player["crystals"],
            player["overload_locked"] if seat == state["active"] else None,
            player["overloaded"],
            player["fatigue"],
        )
        facts[f"weapon {seat}"] = weapon and (weapon["id"], weapon["attack"], weapon["durability"])
        facts[f"hand {seat}"] = [card["id"] for card in player["hand"]]
        facts[f"deck {seat}"] = player["deck"]
        facts[f"board {seat}"] = [
            (
                orders.index(minion["order"]),
                minion["id"],
                minion["attack"],
                minion["health"],
                minion["max_health"],
                tuple(sorted(word for word in minion["keywords"] if word in KEYWORDS)),
                minion["frozen"],
                minion["silenced"],
                minion.get("spell_damage", 0),
            )
            for minion in player["board"]
        ]
    return facts


def facts_of(position: Position) -> dict[str, Any]:
    """The same of a position."""
    state, table = position.state, position.table
    facts: dict[str, Any] = {"active": position.active}
    births = sorted(int(m["born"]) for side in state["sides"] for m in side["board"][: side["n_board"]])

    def name(number: int) -> str:
        if number in (COIN, UNKNOWN):
            return COIN_ID if number == COIN else "?"
        return table.cards[number].id or table.cards[number].name

    for seat, side in enumerate(state["sides"]):
        facts[f"hero {seat}"] = (
            int(side["health"]),
            int(side["armour"]),
            bool(side["traits"] & Trait.FROZEN),
            int(side["hero_attack"]),
            int(side["power_used"]),
        )
        facts[f"mana {seat}"] = (
            int(side["mana"]) if seat == position.active else None,
            int(side["crystals"]),
            int(side["locked"]) if seat == position.active else None,
            int(side["overload"]),
            int(side["fatigue"]),
        )
        facts[f"weapon {seat}"] = None
        if side["durability"]:
            numbers = int(side["weapon_attack"]), int(side["durability"])
            facts[f"weapon {seat}"] = (name(side["weapon"]), *numbers)
        facts[f"hand {seat}"] = [name(number) for number in side["hand"][: side["n_hand"]]]
        facts[f"deck {seat}"] = [name(number) for number in side["deck"][: side["n_deck"]][::-1]]
        facts[f"board {seat}"] = [
            (
                births.index(int(minion["born"])),
                name(minion["card"]),
                int(minion["attack"]),
                int(minion["health"]),
                int(minion["max_health"]),
                tuple(sorted(keyword.name for keyword in Keyword if minion["keywords"] & keyword)),
                bool(minion["traits"] & Trait.FROZEN),
                bool(minion["traits"] & Trait.SILENCED),
                int(minion["spell_damage"]),
            )
            for minion in side["board"][: side["n_board"]]
        ]
    return facts


def legal_differences(record: dict[str, Any], position: Position, cards: Cards) -> list[str]:
    """Actions that are legal in one engine alone; plays of cards that are not covered are left out."""
    state = record["before"]
    hand = state["players"][state["active"]]["hand"]

    def counts(place: int) -> bool:
        item = hand[place]
        if item["id"] == COIN_ID:
            return True
        return not cards.reason(item["id"]) and item["cost"] == cards.card(item["id"]).spec.cost

    theirs = {
        import_action(action, state)
        for action in record["legal"]
        if action["type"] != "choose" and not (action["type"] == "play" and not counts(action["hand"]))
    }
    ours = {
        action
        for action in position.legal_actions()
        if action.kind != ActionKind.PLAY or counts(action.source)
    }
    missing = [f"legal there alone: {position.describe(action)}" for action in theirs - ours]
    return missing + [f"legal here alone: {position.describe(action)}" for action in ours - theirs]


def _skip_what_acts_unseen(state: dict[str, Any], action: dict[str, Any], cards: Cards) -> None:
    """Skip a step in which a card in a hand or deck does something by itself."""
    own = state["players"][state["active"]]
    pirate = action["type"] == "play" and cards.rows.get(action["card"], {}).get("race") == "PIRATE"
    if pirate and PATCHES in own["deck"]:
        raise SkippedError("a card that acts from the deck")
    if action["type"] == "end_turn":
        for player in state["players"]:
            if player["secrets"]:
                raise SkippedError("a secret")
            if any(
                card.get("enchantments") or card.get("custom") or cards.changes_in_hand(card["id"])
                for card in player["hand"]
            ):
                raise SkippedError("a card that acts in the hand")


def differences(record: dict[str, Any], cards: Cards) -> list[str]:
    """What differs between the recorded outcome and ours; [] where they agree.

    Raises:
        SkippedError: the record cannot be played here.
    """
    state, action = record["before"], record["action"]
    if action["type"] in ("mulligan", "choose"):
        raise SkippedError(f"a {action['type']}")
    if action["type"] == "play" and action["card"] != COIN_ID:
        if cards.reason(action["card"]):
            raise SkippedError(f"the card played: {cards.reason(action['card'])}")
        item = state["players"][state["active"]]["hand"][action["hand"]]
        card = cards.card(action["card"])
        if item["cost"] != card.spec.cost:
            raise SkippedError("a card whose cost was changed")
        if item.get("enchantments"):
            raise SkippedError("a card that was changed in hand")
    _skip_what_acts_unseen(state, action, cards)
    position = import_state(state, cards)
    ours = import_action(action, state)
    if "legal" in record:
        found = legal_differences(record, position, cards)
        if found:
            return found
    if ours not in position.legal_actions():
        return [f"not legal here: {position.describe(ours)}"]
    over = {"first": Outcome.FIRST_WINS, "second": Outcome.SECOND_WINS, "draw": Outcome.DRAW}
    wanted = facts_of_record(record["after"])
    board = f"board {state['active']}"
    sort = action["type"] == "play" and action.get("board_index") not in (
        None,
        len(state["players"][state["active"]]["board"]),
    )
    least: list[str] = []
    for after in results(position, ours):
        if record["after"]["over"]:
            if after.outcome == over[record["after"]["over"]]:
                return []
            found = [f"over: {record['after']['over']}, here {after.outcome.name}"]
        else:
            facts = facts_of(after)
            if sort:
                wanted[board], facts[board] = sorted(wanted[board]), sorted(facts[board])
            found = [f"{key}: {wanted[key]} here {facts[key]}" for key in wanted if wanted[key] != facts[key]]
        if not found:
            return []
        if not least or len(found) < len(least):
            least = found
    return least


__all__ = ["ManaforgeError", "differences"]
