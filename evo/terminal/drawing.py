"""Draw positions, decks and cards for the terminal with rich."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple

from rich.columns import Columns
from rich.console import Console, ConsoleRenderable, Group
from rich.panel import Panel
from rich.text import Text

from engine.cards import Card
from engine.cards.lookup import EXACT, CardFacts, Coverage, Share
from engine.codes import HERO_HEALTH, ActionKind, Outcome
from engine.decks import Deck, coverage_sentence
from engine.effect_codes import Trait
from engine.minion import keyword_names
from engine.position import Position
from engine.view import MinionView, PlayerView, SideView
from evo.terminal.console import Column, FittingTable, SafeConsole, table_width

_RESULT_TITLES = {
    Outcome.FIRST_WINS: "the first player has won",
    Outcome.SECOND_WINS: "the second player has won",
    Outcome.DRAW: "a draw",
}


TRAIT_WORDS = {
    Trait.FROZEN: "frozen",
    Trait.SILENCED: "silenced",
    Trait.IMMUNE: "immune",
    Trait.CANT_ATTACK: "cannot attack",
    Trait.SPARES_HEROES: "spares heroes",
    Trait.SPARES_HEROES_NOW: "spares heroes now",
    Trait.ELUSIVE: "elusive",
    Trait.FREEZES: "freezes",
    Trait.HIDDEN: "hidden until next turn",
    Trait.DOOMED: "doomed",
    Trait.DEATHRATTLE: "Deathrattle",
}
"""Words for traits in drawings."""


class MinionDetails(NamedTuple):
    """Properties of a minion in a game with card effects, besides numbers and keywords.

    Attributes:
        full_health: full health of a wounded minion; 0 if it is not wounded.
        words: traits, spell damage and gained effects, a line each.
        can_attack: whether no trait prevents it from attacking.
    """

    full_health: int = 0
    words: tuple[str, ...] = ()
    can_attack: bool = True


DECKS_COLUMNS = (
    Column("deck"),
    Column("class"),
    Column("mean cost", 3, right=True),
    Column("exact", 1, right=True),
    Column("description", 2, folds=True),
)

DECK_COLUMNS = (
    Column("count", 1, right=True),
    Column("cost", 2, right=True),
    Column("name"),
    Column("body", 3),
    Column("keywords", 4),
    Column("id", 6),
    Column("played", 1, folds=True),
)


def draw_position(position: Position) -> ConsoleRenderable:
    """Draw a position: both halves with hands and boards, the player to move below."""
    seat = position.active
    title = f"Turn {position.state['turn']}, the {'second' if seat else 'first'} player to move"
    title = _RESULT_TITLES.get(position.outcome, title)
    parts = [_draw_side(position, 1 - seat, False), _draw_side(position, seat, True)]
    offered = [
        card if isinstance(card, str) else " ".join(filter(None, (card.title, card.body)))
        for card in PlayerView(position, seat).offered
    ]
    if offered:
        choices = "; ".join(f"[{place}] {name}" for place, name in enumerate(offered))
        parts.append(Text(f"to choose from: {choices}", style="green"))
    inexact = ", ".join(_uncovered_cards(position))
    if inexact:
        note = f"not covered, played without parts of their text: {inexact} (docs/effects.md)"
        parts.append(Text(note, style="yellow"))
    return Group(Text(title, style="bold"), *parts)


def _uncovered_cards(position: Position) -> list[str]:
    """Names of the real cards in hands and in play whose text is not fully implemented."""
    numbers: list[int] = []
    for side in position.state["sides"]:
        numbers += side["hand"][: side["n_hand"]].tolist() + side["secrets"][: side["n_secrets"]].tolist()
        numbers += side["board"]["card"][: side["n_board"]].tolist()
        numbers += [int(side["weapon"])] if side["durability"] else []
    cards = [position.table.cards[number] for number in dict.fromkeys(numbers) if number >= 0]
    return list(dict.fromkeys(card.title for card in cards if card.real and not card.exact))


def _draw_side(position: Position, seat: int, to_move: bool) -> ConsoleRenderable:
    # The true position, not one player's knowledge: both hands are shown where the text gave them.
    side = SideView(position, seat)
    player = f"{'Second' if seat else 'First'} player"
    armour = f" + {side.armour} armour" if side.armour else ""
    full = f" of {side.max_health}" if side.max_health != HERO_HEALTH else ""
    counts = f"mana {side.mana}/{side.crystals}, deck {side.deck_size}"
    counts += f", fatigue {side.fatigue}" if side.fatigue else ""
    effects = position.table.effects
    if effects:
        title = f"{player}{_class_of(position, seat)}: {side.health}{full} health{armour}"
    else:
        title = f"{player}: {side.health}{full} health{armour}, {counts}"
    minions = [
        _draw_minion(place, minion, to_move, _changes(position, seat, place) if effects else MinionDetails())
        for place, minion in enumerate(side.board)
    ]
    board: ConsoleRenderable = Columns(minions) if minions else Text("empty board", style="dim")
    hand = Text("hand: ")
    names = [_hand_card(card, cost) for card, cost in zip(side.hand, side.costs, strict=True)]
    if names and set(names) == {"?"}:
        hand.append(f"{len(names)} hidden cards")
    else:
        hand.append("; ".join(f"[{place}] {name}" for place, name in enumerate(names)) or "empty")
    hero = [Text(counts), *_draw_hero(position, seat, to_move)] if effects else []
    parts = [board, *hero, hand] if to_move else [hand, *hero, board]
    return Panel(Group(*parts), title=title, title_align="left", border_style="green" if to_move else "red")


def _hand_card(card: str | Card, cost: int | None) -> str:
    """Text of a card in hand with the current cost, and the printed cost if different."""
    if isinstance(card, str):
        return card
    printed = "" if cost == card.spec.cost else f", printed {card.spec.cost}"
    return " ".join(filter(None, (f"{card.title} ({cost}{printed})", card.body)))


def _draw_minion(place: int, minion: MinionView, to_move: bool, changes: MinionDetails) -> ConsoleRenderable:
    lines = Text(f"[{place}] {minion.card.title}\n", style="bold")
    lines.append(f"{minion.attack}/{minion.health}", style="yellow")
    lines.append(f"\nwounded, of {changes.full_health}" if changes.full_health else "", style="red")
    lines.append("".join(f"\n{name}" for name in keyword_names(minion.keywords)), style="cyan")
    lines.append("".join(f"\n{words}" for words in changes.words), style="blue")
    if to_move and minion.attacks_left and minion.attack and changes.can_attack:
        lines.append("\nready" if minion.attacks_left == 1 else "\nready twice", style="green")
    if minion.arrived:
        lines.append("\njust played", style="magenta")
    return Panel(lines, expand=False)


def _changes(position: Position, seat: int, place: int) -> MinionDetails:
    """Collect a minion's properties besides numbers and keywords."""
    minion = position.state["sides"][seat]["board"][place]
    traits = int(minion["traits"])
    words = [text for trait, text in TRAIT_WORDS.items() if traits & trait]
    words += [f"Spell Damage +{minion['spell_damage']}"] if minion["spell_damage"] else []
    words += [f"{minion['turn_attack']:+d} attack this turn"] if minion["turn_attack"] else []
    words += [f"given: {position.table.cards[gift - 1].title}" for gift in minion["granted_effects"] if gift]
    wounded = minion["health"] < minion["max_health"]
    return MinionDetails(
        int(minion["max_health"]) if wounded else 0,
        tuple(words),
        not traits & (Trait.FROZEN | Trait.CANT_ATTACK),
    )


def _class_of(position: Position, seat: int) -> str:
    """Text of a hero's class, with a leading comma; "" without a hero power."""
    power = position.state["sides"][seat]["power"]
    return f", {position.table.cards[power - 1].class_name}" if power else ""


def _draw_hero(position: Position, seat: int, to_move: bool) -> list[Text]:
    """Lines for hero power, weapon, Secrets and traits of a hero in a game with card effects."""
    side, cards = position.state["sides"][seat], position.table.cards
    lines = []
    if side["power"]:
        power = cards[side["power"] - 1]
        line = Text(f"hero power: {power.title} ({power.spec.cost})")
        if to_move:
            usable = any(action.kind == ActionKind.POWER for action in position.legal_actions())
            state = "used" if side["power_used"] else "available" if usable else "not available now"
            line.append(f", {state}", style="green" if usable else "dim")
        lines.append(line)
    attack = int(side["weapon_attack"] + side["hero_attack"])
    frozen = bool(side["traits"] & Trait.FROZEN)
    if side["durability"]:
        card = cards[side["weapon"]]
        current = f"{side['weapon_attack']}/{side['durability']}"
        printed = f", printed {card.body}" if card.body and current != card.body else ""
        lines.append(Text(f"weapon: {card.title} {current}{printed}", style="yellow"))
    secrets = [
        secret.title if isinstance(secret, Card) else f"hidden {secret.name.capitalize()} Secret"
        for secret in SideView(position, seat).secrets
    ]
    if secrets:
        lines.append(Text(f"Secrets: {'; '.join(secrets)}", style="magenta"))
    words = [text for trait, text in TRAIT_WORDS.items() if side["traits"] & trait]
    words += [f"{side['hero_attack']:+d} attack this turn"] if side["hero_attack"] else []
    spell_damage = int(side["board"]["spell_damage"][: side["n_board"]].sum())
    words += [f"Spell Damage +{spell_damage}"] if spell_damage else []
    words += [f"{_crystals(side['locked'])} locked"] if side["locked"] else []
    words += [f"{_crystals(side['overload'])} locked next turn"] if side["overload"] else []
    if words:
        lines.append(Text(f"hero: {', '.join(words)}", style="blue"))
    if to_move and attack and side["hero_attacks_left"] and not frozen:
        twice = " twice" if side["hero_attacks_left"] > 1 else ""
        lines.append(Text(f"hero ready to attack{twice} for {attack}", style="green"))
    return lines


def _crystals(number: int) -> str:
    return f"{number} mana crystal{'s' if number != 1 else ''}"


def draw_decks(decks: Sequence[Deck]) -> ConsoleRenderable:
    """Draw a list of decks as a table: name, class, mean cost, coverage and description."""
    rows = [
        [
            deck.name,
            deck.hero_class or "minions",
            f"{sum(card.spec.cost for card in deck.cards) / len(deck.cards):.1f}",
            "all" if deck.n_exact == len(deck.cards) else f"{deck.n_exact} of {len(deck.cards)}",
            deck.description,
        ]
        for deck in decks
    ]
    caption = "manaforge deck NAME lists the cards of one; docs/decks.md has the format of deck files."
    return FittingTable(DECKS_COLUMNS, rows, caption=caption)


def draw_deck(deck: Deck) -> ConsoleRenderable:
    """Draw a deck as a table: count, cost, name, body, keywords, id, and coverage of each card."""
    rows, changes = [], deck.changes()
    for card, n in deck.counts():
        spec = card.spec
        played = "exact" if deck.plays_text(card) else "body and keywords"
        played = "; ".join(filter(None, (played, changes.get(card, ""))))
        body, keywords = card.body, ", ".join(keyword_names(spec.keywords))
        rows.append(
            ["any" if deck.random else str(n), str(spec.cost), card.title, body, keywords, card.id, played]
        )
    caption = coverage_sentence([deck])
    if deck.random:
        drawn = "30 cards are drawn from these, each with the same probability, for each game and player."
        caption = f"{drawn}\n{caption}"
    if deck.power:
        caption = f"A {deck.hero_class} of edition {deck.edition}, hero power {deck.power.name}.\n{caption}"
    title = Text(": ".join(filter(None, (deck.name, deck.description))))
    return FittingTable(DECK_COLUMNS, rows, title, caption)


def console() -> Console:
    """Console on standard output; without a terminal, plain text of width COLUMNS or 100."""
    screen = SafeConsole()
    return screen if screen.is_terminal else SafeConsole(width=table_width(100))


def position_as_text(position: Position) -> str:
    """Draw a position as text, with colours if standard output is a terminal."""
    screen = console()
    with screen.capture() as captured:
        screen.print(draw_position(position))
    return captured.get()


LIST_COLUMNS = (
    Column("cost", 2, right=True),
    Column("name"),
    Column("body", 3),
    Column("kind", 5),
    Column("class", 4),
    Column("set", 7),
    Column("id", 8),
    Column("played", 1),
    Column("not covered", 6, folds=True),
)


def card_lines(printings: Sequence[CardFacts], width: int) -> list[str]:
    """Describe a card, its implemented effects and its reprints, as wrapped lines.

    Args:
        printings: as `engine.cards.lookup.find_facts` returns them; only the first of each edition is
            described in full.
        width: largest line length.
    """
    lines: list[str] = []
    seen_editions: list[str] = []
    for facts in printings:
        if facts.edition in seen_editions:
            text = f"also {facts.title}, set {facts.set_name}, {facts.played}"
            lines.append(fill(text, width, initial_indent="  ", subsequent_indent="       "))
            continue
        seen_editions.append(facts.edition)
        lines.append(fill(facts.title, width, subsequent_indent="  "))
        for text in (facts.description, facts.coverage_text):
            lines.append(fill(text, width, initial_indent="  ", subsequent_indent="  "))
        lines += [fill(text, width, initial_indent="  - ", subsequent_indent="    ") for text in facts.does]
        if facts.numbers:
            text = f"numbers for --patch: {', '.join(f'{name} {value}' for name, value in facts.numbers)}"
            lines.append(fill(text, width, initial_indent="  ", subsequent_indent="    "))
    return lines


def card_as_json(facts: CardFacts) -> dict[str, Any]:
    """A card as a JSON object."""
    return {
        "id": facts.id,
        "name": facts.name,
        "edition": facts.edition,
        "kind": facts.kind,
        "class": facts.class_name,
        "set": facts.set_name,
        "rarity": facts.rarity,
        "cost": facts.cost,
        "body": facts.body,
        "race": facts.race,
        "keywords": list(facts.keywords),
        "collectible": facts.collectible,
        "played": facts.played,
        "does": list(facts.does),
        "not_covered": list(facts.not_covered),
        "numbers": dict(facts.numbers),
    }


def coverage_as_json(coverage: Coverage) -> dict[str, Any]:
    """The coverage of an edition as a JSON object."""
    return {
        "edition": coverage.edition,
        "exact": coverage.whole.exact,
        "cards": coverage.whole.cards,
        "sets": [share._asdict() for share in coverage.sets],
        "classes": [share._asdict() for share in coverage.classes],
        "not_covered": [{"kind": kind, "cards": n} for kind, n in coverage.not_covered],
    }


def draw_coverage(coverage: Coverage) -> ConsoleRenderable:
    """Draw the coverage of an edition: fully implemented cards by set and class, and missing features."""
    whole = coverage.whole
    numbers = f"{whole.exact:,} of {whole.cards:,} collectible cards are played exactly"
    columns = Column("not covered"), Column("cards that ask for it", 1, right=True)
    kinds = [(kind, f"{n:,}") for kind, n in coverage.not_covered]
    return Group(
        Text(f"Edition {coverage.edition}: {numbers}."),
        _share_table("set", coverage.sets),
        _share_table("class", coverage.classes),
        FittingTable(columns, kinds, caption="A card may ask for several of these."),
    )


def draw_cards(cards: Sequence[CardFacts]) -> ConsoleRenderable:
    """Draw a table of cards, with the parts of each card's text that are not implemented."""
    rows = [
        (
            str(card.cost),
            card.name,
            card.body,
            card.kind,
            card.class_name,
            card.set_name,
            card.id,
            card.played,
            ", ".join(card.not_covered),
        )
        for card in cards
    ]
    n_exact = sum(card.played == EXACT for card in cards)
    return FittingTable(LIST_COLUMNS, rows, caption=f"{n_exact:,} of {len(cards):,} are played exactly.")


def _share_table(what: str, shares: Sequence[Share]) -> ConsoleRenderable:
    columns = Column(what), Column("exact", 1, right=True), Column("of", 2, right=True)
    return FittingTable(columns, [(share.name, f"{share.exact:,}", f"{share.cards:,}") for share in shares])
