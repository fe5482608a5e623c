"""How games end: health of both heroes, from the view of both."""

from pathlib import Path

import pandas as pd
import pytest

from benchmarks.hero_health import ends_of, main
from tests.conftest import BOUNDSCHECK, UNCOMPILED

compiled = pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")

DECKS = ("basic-mage", "basic-hunter")


@compiled
def test_both_views_of_each_game() -> None:
    games = 16
    ends = ends_of(("eva", "aggro"), DECKS, games, 1, "competition")
    first, second = ends.iloc[:games], ends.iloc[games:].reset_index(drop=True)
    assert (first["difference"] == -second["difference"]).all()
    assert (first["points"] == 1 - second["points"]).all()
    assert (first["deck"] == second["opponent_deck"]).all()
    won = ends[ends["points"] == 1]
    assert ((won["difference"] > 0) & (won["difference"] <= 30)).all(), "dead heroes have 0"
    assert set(first.groupby(["deck", "opponent_deck"]).size()) == {games // 4}


def test_who_does_not_play_compiled_games_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "health.csv"
    line = f"hero_health eva random --decks basic-mage --games 2 --out {out}"
    monkeypatch.setattr("sys.argv", line.split())
    with pytest.raises(SystemExit):
        main()
    assert "random does not play compiled games" in capsys.readouterr().err


@compiled
def test_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "health.csv"
    line = f"hero_health eva aggro --decks basic-mage --games 8 --out {out}"
    monkeypatch.setattr("sys.argv", line.split())
    main()
    assert pd.read_csv(out)["count"].sum() == 16
