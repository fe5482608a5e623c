"""A position drawn for the terminal, both boards as a player sees them."""

from rich.columns import Columns
from rich.console import Console, ConsoleRenderable, Group
from rich.panel import Panel
from rich.text import Text

from engine.codes import Outcome
from engine.console import plain_width
from engine.decks import Deck, coverage_of
from engine.minion import keyword_names
from engine.position import Position
from engine.screen import Screen
from engine.tables import Column, FittingTable
from engine.view import MinionView, SideView

_ENDINGS = {
    Outcome.FIRST_WINS: "the first player has won",
    Outcome.SECOND_WINS: "the second player has won",
    Outcome.DRAW: "a draw",
}


DECK_COLUMNS = (
    Column("count", 1, right=True),
    Column("cost", 2, right=True),
    Column("name"),
    Column("body", 3),
    Column("keywords", 4),
    Column("id", 6),
    Column("played", 5),
)


def draw_position(position: Position) -> ConsoleRenderable:
    """Both halves, the player to move below, with hands, boards and what may attack."""
    seat = position.active
    title = f"Turn {position.state['turn']}, the {'second' if seat else 'first'} player to move"
    title = _ENDINGS.get(position.outcome, title)
    # The true position, not one player's knowledge: both hands are shown where the text gave them.
    enemy, own = SideView(position, 1 - seat), SideView(position, seat)
    return Group(Text(title, style="bold"), _draw_side(enemy, False), _draw_side(own, True))


def _draw_side(side: SideView, to_move: bool) -> ConsoleRenderable:
    armour = f" + {side.armour} armour" if side.armour else ""
    counts = f"deck {side.deck_size}" + (f", fatigue {side.fatigue}" if side.fatigue else "")
    title = f"{'Second' if side.seat else 'First'} player: {side.health} health{armour}"
    title += f", mana {side.mana}/{side.crystals}, {counts}"
    minions = [_draw_minion(place, minion, to_move) for place, minion in enumerate(side.board)]
    board: ConsoleRenderable = Columns(minions) if minions else Text("empty board", style="dim")
    hand = Text("hand: ")
    names = [
        card
        if isinstance(card, str)
        else " ".join(filter(None, (f"{card.title} ({card.spec.cost})", card.body)))
        for card in side.hand
    ]
    if names and set(names) == {"?"}:
        hand.append(f"{len(names)} hidden cards")
    else:
        hand.append("; ".join(f"[{place}] {name}" for place, name in enumerate(names)) or "empty")
    parts = [board, hand] if to_move else [hand, board]
    return Panel(Group(*parts), title=title, title_align="left", border_style="green" if to_move else "red")


def _draw_minion(place: int, minion: MinionView, to_move: bool) -> ConsoleRenderable:
    lines = Text(f"[{place}] {minion.card.title}\n", style="bold")
    lines.append(f"{minion.attack}/{minion.health}", style="yellow")
    lines.append("".join(f"\n{name}" for name in keyword_names(minion.keywords)), style="cyan")
    if to_move and minion.attacks_left and minion.attack:
        lines.append("\nready" if minion.attacks_left == 1 else "\nready twice", style="green")
    if minion.arrived:
        lines.append("\njust played", style="magenta")
    return Panel(lines, expand=False)


def draw_deck(deck: Deck) -> ConsoleRenderable:
    """A deck as a table: count, name, cost, body, keywords, id, and whether the card is played exactly."""
    rows = []
    for card, n in deck.counts():
        spec = card.spec
        played = "exact" if card.exact else "body and keywords"
        body, keywords = card.body, ", ".join(keyword_names(spec.keywords))
        rows.append(
            ["any" if deck.random else str(n), str(spec.cost), card.title, body, keywords, card.id, played]
        )
    caption = coverage_of([deck])
    if deck.random:
        drawn = "30 cards are drawn from these, each with the same probability, for each game and player."
        caption = f"{drawn}\n{caption}"
    if deck.power:
        caption = f"A {deck.hero_class} of edition {deck.edition}, hero power {deck.power.name}.\n{caption}"
    title = Text(": ".join(filter(None, (deck.name, deck.description))))
    return FittingTable(DECK_COLUMNS, rows, title, caption)


def console() -> Console:
    """Where drawings go: standard output; without a terminal plain text, as wide as COLUMNS says or 100."""
    screen = Screen()
    return screen if screen.is_terminal else Screen(width=plain_width(100))
