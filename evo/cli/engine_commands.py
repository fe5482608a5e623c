"""Commands of `python -m engine`: draw a position, list a deck, look up cards, count move trees (perft)."""

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from engine.codes import MAX_DEPTH
from engine.errors import DeckNameError
from engine.shipped import EDITION_NAMES
from evo.cli.options import Patches
from evo.terminal.console import run_command_line

app = typer.Typer(
    help="Positions, decks, cards and move trees of the game, without agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_POSITION = typer.Argument(
    help="A position on one line, such as 'hero 20 board [3/2 ready] | hero 12' (docs/game.md#notation)."
)


@app.command()
def show(position: str = _POSITION) -> None:
    """Draw a position and list its legal actions."""
    from engine.notation import parse_position
    from evo.terminal.drawing import console, draw_position

    parsed = parse_position(position)
    screen = console()
    screen.print(draw_position(parsed))
    actions = [parsed.describe(action) for action in parsed.legal_actions()]
    count = f"{len(actions)} legal action{'s' if len(actions) != 1 else ''}"
    screen.print(f"{count}: {'; '.join(actions)}" if actions else "the game is over", markup=False)


EditionName = Annotated[
    str,
    typer.Option("--edition", help=f"Edition of the cards: {' or '.join(EDITION_NAMES)}.", metavar="NAME"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def deck(
    name: str | None = typer.Argument(
        None, help="A shipped deck, a TOML file or a deck code; without one, all shipped decks."
    ),
    edition: EditionName = "",
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Play minions that are not exact as bodies with their keywords.")
    ] = False,
    any_deck: Annotated[
        bool, typer.Option("--any-deck", help="Allow cards of other classes, and any number of copies.")
    ] = False,
    patch: Patches = None,
    code: Annotated[bool, typer.Option("--code", help="Print only the deck code.")] = False,
    toml: Annotated[
        Path | None, typer.Option("--toml", help="Write the deck to this new deck file.", metavar="FILE")
    ] = None,
    deck_name: Annotated[
        str, typer.Option("--name", help="Name of the deck in that file; default: the file's name.")
    ] = "",
) -> None:
    """List the cards of a deck, write it as a deck file, or list the shipped decks."""
    from engine.cards.patches import read_patches
    from engine.deck_files import add_deck_options, deck_code_of, find_deck, write_deck
    from engine.decks import changes_sentence, deck_options
    from engine.shipped import shipped_decks
    from evo.terminal.drawing import console, draw_deck, draw_decks

    names = add_deck_options(
        shipped_decks() if name is None else [name],
        deck_options(edition, bodies, any_deck, read_patches(patch or ())),
    )
    if name is None and (code or toml):
        raise DeckNameError(f"--{'code' if code else 'toml'} is for one deck: give its name, file or code")
    if code and toml:
        raise DeckNameError("--code prints the deck code and --toml writes a file: give one of them")
    if deck_name and not toml:
        raise DeckNameError("--name is the name in a new deck file; add --toml FILE")
    if name is None:
        console().print(draw_decks([find_deck(text) for text in names]))
        return
    for text in names:
        found = find_deck(text)
        if code:
            changed = changes_sentence([found])
            if changed:
                print(f"a deck code has only printed cards. {changed}", file=sys.stderr)
            print(deck_code_of(found))
        elif toml:
            write_deck(toml, found, deck_name or toml.stem)
            typed = shlex.quote(str(toml))
            print(f"{toml}: deck {deck_name or toml.stem}; commands take it as --decks {typed}")
        else:
            console().print(draw_deck(found))


@app.command()
def card(
    name: str = typer.Argument(help="A card's id or English name."),
    edition: EditionName = "",
    as_data: AsJson = False,
) -> None:
    """Show a card: cost, stats, implemented effects, text that is not implemented, and printings."""
    from engine.cards.lookup import find_facts
    from engine.decks import deck_options
    from evo.terminal.drawing import card_as_json, card_lines, console

    found = find_facts(name, deck_options(edition).edition)
    if as_data:
        print(json.dumps([card_as_json(facts) for facts in found], indent=1, ensure_ascii=False))
        return
    screen = console()
    for line in card_lines(found, screen.width):
        screen.print(line, soft_wrap=True)


@app.command()
def cards(
    edition: EditionName = "2018-07",
    hero_class: Annotated[
        str, typer.Option("--class", help="List the cards of a class.", metavar="NAME")
    ] = "",
    card_set: Annotated[str, typer.Option("--set", help="List the cards of a set.", metavar="NAME")] = "",
    kind: Annotated[
        str,
        typer.Option(
            "--not-covered", help="List the cards that need this mechanic, such as secret.", metavar="KIND"
        ),
    ] = "",
    as_data: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the tables of docs/effects.md, of all editions.")
    ] = False,
) -> None:
    """Count an edition's fully implemented cards by set and class, and missing features; or list cards."""
    from engine.cards import lookup
    from engine.cards.lookup import filter_card_facts
    from engine.decks import deck_options
    from evo.terminal.drawing import card_as_json, console, coverage_as_json, draw_cards, draw_coverage

    name = deck_options(edition).edition
    if markdown:
        print(lookup.coverage_markdown(), end="")
    elif hero_class or card_set or kind:
        found = filter_card_facts(name, hero_class, card_set, kind)
        if as_data:
            print(json.dumps([card_as_json(facts) for facts in found], indent=1, ensure_ascii=False))
        else:
            console().print(draw_cards(found))
    elif as_data:
        print(json.dumps(coverage_as_json(lookup.coverage(name)), indent=1, ensure_ascii=False))
    else:
        console().print(draw_coverage(lookup.coverage(name)))


@app.command(name="perft")
def count(
    position: str = _POSITION,
    depth: int = typer.Argument(min=0, max=MAX_DEPTH, help="Number of actions of the longest sequences."),
) -> None:
    """Count the sequences of legal actions from a position (perft), for each depth up to DEPTH."""
    from engine.notation import parse_position
    from engine.perft_counter import perft

    parsed = parse_position(position)
    perft(parsed, 1)  # compile before timing
    for level in range(depth + 1):
        began = time.perf_counter()
        print(f"{level:2d} {perft(parsed, level):>16,d}   {time.perf_counter() - began:.3f} s")


def main() -> None:
    """Run `python -m engine`."""
    run_command_line(app, "python -m engine")
