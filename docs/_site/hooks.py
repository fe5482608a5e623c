"""What the site adds to docs/: documents kept elsewhere in the repository, and the API reference.

mkdocs calls these functions by name (mkdocs.yml, `hooks`). Nothing is written into docs/: pages made here
live in memory for the time of a build.
"""

import ast
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "configs/README.md": "configurations.md",
    "notebooks/README.md": "notebooks.md",
    "runs/README.md": "formats.md",
}
"""Documents outside docs/, and the pages they become."""

SECTIONS = {"SECURITY.md": "reliability.md"}
"""Documents outside docs/ that become the last section of a page."""

PACKAGES = ("manaforge", "engine", "ilp_agent", "rivals", "evo")
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the API reference to the section Reference of the navigation."""
    assert config.nav is not None
    pages = api_pages()
    reference = next(section["Reference"] for section in config.nav if "Reference" in section)
    reference.append({"API": ["api/index.md", *(page for page in pages if page != "api/index.md")]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents from outside docs/ and a page of API reference for each package."""
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for page, text in api_pages().items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Add the documents that end this page, and point links at the pages of the site."""
    sources = {made: source for source, made in OUTSIDE.items()}
    uri = page.file.src_uri
    parts = [linked(markdown, sources.get(uri, f"docs/{uri}"), uri)]
    for source, target in SECTIONS.items():
        if target == uri:
            text = (ROOT / source).read_text(encoding="utf-8")
            parts.append(linked(re.sub(r"^#", "##", text, flags=re.MULTILINE), source, uri))
    return "\n".join(parts)


def linked(markdown: str, source: str, uri: str) -> str:
    """Links of a document as links of its page; a link to a file that is no page becomes plain code.

    Args:
        markdown: the document.
        source: its path in the repository.
        uri: the page it belongs to, in the site.
    """
    kept: list[str] = []

    def lead(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        anchor = match[3] or ""
        if target in OUTSIDE:
            target = f"docs/{OUTSIDE[target]}"
        elif target in SECTIONS:
            anchor = anchor or f"#{posixpath.splitext(target)[0].lower()}"
            target = f"docs/{SECTIONS[target]}"
        if not target.startswith("docs/"):
            return match[0]
        start = posixpath.dirname(uri) or "."
        return match[1] + posixpath.relpath(target.removeprefix("docs/"), start) + anchor

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    text = LINK.sub(lead, FENCE.sub(keep, markdown))
    text = re.sub(r"\[([^\]]+)\]\((?!https?:|#)[^)\s]+\.(?:ipynb|toml|yaml|sh|py|json)\)", r"`\1`", text)
    return re.sub("\x00(\\d+)\x00", lambda match: kept[int(match[1])], text)


def api_pages() -> dict[str, str]:
    """A page for each package, with the reference of its modules, and an index of them all."""
    pages: dict[str, str] = {}
    index = [
        "# API reference",
        "",
        "Generated from the docstrings. The exports of a package's `__init__` are its public interface; its",
        "modules are listed for reading. Terms are in the [glossary](../glossary.md).",
        "",
        "| package | |",
        "| --- | --- |",
    ]
    for top in PACKAGES:
        for init in sorted((ROOT / top).rglob("__init__.py"), key=lambda path: path.parent):
            folder = init.parent
            package = ".".join(folder.relative_to(ROOT).parts)
            modules = [
                f"{package}.{path.stem}"
                for path in sorted(folder.glob("*.py"))
                if not path.stem.startswith("_")
            ]
            lines = [f"# {package}", "", _summary(init), ""]
            for module in modules:
                lines += [f"::: {module}", ""]
            pages[f"api/{package}.md"] = "\n".join(lines)
            index.append(f"| [{package}]({package}.md) | {_summary(init)} |")
    pages["api/index.md"] = "\n".join(index) + "\n"
    return pages


def _summary(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
