"""The notebooks run, define nothing and stay short; their stored outputs are of the committed run."""

import ast
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import BOUNDSCHECK, UNCOMPILED
from tests.waiting import HANG

FOLDER = Path(__file__).parents[2] / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_seven() -> None:
    names = ["00_first_run", "01_weights", "02_coevolution", "03_styles", "04_tournament", "05_actions"]
    names += ["06_too_strong"]
    assert [book.stem for book in BOOKS] == names


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_notebooks_are_short_define_nothing_and_keep_their_outputs(book: Path) -> None:
    read = nbformat.read(book, as_version=4)
    cells = [cell for cell in read.cells if cell.cell_type == "code"]
    assert len(cells) <= 15
    for cell in cells:
        tree = ast.parse(cell.source)
        assert not [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)
        ]
        assert cell.execution_count
        assert all(output.output_type != "error" for output in cell.outputs)
    kinds = {kind for cell in cells for output in cell.outputs for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert "/home/" not in book.read_text()


def test_make_notebook_takes_options_of_jupyterlab() -> None:
    """As root and without a browser, JupyterLab starts only with options."""
    command = ["make", "-n", "--no-print-directory", "notebook", "ARGS=--allow-root --no-browser"]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].endswith(
        "jupyter lab --notebook-dir notebooks --allow-root --no-browser"
    )


@pytest.mark.heavy
@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_notebooks_run(book: Path) -> None:
    read = nbformat.read(book, as_version=4)
    NotebookClient(
        read, timeout=int(HANG), startup_timeout=int(HANG), resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
