"""`python -m engine.cards build` generates the catalogue (`python -m engine card NAME` looks a card up)."""

from pathlib import Path

import typer

from engine.console import command_line
from engine.errors import ManaforgeError

app = typer.Typer(
    help="The card catalogue.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def _group() -> None:
    """The card catalogue."""


@app.command()
def build() -> None:
    """Generate engine/data/cards.csv again from the package hearthstone-data."""
    from engine.cards.build import build as write_catalogue  # noqa: PLC0415

    try:
        print(write_catalogue(Path(__file__).resolve().parents[1] / "data"))
    except ModuleNotFoundError as error:
        raise ManaforgeError(f"{error}; the generator needs the development tools: make setup") from None


if __name__ == "__main__":
    command_line(app, "python -m engine.cards")
