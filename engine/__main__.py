"""Entry point of `python -m engine`: commands for positions, decks and cards (`evo.cli.engine_commands`)."""

from engine.lazy import loaded

if __name__ == "__main__":
    loaded("evo.cli.engine_commands:main")()
