"""Text notation of positions and actions, the game's counterpart of FEN, with an exact round trip.

A position:

    turn 5 first cap 100 | hero 28+2 mana 3/5 board [River Crocolisk 2:2/3 now 2/1 ready]
    hand [The Coin; Chillwind Yeti 4:4/5] deck [War Golem 7:7/7] | hero 30 mana 0/4 board [...] ...

- `first` or `second` is the player to move; the two halves are in seat order.
- A card is `name cost:attack/health`, then keyword letters and, if it differs from the cost, `=value`.
  The letters: C Charge, R Rush, T Taunt, W Windfury, D Divine Shield, L Lifesteal, P Poisonous, S Stealth.
- A minion on board is its card, then, if changed, `now attack/health` with its current letters, `ready`
  (`ready 2`) for its attacks left, and `arrived` on the turn it was played.
- `hero 28+2` is health and armour, `hero 2/3` health and full health (if not 30), `mana 3/5` mana left and
  crystals; a deck is in drawing order.
- `fatigue 2`, `died 3`, `burned 1` count draws from an empty deck, dead minions and burned cards.
- A hidden card is `?`, several in a row `12 ?`.

Only the two `hero` fields are required: names, costs (default 0), mana (default full), counters and empty
lists are optional. Indices in actions count from 0: `play 2`, `attack 1 -> 0`, `attack 1 -> hero`,
`end turn`; a name in brackets after an action is a comment.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from engine.actions import Action, own_target
from engine.cards import Card, CardKey
from engine.cards.real import NEWEST_EDITION, OLD_EDITION, edition, find_effect_card
from engine.cards.table import CardTable
from engine.codes import (
    BOARD_SIZE,
    COIN,
    DECK_SIZE,
    HAND_SIZE,
    HERO,
    HERO_HEALTH,
    KEYWORD_FIELDS,
    KEYWORD_LETTERS,
    MAX_MANA,
    MAX_STAT,
    UNKNOWN,
    Keyword,
)
from engine.effect_codes import (
    EFFECTS_VERSION,
    GRANTED_BY_OPPONENT,
    HIDDEN_SECRET,
    MAX_CHOICES,
    MAX_GRANTED_EFFECTS,
    MAX_GRAVEYARD,
    MAX_PENDING_COSTS,
    MAX_SECRETS,
    N_OFFERED_CARDS,
    GameFeature,
    HeroClassCode,
    Race,
    Trait,
)
from engine.effects.auras import refresh_auras
from engine.effects.ops_character import traits_of_triggers
from engine.errors import CardError, ManaforgeError, NotationError, unknown_name
from engine.formatting import (
    COUNTERS,
    HAND_MODIFIER_FIELDS,
    HERO_NUMBERS,
    format_card,
    format_state,
    trait_words,
)
from engine.minion import MinionSpec
from engine.position import Position, empty_state, set_order_of_play

NUMBER = r"\d{1,4}"
LETTERS = f"[{KEYWORD_LETTERS}]*"
STATS = rf"(?P<attack>{NUMBER})/(?P<health>{NUMBER})(?P<letters>{LETTERS})"
_CARD = re.compile(rf"(?:(?P<name>\S.*?)\s+)?(?:(?P<cost>{NUMBER}):)?{STATS}(?:=(?P<value>[\d.eE+-]+))?$")
_NUMBERS_FOR_NAME = re.compile(rf"(?:{NUMBER}:)?{NUMBER}/{NUMBER}|{NUMBER}$")
_REAL = re.compile(
    rf"(?P<name>\S.*?)(?:\s+(?P<cost>{NUMBER})(?::(?P<attack>{NUMBER})/(?P<health>{NUMBER}))?(?P<letters>{LETTERS})"
    rf"(?:=(?P<value>[\d.eE+-]+))?)?\*(?P<id>\w*)$"
)


class CardParser:
    """Parser of card texts: maps texts to card numbers of a given card table, or of a new, growing one.

    Attributes:
        game_features: bits of `GameFeature` that the parsed text needs, besides those of its cards.
    """

    def __init__(self, table: CardTable | None) -> None:
        self._given = table
        self._cards: list[Card] = list(table.cards) if table else []
        self.game_features = 0
        self._by_key: dict[CardKey, int] = {}
        for number, card in enumerate(self._cards):
            self._by_key.setdefault(card.key, number)

    def table(self) -> CardTable:
        """The given card table, or a new one of the parsed cards."""
        if self._given and (self._given.effects or not self.game_features & GameFeature.EFFECTS):
            return self._given
        return _table_of(tuple(self._cards), self.game_features)

    def add_id(self, card_id: str) -> None:
        """Add a real card by id that is not in a hand or on a board, such as the source of an effect."""
        if not any(card.real and card.id == card_id for card in self._cards):
            try:
                self._number(find_effect_card(card_id, edition(OLD_EDITION).find(card_id).spec), card_id)
            except ManaforgeError as error:
                raise NotationError(f"source of a gift: {error}") from None

    def card(self, number: int) -> Card:
        """The card with a number."""
        return self._cards[number]

    def parse(self, text: str) -> int:
        """Parse a card and return its number.

        Raises:
            NotationError: the text is not a card, or the card is not in the given table.
        """
        if text.endswith("*") or _REAL.match(text):
            return self._number(self._real(text), text)
        match = _CARD.match(text)
        if not match:
            raise NotationError(
                f"not a card: {text!r}; a card needs its numbers, for example "
                '"Sen\'jin Shieldmasta 4:3/5T" (cost:attack/health, keyword letters); a minion may then have '
                '"now 2/1", "ready" and "arrived" (docs/game.md#notation)'
            )
        if match["name"] and _NUMBERS_FOR_NAME.match(match["name"]):
            raise NotationError(f"{text!r} seems to be several cards; separate cards by '; '")
        try:
            value = float(match["value"]) if match["value"] else None
            letters = zip(KEYWORD_FIELDS, KEYWORD_LETTERS, strict=True)
            flags = {name: letter in match["letters"] for name, letter in letters}
            spec = MinionSpec(
                int(match["attack"]), int(match["health"]), int(match["cost"] or 0), value, **flags
            )
        except (CardError, ValueError) as error:
            raise NotationError(f"card {text!r}: {error}") from None
        return self._number(Card(id="", name=match["name"] or "", spec=spec), text)

    def _real(self, text: str) -> Card:
        """Parse a real card (with a star), with the given numbers or, without any, the printed ones."""
        match = _REAL.match(text)
        if not match:
            raise NotationError(f"not a card: {text!r}; write for example 'Fireball*' or 'Fireball 4*'")
        try:
            named = edition(OLD_EDITION).find(match["name"])
            if match["cost"] is None:
                return edition(NEWEST_EDITION).find(match["id"]) if match["id"] else named
            letters = zip(KEYWORD_FIELDS, KEYWORD_LETTERS, strict=True)
            spec = MinionSpec(
                int(match["attack"] or 0),
                int(match["health"] or 1),
                int(match["cost"]),
                float(match["value"]) if match["value"] else None,
                **{name: letter in match["letters"] for name, letter in letters},
            )
            return find_effect_card(match["id"] or match["name"], spec)
        except (ManaforgeError, ValueError) as error:
            raise NotationError(f"card {text!r}: {error}") from None

    def _number(self, card: Card, text: str) -> int:
        if card.key not in self._by_key:
            if self._given:
                raise NotationError(f"card {text!r} is not in this game's card table")
            self._by_key[card.key] = len(self._cards)
            self._cards.append(card)
        return self._by_key[card.key]


@lru_cache(maxsize=16)
def _table_of(cards: tuple[Card, ...], game_features: int) -> CardTable:
    """Card table of parsed cards, cached because successive positions often have the same cards."""
    return CardTable(cards, game_features)


def split_list(text: str) -> list[str]:
    """Split a list at its semicolons."""
    return [item.strip() for item in text.split(";")] if text.strip() else []


def match_field(pattern: re.Pattern[str], name: str, text: str, example: str) -> re.Match[str]:
    """Match a text against a pattern, or raise an error with an example.

    Raises:
        NotationError: no match; the message names the field and an example.
    """
    match = pattern.match(text)
    if not match:
        raise NotationError(f"cannot read {name} {text!r}; write for example '{name} {example}'")
    return match


def parse_bounded(name: str, number: str | int, low: int, high: int) -> int:
    """Parse an integer from `low` to `high`.

    Raises:
        NotationError: the text is not an integer, or out of range.
    """
    if isinstance(number, str) and not re.fullmatch(r"-?\d{1,6}", number):
        raise NotationError(f"{name} must be a whole number, got {number!r}")
    if not low <= int(number) <= high:
        raise NotationError(f"{name} must be from {low} to {high}, got {number}")
    return int(number)


MINION_PATTERN = re.compile(
    rf"(?P<card>.*?)(?: now (?P<now>{NUMBER}/{NUMBER}{LETTERS}))?"
    rf"(?P<changes>(?: (?:(?:max|spell|race|born) {NUMBER}|until -?{NUMBER}|(?:gift|theirs) \w+|aura \S+"
    r"|is [a-z,-]+))*)"
    r"(?: ready(?: (?P<ready>\d))?)?(?P<arrived> arrived)?$"
)
CHANGE_PATTERN = re.compile(r" (max|until|spell|race|born|gift|theirs|aura|is) (\S+)")
_AURA = re.compile(rf"(?P<attack>-?{NUMBER})/(?P<health>-?{NUMBER})(?P<letters>[A-Z]*)$")


def parse_minion(minion: np.void, text: str, numbers: CardParser) -> None:
    """Parse a minion on the board into the record `minion`."""
    match = MINION_PATTERN.match(text)
    assert match, "every text matches"
    number = numbers.parse(match["card"])
    minion["card"] = number
    for change, value in CHANGE_PATTERN.findall(match["changes"]):
        if change in ("gift", "theirs"):
            numbers.add_id(value)
    stats = re.match(STATS, match["now"]) if match["now"] else None
    if stats:
        minion["attack"] = parse_bounded("attack", stats["attack"], 0, MAX_STAT)
        minion["health"] = parse_bounded("health", stats["health"], 1, MAX_STAT)
        minion["keywords"] = keywords_of(stats["letters"])
    else:
        spec = numbers.card(number).spec
        minion["attack"], minion["health"], minion["keywords"] = spec.attack, spec.health, spec.keywords
    minion["arrived"] = match["arrived"] is not None
    ready = " ready" in text[len(match["card"]) :]
    most = 2 if minion["keywords"] & Keyword.WINDFURY else 1
    minion["attacks_left"] = parse_bounded("ready", match["ready"] or "1", 1, most) if ready else 0


def parse_changes(minion: np.void, text: str, table: CardTable, order: int) -> None:
    """Parse a minion's traits, enchantments and auras (games with effects) into the record `minion`."""
    match = MINION_PATTERN.match(text)
    assert match, "every text matches"
    row = table.array[minion["card"]]
    minion["max_health"], minion["traits"], minion["race"] = row["health"], row["traits"], row["race"]
    minion["spell_damage"], minion["entity_id"] = row["spell_damage"], order
    gifts = 0
    for name, value in CHANGE_PATTERN.findall(match["changes"]):
        if name == "is":
            traits = traits_of(value)
            printed = 0 if traits & Trait.SILENCED else row["traits"]  # only silence removes printed traits
            minion["traits"] = traits | printed
        elif name in ("gift", "theirs"):
            if gifts == MAX_GRANTED_EFFECTS:
                raise NotationError(
                    f"a minion holds at most {MAX_GRANTED_EFFECTS} gifts, got more in {text!r}"
                )
            minion["granted_effects"][gifts] = (
                1 + card_number_of(value, table) + (GRANTED_BY_OPPONENT if name == "theirs" else 0)
            )
            gifts += 1
        elif name == "aura":
            given = match_field(_AURA, "aura", value, "2/1")
            minion["aura_attack"], minion["aura_health"] = int(given["attack"]), int(given["health"])
            minion["aura_keywords"] = keywords_of(given["letters"])
        else:
            field, most = _CHANGES[name]
            minion[field] = parse_bounded(name, value, -MAX_STAT, most)
    for gift in minion["granted_effects"]:
        given = (gift & ~GRANTED_BY_OPPONENT) - 1
        minion["traits"] |= traits_of_triggers(int(table.array[given]["trigger_bits"])) if gift else 0
    minion["max_health"] = max(minion["max_health"], minion["health"])


_CHANGES = {
    "max": ("max_health", MAX_STAT),
    "until": ("turn_attack", MAX_STAT),
    "spell": ("spell_damage", MAX_STAT),
    "race": ("race", max(Race)),
    "born": ("entity_id", np.iinfo(np.int16).max),
}
"""Record field and largest value of a minion's numbers in the notation."""


def traits_of(text: str) -> int:
    """Parse trait words into bits."""
    words = [word for word in text.split(",") if word and word != "plain"]
    known = {trait_words(trait)[0]: int(trait) for trait in Trait if trait != Trait.ACTS}
    for word in words:
        if word not in known:
            raise unknown_name("trait", word, known)
    return sum({known[word] for word in words})


def keywords_of(letters: str) -> int:
    """Parse keyword letters into bits."""
    return sum(keyword for keyword in Keyword if keyword.letter in letters)


def card_number_of(name: str, table: CardTable) -> int:
    """The card number of a real card's id."""
    for number, card in enumerate(table.cards):
        if card.real and card.id == name:
            return number
    raise NotationError(f"no card of this game has the id {name!r}")


__all__ = [
    "MAX_COUNT",
    "format_action",
    "format_card",
    "format_position",
    "parse_action",
    "parse_position",
]

MAX_HAND_MODIFIER = np.iinfo(np.int8).max
"""Largest change of a hand card's cost, attack or health."""

MAX_COUNT = 9_999
"""Largest counter in the notation; a dead hero's health may be as low as its negative."""

HERO_FIELDS = (*HERO_NUMBERS, "is", "power", "weapon", "secrets", "promises", "graves")
"""Fields of a half that only games with effects have."""

_HIDDEN = re.compile(rf"(?:({NUMBER}) )?\?$")
_TURN = re.compile(
    rf"turn (?P<turn>{NUMBER})(?: (?P<active>first|second))?(?: cap (?P<cap>{NUMBER}))?"
    rf"(?P<nodraw> no first draw)?(?P<effects> effects (?P<version>{NUMBER}))?"
    rf"(?: births (?P<count>{NUMBER}))?"
    r"(?: choices \[(?P<choices>[^\]]*)\] options \[(?P<options>[^\]]*)\])?$"
)
_HEROES_CARD = re.compile(
    rf"(?P<card>.*?)(?P<used> used)?(?: now (?P<attack>{NUMBER})/(?P<durability>{NUMBER}))?$"
)
_HELD_CARD = re.compile(rf"(?P<card>.*?) held (?P<modifier>-?{NUMBER}/-?{NUMBER}/-?{NUMBER})$")
_FIELD = re.compile(r"(?P<key>[a-z]+) (?:\[(?P<list>[^\]]*)\]|(?P<word>[^\s\[]+))(?:\s+|$)")
_HERO = re.compile(rf"(?P<health>-?{NUMBER})(?:/(?P<max>{NUMBER}))?(?:\+(?P<armour>{NUMBER}))?$")
_MANA = re.compile(rf"(?P<mana>{NUMBER})(?:/(?P<crystals>{NUMBER}))?$")
_ACTION = re.compile(
    rf"(?:end turn|(?P<power>power)|choose (?P<choose>{NUMBER})|attack (?P<attacker>{NUMBER}|hero)"
    rf"|play (?P<play>{NUMBER})(?: as (?P<option>[12]))?(?: at (?P<at>[0-6]))?)"
    rf"(?: ?-> ?(?P<own>own )?(?P<target>{NUMBER}|hero))?(?: \(.*\))?$"
)

_STEP = re.compile(rf"(?P<action>.*?)(?: \{{(?P<outcomes>{NUMBER}(?: {NUMBER})*)\}})?$", re.S)


def format_position(position: Position) -> str:
    """Notation of a position, on one line."""
    return format_state(position.state, position.table)


def format_action(action: Action, position: Position | None = None) -> str:
    """Notation of an action; with a position, followed by card names in brackets."""
    return position.describe(action) if position else str(action)


def parse_action(text: str) -> Action:
    """Parse an action.

    Raises:
        NotationError: the text is not an action.
    """
    match = _ACTION.match(text.strip())
    target = None
    if match and match["target"]:
        target = HERO if match["target"] == "hero" else int(match["target"])
    if match and match["attacker"] and target is not None and not match["own"]:
        return Action.attack(HERO if match["attacker"] == "hero" else int(match["attacker"]), target)
    if match and match["own"] and target is not None:
        target = own_target(target)
    if match and match["play"]:
        return Action.play(int(match["play"]), target, int(match["option"] or 0), int(match["at"] or -1))
    if match and match["choose"] and target is None:
        return Action.choose(int(match["choose"]))
    if match and match["power"]:
        return Action.power(target)
    if match and target is None and not match["attacker"]:
        return Action.end_turn()
    raise NotationError(
        f"not an action: {text!r}; write 'play 2', 'play 2 -> own 0', 'power -> hero', 'attack 1 -> 0', "
        "'attack hero -> hero' or 'end turn'"
    )


def format_step(action: Action, outcomes: Sequence[int]) -> str:
    """Notation of an action with the outcomes of its chance events: "play 3 {1 0}"."""
    return f"{action} {{{' '.join(map(str, outcomes))}}}" if outcomes else str(action)


def parse_step(text: str) -> tuple[Action, tuple[int, ...]]:
    """Parse an action with the outcomes of its chance events.

    Raises:
        NotationError: the text is not an action.
    """
    match = _STEP.match(text.strip())
    assert match, "every text matches"
    return parse_action(match["action"]), tuple(map(int, (match["outcomes"] or "").split()))


def parse_position(text: str, table: CardTable | None = None) -> Position:
    """Parse a position.

    Args:
        text: as `format_position` writes it, or shorter (see the module's docstring).
        table: the card table to use; by default a new one, in the order of the cards in the text.

    Raises:
        NotationError: the text violates the notation or a limit of the game; the message quotes the place.
    """
    parts = [" ".join(part.split()) for part in text.split("|")]
    head = parts.pop(0) if parts[0].startswith("turn") else "turn 1"
    if len(parts) != 2:
        raise NotationError(
            f"a position is 'turn N first | hero ... | hero ...', and {text!r} has "
            f"{len(parts)} part{'s' if len(parts) != 1 else ''} besides the turn"
        )
    match = _TURN.match(head)
    if not match:
        raise NotationError(f"not a turn: {head!r}; write for example 'turn 5 first cap 100'")
    numbers = CardParser(table)
    state = empty_state()
    state["turn"] = parse_bounded("turn", match["turn"], 1, MAX_STAT)
    state["active"] = match["active"] == "second"
    state["turn_cap"] = parse_bounded("cap", match["cap"] or "100", 1, MAX_STAT - 1)
    state["first_draw"] = match["nodraw"] is None
    if match["effects"]:
        if int(match["version"]) != EFFECTS_VERSION:
            raise NotationError(
                f"the position was written with effects version {match['version']}, and this program has "
                f"version {EFFECTS_VERSION}; read it with the manaforge that wrote it"
            )
        numbers.game_features |= GameFeature.EFFECTS
    for seat, part in enumerate(parts):
        # The first player has had a turn in this round, the second only if it is the one to move.
        turns = int(state["turn"]) - (seat == 1 and state["active"] == 0)
        _parse_side(state["sides"][seat], part, min(turns, MAX_MANA), numbers)
    options = _parse_cards(match["options"] or "", numbers)
    for choice in split_list(match["choices"] or ""):
        numbers.add_id(choice.split(" ")[0])
    position = Position(state, numbers.table())
    if position.table.effects:
        _finish_effects(position, [_split_fields(part) for part in parts], match["count"])
    else:
        set_order_of_play(state, position.table)
    _parse_choices(position, split_list(match["choices"] or ""), options)
    if table is None and len(position.table.number) < len(position.table.cards):
        # A parsed card is also in an effect's pool: in a game it has its number there, the last one.
        return parse_position(text, position.table)
    return position


def _split_fields(text: str) -> dict[str, str]:
    """Split the notation of one player's half into its fields, by name."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _FIELD.match(text, at)
        if not match:
            raise NotationError(
                f"cannot read {text[at:]!r}; a half is 'hero 30 mana 3/5 board [...] hand [...] deck [...]'"
            )
        if match["key"] in fields:
            raise NotationError(f"{match['key']!r} appears twice in {text!r}")
        fields[match["key"]] = match["word"] if match["list"] is None else match["list"]
        at = match.end()
    return fields


def _parse_side(side: np.void, text: str, crystals: int, numbers: CardParser) -> None:
    """Parse one half into the record `side`."""
    fields = _split_fields(text)
    unknown = fields.keys() - {"hero", "mana", "board", "hand", "deck", *COUNTERS, *HERO_FIELDS}
    if unknown or "hero" not in fields:
        problem = f"unknown field {min(unknown)!r}" if unknown else "no 'hero' field"
        raise NotationError(
            f"{problem} in {text!r}; a half is 'hero 30 mana 3/5 board [...] hand [...] deck [...]'"
        )
    hero = match_field(_HERO, "hero", fields["hero"], "28+2")
    side["max_health"] = parse_bounded("hero's full health", hero["max"] or str(HERO_HEALTH), 1, HERO_HEALTH)
    side["health"] = parse_bounded("hero", hero["health"], -MAX_COUNT, int(side["max_health"]))
    side["armour"] = parse_bounded("armour", hero["armour"] or "0", 0, MAX_STAT)
    mana = match_field(_MANA, "mana", fields.get("mana", str(crystals)), "3/5")
    side["mana"] = parse_bounded("mana", mana["mana"], 0, MAX_MANA)
    side["crystals"] = parse_bounded("mana crystals", mana["crystals"] or mana["mana"], 0, MAX_MANA)
    for name in COUNTERS:
        side[name] = parse_bounded(name, fields.get(name, "0"), 0, MAX_COUNT)
    minions = split_list(fields.get("board", ""))
    side["n_board"] = parse_bounded("minions on board", len(minions), 0, BOARD_SIZE)
    for minion, item in zip(side["board"], minions, strict=False):
        parse_minion(minion, item, numbers)
    for name in ("power", "weapon"):
        if fields.get(name):
            _parse_heroes_card(side, name, fields[name], numbers)
    _parse_secrets(side, fields.get("secrets", ""), numbers)
    for name in ("promises", "graves"):
        for item in split_list(fields.get(name, "")):
            numbers.add_id(item)
    for name, limit in (("hand", HAND_SIZE), ("deck", DECK_SIZE)):
        cards = _parse_cards(fields.get(name, ""), numbers)
        side[f"n_{name}"] = parse_bounded(f"cards in {name}", len(cards), 0, limit)
        side[name][: len(cards)] = cards if name == "hand" else cards[::-1]


def _finish_effects(position: Position, halves: list[dict[str, str]], count: str | None) -> None:
    """Parse the fields of games with effects, which need the card table. Modified in place."""
    state, table = position.state, position.table
    order = 0
    for side, fields in zip(state["sides"], halves, strict=True):
        for name, field in HERO_NUMBERS.items():
            if name in fields:
                least = -1 if name == "attacks" else -MAX_STAT if name == "aura" else 0
                side[field] = parse_bounded(name, fields[name], least, MAX_STAT)
        side["traits"] = traits_of(fields.get("is", "").replace("; ", ","))
        minions = split_list(fields.get("board", ""))
        for minion, item in zip(side["board"], minions, strict=False):
            order += 1
            parse_changes(minion, item, table, order)
        _parse_lists(side, fields, table)
        place = 0
        for item in split_list(fields.get("hand", "")):
            _parse_hand_modifier(side, place, item)
            hidden = _HIDDEN.match(item)
            place += int(hidden[1] or 1) if hidden else 1
    sides = state["sides"]
    newest = max(int(sides["secret_entity_ids"].max()), int(sides["board"]["entity_id"].max()))
    last = count or str(max(order, newest))
    state["last_entity_id"] = parse_bounded("births", last, newest, np.iinfo(np.int16).max)
    refresh_auras(position.states, table.array)


_CHOICE = re.compile(rf"(?P<id>\w+) (?P<row>{NUMBER}) (?P<memo>{NUMBER})$")


def _parse_choices(position: Position, choices: list[str], options: list[int]) -> None:
    """Parse the active player's pending choices. `position` is modified in place."""
    state = position.state
    state["n_choices"] = parse_bounded("choices", len(choices), 0, MAX_CHOICES)
    for record, text in zip(state["choices"], choices, strict=False):
        match = match_field(_CHOICE, "choices", text, "LOE_006 0 0")
        record["card"] = card_number_of(match["id"], position.table)
        row = position.table.array[record["card"]]
        record["row"] = parse_bounded("row", match["row"], 0, max(int(row["n_effects"]) - 1, 0))
        record["chosen_before"] = parse_bounded("memo", match["memo"], 0, MAX_COUNT)
    state["n_options"] = parse_bounded("options", len(options), 0, N_OFFERED_CARDS)
    state["options"][: len(options)] = options


def _parse_lists(side: np.void, fields: dict[str, str], table: CardTable) -> None:
    """Parse pending cost changes (`promises`) and dead minions (`graves`) of a half into `side`."""
    lists = (("promises", "pending_costs", MAX_PENDING_COSTS), ("graves", "graveyard", MAX_GRAVEYARD))
    for name, field, limit in lists:
        found = [card_number_of(item, table) for item in split_list(fields.get(name, ""))]
        parse_bounded(name, len(found), 0, limit)
        offset = 1 if name == "promises" else 0
        side[field][: len(found)] = [number + offset for number in found]
        if name == "graves":
            side["n_graveyard"] = len(found)


_SECRET = re.compile(rf"(?P<card>.*?)(?: born (?P<number>{NUMBER}))?$")
_UNSEEN = re.compile(r"\? (?P<class>[a-z]+)$")


def _parse_secrets(side: np.void, text: str, numbers: CardParser) -> None:
    """Parse Secrets in play. `side` is modified in place."""
    items = split_list(text)
    side["n_secrets"] = parse_bounded("secrets", len(items), 0, MAX_SECRETS)
    for place, item in enumerate(items):
        match = _SECRET.match(item)
        assert match, "every text matches"
        unseen = _UNSEEN.match(match["card"])
        if unseen:
            known = {name.name.lower(): int(name) for name in HeroClassCode}
            if unseen["class"] not in known:
                raise unknown_name("class", unseen["class"], known)
            side["secrets"][place] = HIDDEN_SECRET - known[unseen["class"]]
        else:
            side["secrets"][place] = numbers.parse(match["card"])
        side["secret_entity_ids"][place] = parse_bounded(
            "born", match["number"] or "0", 0, np.iinfo(np.int16).max
        )
    numbers_used = side["secret_entity_ids"][: len(items)]
    if len(set(numbers_used)) < len(numbers_used):
        raise NotationError(
            f"Secrets of one player need distinct numbers: add 'born 1', 'born 2' in [{text}]"
        )


def _parse_hand_modifier(side: np.void, place: int, text: str) -> None:
    """Parse the modifier of a card in hand; `side` is modified in place."""
    match = _HELD_CARD.match(text)
    if match:
        for name, value in zip(HAND_MODIFIER_FIELDS, match["modifier"].split("/"), strict=True):
            side["hand_modifiers"][place][name] = parse_bounded(
                name, value, -MAX_HAND_MODIFIER, MAX_HAND_MODIFIER
            )


def _parse_heroes_card(side: np.void, name: str, text: str, numbers: CardParser) -> None:
    """Parse a hero power or a weapon into the record `side`."""
    match = _HEROES_CARD.match(text)
    assert match, "every text matches"
    number = numbers.parse(match["card"])
    if name == "power":
        side["power"], side["power_used"] = number + 1, match["used"] is not None
        return
    spec = numbers.card(number).spec
    side["weapon"] = number
    side["weapon_attack"] = parse_bounded("attack", match["attack"] or spec.attack, 0, MAX_STAT)
    side["durability"] = parse_bounded("durability", match["durability"] or spec.health, 1, MAX_STAT)


def _parse_cards(text: str, numbers: CardParser) -> list[int]:
    found: list[int] = []
    for item in split_list(text):
        modified = _HELD_CARD.match(item)
        card = modified["card"] if modified else item
        numbers.game_features |= GameFeature.HAND_MODIFIERS if modified else 0
        hidden = _HIDDEN.match(card)
        if hidden:
            found += [UNKNOWN] * min(int(hidden[1] or 1), DECK_SIZE + 1)
        else:
            found.append(COIN if card == "The Coin" else numbers.parse(card))
    return found
