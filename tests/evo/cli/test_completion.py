"""What a shell completes."""

import subprocess
from pathlib import Path

import pytest

from tests.evo.runs import ENVIRONMENT, PROGRAM


def completed(words: str, cwd: Path) -> list[str]:
    """What bash is given for the last of these words."""
    count = len(words.split(" ")) - 1
    shell = {"_MANAFORGE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    done = subprocess.run(
        PROGRAM, env=ENVIRONMENT | shell, cwd=cwd, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("manaforge evol", ["evolve"]),
        ("manaforge config sc", ["schema"]),
        ("manaforge evolve qu", ["quickstart"]),
        ("manaforge evolve quickstart --set final.", ["final.games=", "final.benchmark_games="]),
        ("manaforge evolve quickstart --pool lo", ["local"]),
        ("manaforge tournament ilp:aggro-f", ["ilp:aggro-face"]),
        ("manaforge tournament aggro --decks thesis-paladin,thesis", ["thesis-paladin,thesis-warrior"]),
        ("manaforge tournament aggro --ruleset st", ["standard"]),
        ("manaforge sweep eva --weight aggr", ["aggressiveness"]),
        ("manaforge ladder hear", ["hearthsim-basic"]),
        ("manaforge report runs/", ["runs/one", "runs/study"]),
        ("manaforge explain x --profile runs/o", ["runs/one"]),
    ],
)
def test_values_are_completed(words: str, expected: list[str], tmp_path: Path) -> None:
    for run in ("runs/one", "runs/study/00", "runs/study/01"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "config.toml").touch()
    assert completed(words, tmp_path) == expected
