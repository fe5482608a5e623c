"""The commands about configurations: config show, config schema."""

import json

import typer
from rich.table import Table as RichTable

from evo.cli import completion
from evo.cli.options import AllowAgent, Overrides
from evo.shipped import shipped_configs


def show_config(
    config: str = typer.Argument(
        "",
        help=f"A file, or one of {', '.join(shipped_configs())}; without one, the defaults.",
        autocompletion=completion.configs,
    ),
    overrides: Overrides = None,
    as_toml: bool = typer.Option(False, "--toml", help="Print the complete configuration as TOML."),
    _agents: AllowAgent = None,
) -> None:
    """Print every value of a configuration with its unit and meaning."""
    from evo.cli.consoles import output_console
    from evo.config import meanings
    from evo.configfiles import escaped, read_config

    chosen = read_config(config, overrides or (), begins=True)
    if as_toml:
        print(escaped(chosen.to_toml()), end="")
        return
    table = RichTable("key", "value", "meaning")
    values = chosen.model_dump(mode="json", by_alias=True)
    for key, meaning in meanings():
        section, _, name = key.rpartition(".")
        value = (values[section] if section else values)[name]
        text = ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)
        if isinstance(value, bool) or value == "":
            text = json.dumps(value)  # as TOML has it
        table.add_row(key, text, meaning)
    output_console().print(table)


def _shown(item: object) -> str:
    """An item of a list: a text, or the values of a table."""
    return " ".join(map(str, item.values())) if isinstance(item, dict) else str(item)


def print_schema() -> None:
    """Print the JSON schema of configurations, for editors."""
    from evo.config import json_schema

    print(json.dumps(json_schema(), indent=1))
