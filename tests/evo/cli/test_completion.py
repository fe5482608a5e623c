"""What a shell completes."""

from pathlib import Path

import pytest

from tests.evo.runs import manaforge


def completed(words: str, cwd: Path) -> list[str]:
    """What bash is given for the last of these words."""
    count = len(words.split(" ")) - 1
    shell = {"_MANAFORGE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    return manaforge(cwd=cwd, **shell).stdout.split()


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
        ("manaforge tournament aggro --edition 2", ["2018-07"]),
        ("manaforge sweep --weight aggr", ["aggressiveness"]),
        ("manaforge sweep eva --weight aggr", []),
        ("manaforge sweep hearthsim:balanced --weight aggr", ["aggressiveness"]),
        ("manaforge sweep ilp:keep-alive@highs --values 0,1 --weight t", ["taunt", "threat", "trade"]),
        ("manaforge sweep eva --weight mana --values 1 --seats f", ["fixed"]),
        ("manaforge sweep eva --keyword s", ["stealth"]),
        (
            "manaforge evolve quickstart --set strategy=",
            ["strategy=es", "strategy=eva", "strategy=cma", "strategy=spsa"],
        ),
        ("manaforge evolve quickstart --set agent=e", ["agent=eva"]),
        ("manaforge evolve quickstart --set backend=h", ["backend=highs"]),
        ("manaforge evolve quickstart --set pool=l", ["pool=local"]),
        ("manaforge evolve quickstart --set ruleset=st", ["ruleset=standard"]),
        (
            "manaforge evolve quickstart --set es.shared_draw=",
            ["es.shared_draw=true", "es.shared_draw=false"],
        ),
        ("manaforge evolve quickstart --set es.recombination=int", ["es.recombination=intermediate"]),
        ("manaforge evolve quickstart --set decks=thesis-w", ["decks=thesis-warrior"]),
        ("manaforge evolve quickstart --set games=", []),
        ("manaforge play ilp:o", ["ilp:one"]),
        ("manaforge play ilp:two", []),
        ("manaforge play eva:t", ["eva:two"]),
        ("manaforge play ilp:st", ["ilp:study/00"]),
        ("manaforge ladder a b --players aggro,greedy-ilp:true", ["aggro,greedy-ilp:true-balanced"]),
        ("manaforge ladder a b --ruleset st", ["standard"]),
        ("manaforge tournament aggro --format ga", ["gauntlet"]),
        ("manaforge explain x --program th", ["thesis"]),
        ("manaforge ladder hear", ["hearthsim-basic", "hearthsim-rager"]),
        ("manaforge report runs/", ["runs/one", "runs/study", "runs/two"]),
        ("manaforge explain x --profile runs/o", ["runs/one"]),
    ],
)
def test_values_are_completed(words: str, expected: list[str], tmp_path: Path) -> None:
    for run in ("runs/one", "runs/two", "runs/study/00", "runs/study/01"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "config.toml").touch()
        if run != "runs/study/01":  # which is not finished
            (tmp_path / run / "champion.toml").touch()
    (tmp_path / "runs/two/config.toml").write_text('agent = "eva"')
    assert completed(words, tmp_path) == expected
