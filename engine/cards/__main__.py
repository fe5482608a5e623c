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
def build(edition_package: Path | None = None) -> None:
    """Generate the tables of engine/data again from the package hearthstone-data.

    Args:
        edition_package: folder in which hearthstone-data 25252.1 was installed; without it the tables of
            edition 2018-07 stay as they are.
    """
    from engine.cards.build import build as write_catalogue  # noqa: PLC0415
    from engine.cards.editions import build_edition  # noqa: PLC0415
    from engine.effects.rows import named_cards  # noqa: PLC0415

    data = Path(__file__).resolve().parents[1] / "data"
    try:
        print(write_catalogue(data))
        if edition_package:
            print(build_edition(data / "editions", edition_package, named_cards()))
    except FileNotFoundError as error:
        raise ManaforgeError(str(error)) from None
    except ModuleNotFoundError as error:
        raise ManaforgeError(f"{error}; the generator needs the development tools: make setup") from None


if __name__ == "__main__":
    command_line(app, "python -m engine.cards")
