"""Entry point of `python -m engine`: commands for positions, decks and cards (`evo.cli.engine_commands`)."""

from engine.lazy import lazy_import

if __name__ == "__main__":
    lazy_import("evo.cli.engine_commands:main")()
