"""Private copies of a tree, each with an environment of its own that imports nothing from elsewhere."""

import json
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("plugin", "probe")
"""Files of this package that are copied into the environment, named `planted_plugin` and `planted_probe` there."""


class Copy:
    """A copy of a tree in which faults are planted.

    Args:
        tree: a work tree of git, whose `.venv` has the packages that tests need.
        folder: where the copy is, or will be made.

    Attributes:
        python: the interpreter that imports the copy, in subprocesses too, whatever their environment.
    """

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree, self.folder = tree, folder
        self.python = folder / ".venv" / "bin" / "python"
        if not self.python.exists():
            self._make()
        self.restore_all()

    def _make(self) -> None:
        for file in self._tracked():
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.tree / file, self.folder / file)
        packages = next((self.tree / ".venv" / "lib").glob("python*/site-packages"))
        base = self.tree / ".venv" / "bin" / "python"
        subprocess.run([base, "-m", "venv", "--without-pip", self.folder / ".venv"], check=True)
        command = self.python.with_name("manaforge")
        text = (self.tree / ".venv" / "bin" / "manaforge").read_text().split("\n", 1)[1]
        command.write_text(f"#!{self.python}\n{text}")
        command.chmod(0o755)
        own = next((self.folder / ".venv" / "lib").glob("python*/site-packages"))
        for part in PARTS:
            shutil.copy2(HERE / f"{part}.py", own / f"planted_{part}.py")
        (own / "planted_probe.json").write_text(json.dumps({"log": str(self.log)}))
        # A folder named in a .pth is searched, but its own .pth files are not read: the tree itself stays out.
        (own / "planted.pth").write_text(f"{self.folder}\n{packages}\nimport planted_probe\n")

    @property
    def log(self) -> Path:
        """Where the plugin writes what happens."""
        return self.folder / "planted.log"

    def _tracked(self) -> list[str]:
        command = ["git", "-C", self.tree, "ls-files", "-z"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [file for file in done.stdout.split("\0") if file and not (self.tree / file).is_symlink()]

    def change(self, file: str, source: bytes) -> None:
        """Write another source, and forget what was compiled of the one before."""
        (self.folder / file).write_bytes(source)
        self._forget(file)

    def restore(self, file: str) -> None:
        """Make a file what it is in the tree, with its time, by which caches know it."""
        shutil.copy2(self.tree / file, self.folder / file)
        self._forget(file)

    def restore_all(self) -> None:
        """Make all sources what they are in the tree."""
        for file in self._tracked():
            here = self.folder / file
            if not here.exists() or here.read_bytes() != (self.tree / file).read_bytes():
                here.parent.mkdir(parents=True, exist_ok=True)
                self.restore(file)

    def _forget(self, file: str) -> None:
        path = self.folder / file
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink(missing_ok=True)
