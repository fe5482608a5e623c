"""Benchmarks run by hand only, so a moved name would go unseen: here each is imported, with all it imports later."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

from benchmarks import config_times

BENCHMARKS = [path for path in sorted(Path("benchmarks").glob("*.py")) if path.name != "__init__.py"]

NEEDS = {"ppo": ("sb3_contrib", "pettingzoo")}
"""Packages that only the benchmark's own make target installs."""


@pytest.mark.parametrize("path", BENCHMARKS, ids=[path.stem for path in BENCHMARKS])
def test_imports_exist(path: Path) -> None:
    for package in NEEDS.get(path.stem, ()):
        pytest.importorskip(package, reason=f"SKIPPED: {package} is not installed")
    importlib.import_module(f"benchmarks.{path.stem}")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            for name in node.names:
                assert hasattr(module, name.name), f"{node.module} has no {name.name}"


def test_times_are_not_measured_for_a_document_without_their_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "README.md"
    document.write_text("# Configurations\n")
    monkeypatch.setattr(config_times, "DOCUMENT", document)
    monkeypatch.setattr(sys, "argv", ["config_times"])
    with pytest.raises(SystemExit) as ended:
        config_times.main()
    assert ended.value.code == 2
    assert f"{document} has no heading ## Times to write below; add it" in capsys.readouterr().err
