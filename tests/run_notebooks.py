"""Runs the notebooks in place and stores their outputs. Run with `make notebooks`."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"


def main() -> None:
    for book in sorted(FOLDER.glob("*.ipynb")):
        read = nbformat.read(book, as_version=4)
        NotebookClient(read, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute()
        for cell in read.cells:
            cell.metadata.pop("execution", None)  # times of day
        read.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
        nbformat.write(read, book)
        print(book.name)


if __name__ == "__main__":
    main()
