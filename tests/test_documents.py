"""The documents are true: their Python runs, their links lead somewhere, their commands exist."""

import contextlib
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import typer
from typer.core import TyperGroup

from engine.effect_codes import CardFilter, Condition, Count, Filter, Op, Pick, Trigger
from evo.cli.main import app

ROOT = Path(__file__).parents[1]
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
FOLDERS = [ROOT / name / "README.md" for name in ("configs", "notebooks", "runs")]
DOCUMENTS = [*TOP, *FOLDERS, *sorted((ROOT / "docs").glob("*.md"))]
WIDTH = 120
SHARED = ("--help",)


def each_document(*heavy: str) -> pytest.MarkDecorator:
    """The long suite alone reads those of the names given."""
    paths = [
        pytest.param(path, marks=pytest.mark.heavy) if path.name in heavy else path for path in DOCUMENTS
    ]
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def without_code(text: str) -> str:
    """The text with fenced code emptied, so that lines keep their numbers."""
    return re.sub(
        r"^ *```.*?^ *```",
        lambda found: "\n" * found[0].count("\n"),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )


def anchors(text: str) -> list[str]:
    """Anchors of the headings, as GitHub and the site make them."""
    found = []
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def links(text: str) -> Iterator[str]:
    """Targets of links that stay within the repository."""
    yield from re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", without_code(text))


NEEDS = {"manaforge_v0": "pettingzoo", "pyspiel": "pyspiel"}
"""Packages of optional extras that examples with these imports need."""


@each_document("tour.md")
def test_examples_run(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text(encoding="utf-8")
    for name, block in re.findall(r"as `(\w+\.toml)`:\n\n```toml\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(block, encoding="utf-8")
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # whose data some read
    monkeypatch.chdir(tmp_path)
    missing = set()
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        needed = {package for name, package in NEEDS.items() if f"import {name}" in block}
        lacking = {package for package in needed if importlib.util.find_spec(package) is None}
        missing |= lacking
        if not lacking:
            exec(compile(block, str(path), "exec"), {"__name__": "example"})
    if missing:
        pytest.skip(f"SKIPPED in part: {', '.join(sorted(missing))} not installed")


@each_document()
def test_links_and_anchors_lead_somewhere(path: Path) -> None:
    for link in links(path.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), f"{path.name} -> {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{path.name} -> {link}"


@each_document()
def test_headings_have_anchors_of_their_own(path: Path) -> None:
    if path.name == "CHANGELOG.md":  # Added, Changed, Removed for each version
        return
    found = anchors(path.read_text(encoding="utf-8"))
    assert len(found) == len(set(found)), found


@each_document()
def test_lines_are_not_too_wide(path: Path) -> None:
    """Tables, fenced code and lines that hold a URL may be wider."""
    for number, line in enumerate(without_code(path.read_text(encoding="utf-8")).splitlines(), 1):
        if not line.lstrip().startswith("|") and "://" not in line:
            assert len(line) <= WIDTH, f"{path.name}:{number}: {len(line)} characters"


def test_every_document_is_linked_from_another() -> None:
    linked = {
        (path.parent / link.partition("#")[0]).resolve()
        for path in DOCUMENTS
        for link in links(path.read_text(encoding="utf-8"))
    }
    missing = [path.name for path in DOCUMENTS if path.resolve() not in linked and path.name != "README.md"]
    assert not missing


def test_every_figure_is_shown_and_small() -> None:
    shown = {
        (path.parent / link).resolve()
        for path in DOCUMENTS
        for link in links(path.read_text(encoding="utf-8"))
        if link.endswith(".png")
    }
    for figure in (ROOT / "docs" / "figures").glob("*.png"):
        assert figure.resolve() in shown, f"{figure.name} is in no document"
        assert figure.stat().st_size < 300_000, figure.name


def commands() -> dict[str, set[str]]:
    """Options of every command by its full name."""
    found: dict[str, set[str]] = {}

    def walk(prefix: str, command: object) -> None:
        if isinstance(command, TyperGroup):
            for name in command.list_commands(None):
                walk(f"{prefix} {name}", command.get_command(None, name))
            return
        options = {
            text
            for parameter in command.params  # type: ignore[attr-defined]
            for text in (*parameter.opts, *parameter.secondary_opts)
            if text.startswith("--") and text not in SHARED and not text.startswith("--no-")
        }
        found[prefix] = options

    walk("manaforge", typer.main.get_command(app))
    return found


def test_commands_md_has_every_command_and_option() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
    known = commands()
    assert {name for name in sections if name.startswith("manaforge ")} == set(known)
    for name, options in known.items():
        table = "\n".join(line for line in sections[name].splitlines() if line.startswith("|"))
        assert set(re.findall(r"--[a-z][a-z-]*", table)) == options, name


def test_effects_md_lists_the_words_of_effect_rows() -> None:
    text = (ROOT / "docs" / "effects.md").read_text(encoding="utf-8")
    for words in (Trigger, Op, Pick, Filter, Condition, Count, CardFilter):
        line = next(line for line in text.splitlines() if f"| `{words.__name__}` |" in line)
        known = [word.name.lower() for word in words if word.name != "NONE" and word != CardFilter.POOLED]
        assert re.findall(r"`(\w+)`", line)[2:] == known, words.__name__


def test_tests_named_in_documents_exist() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for path in DOCUMENTS:
        for name in re.findall(r"\b(test_\w+)\b(?!\.py|/)", path.read_text(encoding="utf-8")):
            assert f"def {name}(" in source or (ROOT / "tests" / f"{name}.py").exists(), (
                f"{path.name}: {name}"
            )


def test_modules_named_in_documents_exist() -> None:
    """Names in code such as `evo.play.games.GAME` begin with a module."""
    for path in DOCUMENTS:
        if path.name == "CHANGELOG.md":  # names what is gone
            continue
        text = without_code(path.read_text(encoding="utf-8"))
        for name in re.findall(r"`((?:engine|ilp_agent|rivals|evo)\.[\w.]+)`", text):
            assert _exists(name), f"{path.name}: {name}"


def test_modules_that_documents_run_exist() -> None:
    """Of commands such as `python -m tools.effect_drafts ID`, in fenced code too."""
    for path in DOCUMENTS:
        if path.name == "CHANGELOG.md":  # names what is gone
            continue
        ours = r"-m\s+((?:engine|ilp_agent|rivals|evo|tools|tests|benchmarks)(?:\.\w+)*)"
        for name in re.findall(ours, path.read_text(encoding="utf-8")):
            place = ROOT / name.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), (
                f"{path.name}: {name}"
            )


def _exists(name: str) -> bool:
    """Whether a dotted name leads to a module, or to a name in one."""
    found: object = importlib.import_module(name.split(".", maxsplit=1)[0])
    at = name.split(".", maxsplit=1)[0]
    for part in name.split(".")[1:]:
        at = f"{at}.{part}"
        if isinstance(found, ModuleType) and not hasattr(found, part):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(at)
        if not hasattr(found, part) and part not in getattr(found, "__annotations__", {}):
            return False
        found = getattr(found, part, None)
    return True


def test_the_tree_of_the_architecture_has_every_package() -> None:
    """Packages and their nesting, line by line: one that is missing, or gone, is found."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = text[text.index("## The tree") : text.index("## A turn")]
    named, inside = set(), ""
    for indent, name in re.findall(r"^( *)([a-z_]+)/ +\S", tree, re.MULTILINE):
        inside = inside if indent else name
        named.add(f"{inside}/{name}" if indent else name)
    tops = ("engine", "ilp_agent", "rivals", "evo")
    found = {path.parent.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("__init__.py")}
    packages = {path.as_posix() for path in found}
    assert named >= packages, packages - named
    gone = {name for name in named if not (ROOT / name).is_dir()}
    assert not gone
