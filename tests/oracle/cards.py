"""The cards of the recorded games: their numbers, and our effect rows where the texts are the same."""

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from engine.cards import Card
from engine.cards.real import edition
from engine.codes import Keyword
from engine.effect_codes import N_POTION_EFFECTS, CardKind, Op, Race, Trigger
from engine.effects.rows import CREATING_OPS, OWN_CARD_WORD
from engine.minion import MinionSpec, keyword_flags
from tools.card_tables import normalised

KINDS = {
    "MINION": CardKind.MINION,
    "SPELL": CardKind.SPELL,
    "WEAPON": CardKind.WEAPON,
    "HERO_POWER": CardKind.POWER,
}


OF_BODIES = {keyword.name for keyword in Keyword} | {
    "BATTLECRY",
    "CHOOSE_ONE",
    "COMBO",
    "DISCOVER",
    "FREEZE",
    "JADE_GOLEM",
    "KABAL",
    "OVERLOAD",
    "OVERLOAD=1",
    "OVERLOAD=2",
    "SPELLPOWER",
    "START_OF_GAME",
}
"""Mechanics, as cards.csv names them, that a card in play may have without doing anything more."""
ALIKE = {
    "EX1_560": "Nozdormu's turns of 15 seconds, which neither engine measures",
}
"""Cards that are played as ours though they are not covered, or their texts differ, by why they may be."""
_SPENT = re.compile(
    r"((Charge|Rush|Taunt|Windfury|Divine Shield|Lifesteal|Poisonous|Stealth|Spell Damage \+\d)[,. ]*)*"
    r"(Battlecry:|Combo:|Choose One|Costs |Start of Game:|$)"
)
"""Texts of keywords, and then at most of what is over, or does not count, once the card is in play."""


@cache
def _brewed() -> tuple[str, ...]:
    """Ids of the costs of potions and of the effects that they can have."""
    return next(
        effect.cards[: len(N_POTION_EFFECTS) + sum(N_POTION_EFFECTS)]
        for card in edition().by_id.values()
        for effect in card.effects
        if effect.op == Op.CREATE_POTION
    )


class SkippedError(Exception):
    """A record that cannot be played here, with the reason."""


def texts_of(package: Path) -> dict[str, str]:
    """Normalised texts of a build of the game by card id."""
    from hearthstone import cardxml

    cards, _ = cardxml.load(str(package / "hearthstone_data" / "CardDefs.xml"))
    return {card.id: normalised(card.description or "") for card in cards.values()}


class Cards:
    """Cards of the records by id, with the numbers of their build.

    Args:
        folder: of the records, with cards.csv.
        ours: texts of the build of edition 2018-07.
        theirs: texts of the build of the records.
    """

    def __init__(self, folder: Path, ours: Mapping[str, str], theirs: Mapping[str, str]) -> None:
        with (folder / "cards.csv").open(encoding="utf-8", newline="") as lines:
            self.rows = {row["id"]: row for row in csv.DictReader(lines)}
        self.ours, self.theirs = ours, theirs
        self._known: dict[str, tuple[Card, str]] = {}

    def our_id(self, name: str) -> str:
        """The id that a card has here: hero powers of the records' build have ids of their own."""
        row = self.rows.get(name)
        if row is None or row["type"] != "HERO_POWER" or name in edition().by_id:
            return name
        like = self._by_name.get(row["name"])
        return like.id if like else name

    def name_of(self, item: Mapping[str, Any]) -> str:
        """The id that a recorded card has here; a Kazakus potion is named by its two effects."""
        if not item.get("potion"):
            return self.our_id(item["id"])
        one, other = sorted(item["potion"], key=_brewed().index)
        return f"{one}_{other}"

    def gives(self, name: str) -> bool:
        """Whether a card that is played exactly gives minions a Deathrattle or what they wait for."""
        return not self.reason(name) and any(
            effect.op == Op.GRANT_EFFECTS for effect in self.card(name).effects
        )

    def promises(self, name: str) -> bool:
        """Whether a card that is played exactly changes costs for a while."""
        return not self.reason(name) and any(
            effect.op == Op.COST and effect.trigger == Trigger.PLAY for effect in self.card(name).effects
        )

    @cached_property
    def _power_ids(self) -> dict[str, str]:
        """Ids of hero powers in the records by ours."""
        return {self.our_id(name): name for name in self.rows if self.our_id(name) != name}

    @cached_property
    def _by_name(self) -> dict[str, Card]:
        return {card.name: card for card in edition().by_id.values() if card.kind == CardKind.POWER}

    def card(self, name: str) -> Card:
        """The card of an id; one that is not covered is blank: its numbers, and no text.

        Raises:
            SkippedError: the id is of no card that has numbers.
        """
        return self._look_up(name)[0]

    def reason(self, name: str) -> str:
        """Why a card is blank; "" for one that is played exactly."""
        return self._look_up(name)[1]

    def reason_in_play(self, name: str) -> str:
        """Why a minion or weapon in play cannot be a body with keywords; "" for one that can.

        A Battlecry, Combo or Choose One that is not covered is over by then.
        """
        reason = self.reason(name)
        if not reason:
            return ""
        mechanics = set(self.rows[name]["mechanics"].split("|")) - {""}
        return "" if mechanics <= OF_BODIES and _SPENT.match(self.theirs[name]) else reason

    def changes_in_hand(self, name: str) -> bool:
        """Whether a card becomes another each turn while it is in a hand."""
        return "Each turn this is in your hand" in self.theirs.get(name, "")

    def _look_up(self, name: str) -> tuple[Card, str]:
        if name not in self._known:
            self._known[name] = self._make(name)
        return self._known[name]

    def _make(self, name: str) -> tuple[Card, str]:
        if any(name.startswith(f"{one}_") for one in _brewed()):
            return edition().by_id[name], self._reason_of_potion(name)
        name = self._power_ids.get(name, name)
        row = self.rows.get(name)
        if row is None or row["type"] not in KINDS:
            raise SkippedError("a card without numbers")
        like = edition().by_id.get(name)
        if like is None and row["type"] == "HERO_POWER":
            like = self._by_name.get(row["name"])
        reason = ""
        if like is None:
            reason = "a card of no edition"
        elif name in ALIKE:
            like = replace(like, exact=True, real=True)
        elif not like.exact and self._starts(name):
            like = replace(like, exact=True, real=True, effects=())
        elif not like.exact:
            reason = "a card that is not covered"
        elif self.theirs.get(name) != self.ours.get(like.id):
            reason = "a card whose text differs between the builds"
        kind = KINDS[row["type"]]
        has_body = kind in (CardKind.MINION, CardKind.WEAPON)
        flags = like.spec if like and not reason else None
        names: dict[str, Any] = (
            {field: getattr(flags, field) for field in keyword_flags(())} if flags else keyword_flags(())
        )
        spec = MinionSpec(
            int(row["attack"]) if has_body else 0,
            max(1, int(row["health_or_durability"])) if has_body else 1,
            max(0, int(row["cost"])),
            **names,
        )
        if reason or like is None:
            race = Race[row["race"]] if row["race"] in Race.__members__ else Race.NONE
            return Card(
                name,
                row["name"].replace(";", ",").replace("[", "(").replace("]", ")"),
                spec,
                kind=kind,
                race=race,
                real=True,
                exact=False,
            ), reason
        return replace(like, id=self.our_id(name), spec=spec), ""

    def _starts(self, name: str) -> bool:
        """Whether all that a card does is over when the game has begun."""
        return self.theirs.get(name, "").startswith("Start of Game:")

    def _reason_of_potion(self, name: str) -> str:
        halves = next((one, name.removeprefix(f"{one}_")) for one in _brewed() if name.startswith(f"{one}_"))
        known = all(self.theirs.get(half) == self.ours.get(half) for half in halves)
        if not edition().by_id[name].exact:
            return "a card that is not covered"
        return "" if known else "a card whose text differs between the builds"

    def with_created(self, cards: list[Card]) -> list[Card]:
        """Cards, then all that effects of theirs create, by the numbers of the records' build."""
        found = list(cards)
        known = {card.id for card in found}
        looked_at = 0
        while looked_at < len(found):
            for effect in found[looked_at].effects:
                if effect.op in CREATING_OPS and effect.cards != (OWN_CARD_WORD,):
                    for name in effect.cards:
                        if name not in known and name in self.rows:
                            known.add(name)
                            found.append(self.card(name))
            looked_at += 1
        return found
