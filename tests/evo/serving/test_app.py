"""The server over HTTP: what it shows is what the tables say, and strangers are refused."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from evo.analysis.listing import run_row
from evo.analysis.tables import best_individuals, last_population, read_runs, shares_of, wins_by_decks
from evo.serving import folders
from evo.serving.folders import RUN, Catalogue
from evo.serving.guard import COOKIE, POLICY
from evo.serving.rundata import run_numbers
from tests.evo.serving.servers import served
from tests.waiting import Clock

EXAMPLE = Path("tests/data/run").resolve()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with an example run, an empty one, a damaged one, and one of an evil name."""
    root = tmp_path / "runs"
    shutil.copytree(EXAMPLE, root / "example")
    shutil.copytree(EXAMPLE, root / "study" / "00")
    shutil.copytree(EXAMPLE, root / "<img src=x onerror=alert(1)>")
    (root / "broken").mkdir()
    (root / "broken" / "config.toml").write_text("schema = [")
    (tmp_path / "secret").mkdir()
    shutil.copytree(EXAMPLE, tmp_path / "secret" / "run")
    (root / "out").symlink_to(tmp_path / "secret" / "run")
    (root / "linked").mkdir()
    for entry in (tmp_path / "secret" / "run").iterdir():
        (root / "linked" / entry.name).symlink_to(entry)
    shutil.copytree(EXAMPLE, root / "half")
    shutil.rmtree(root / "half" / "generations")
    (root / "half" / "generations").symlink_to(tmp_path / "secret" / "run" / "generations")
    with suppress(OSError):  # not every file system has such names
        shutil.copytree(EXAMPLE, root / os.fsdecode(b"\xff\xfe"))
    return root


def test_the_list_names_every_run_and_what_is_wrong(runs: Path) -> None:
    with served(runs) as asked:
        status, headers, body = asked.get("/")
        while b"still to be read" in body:
            status, headers, body = asked.get("/")
    text = body.decode()
    assert status == 200
    assert headers["content-security-policy"] == POLICY
    assert "<script>" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "<img" not in text
    assert "study/00" in text
    assert "unreadable" in text
    assert 'href="/run/out"' not in text


def test_numbers_are_those_of_the_tables(runs: Path) -> None:
    with served(runs) as asked:
        status, _, body = asked.get("/numbers/example")
    numbers = json.loads(body)
    assert status == 200
    found = read_runs([runs / "example"])
    own = found.individuals
    last = own[own["generation"] == own["generation"].max()]
    survivors = last[last["survived"]]
    for place, column in enumerate(shares_of(own)):
        quartiles = [values[-1] for values in numbers["weights"]["quartiles"][place]]
        assert quartiles == pytest.approx(np.quantile(survivors[column], (0, 0.25, 0.5, 0.75, 1)))
    best = best_individuals(own)
    for name, column in zip(numbers["weights"]["names"], shares_of(own), strict=True):
        assert numbers["weights"]["best"][name] == pytest.approx(best[column].to_list())
    assert numbers["generation"] == int(own["generation"].max())
    decks = numbers["decks"]["names"]
    scores = wins_by_decks(last_population(own), decks)
    assert numbers["decks"]["scores"] == [pytest.approx(scores.loc[deck].to_list()) for deck in decks]
    birth = pd.Series([node["birth"] for node in numbers["lineage"]])
    assert birth.is_monotonic_increasing
    assert {parent for node in numbers["lineage"] for parent in node["parents"]} <= {
        node["individual"] for node in numbers["lineage"]
    }


@pytest.mark.parametrize(
    "path",
    [
        "/run/out",
        "/numbers/linked",
        "/run/half",
        "/numbers/out",
        "/run/../secret/run",
        "/numbers/..%2Fsecret%2Frun",
        "/run/%2Fetc",
        "/numbers/example%00",
        "/static/../app.py",
        "/static/..%2Fapp.py",
        "/board/../page.py",
        f"/run/{quote('x' * 5000)}",
        "/nix",
    ],
)
def test_nothing_outside_the_folder_is_shown(runs: Path, path: str) -> None:
    with served(runs) as asked:
        assert asked.get(path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_it_only_shows(runs: Path, method: str) -> None:
    with served(runs) as asked:
        assert asked.get("/", method)[0] == 405


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
        {"Origin": "http://["},
    ],
)
def test_other_origins_and_names_are_refused(runs: Path, headers: dict[str, str]) -> None:
    with served(runs) as asked:
        assert asked.get("/numbers/example", **headers)[0] == 403
        own = {"Origin": f"http://127.0.0.1:{asked.port}", "Sec_Fetch_Site": "same-origin"}
        assert asked.get("/numbers/example", **own)[0] == 200


def test_with_a_token_every_request_needs_it(runs: Path) -> None:
    with served(runs, "right") as asked:
        for path, cookie in (
            ("/", ""),
            ("/?token=wrong", ""),
            ("/", f"{COOKIE}_{asked.port}=wrong"),
            ("/static/app.js", ""),
        ):
            assert asked.get(path, Cookie=cookie)[0] == 403
        status, headers, _ = asked.get("/compare?run=example&token=right&run=x")
        assert (status, headers["location"]) == (303, "/compare?run=example&run=x")
        cookie = f"{COOKIE}_{asked.port}=right"
        assert headers["set-cookie"].startswith(f"{cookie}; HttpOnly")
        assert "SameSite=strict" in headers["set-cookie"]
        assert asked.get("/numbers/example", Cookie=cookie)[0] == 200


def test_runs_that_are_damaged_or_deleted_meanwhile_are_told(runs: Path) -> None:
    run = runs / "example"
    with served(runs) as asked:
        assert "unreadable" not in json.loads(asked.get("/numbers/example")[2])
        last = max((run / "generations").iterdir())
        last.write_bytes(last.read_bytes()[:100])
        status, _, body = asked.get("/numbers/example")
        assert status == 200
        told = json.loads(body)
        assert told.get("unreadable") or told["problems"]
        (run / "config.toml").write_text("seed = ")
        assert "unreadable" in json.loads(asked.get("/numbers/example")[2])
        shutil.rmtree(run)
        status, _, body = asked.get("/numbers/example")
        assert status == 404
        assert json.loads(body)["unreadable"]
        assert asked.get("/")[0] == 200


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lethal = ", "lethal = inf #"),
        ("win_rate = ", "win_rate = 1979-05-27 #"),
        ("candidate = ", 'candidate = "individual \u00b2" #'),
        ("win_rate = ", "win_rate = nan #"),
    ],
)
def test_a_strangers_champion_is_shown_as_far_as_it_goes(runs: Path, before: str, after: str) -> None:
    file = runs / "example" / "champion.toml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    with served(runs) as asked:
        status, _, body = asked.get("/numbers/example")
        assert status == 200
        json.loads(body, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert asked.get("/")[0] == 200


def test_a_run_before_its_first_generation_has_a_page(runs: Path) -> None:
    run = runs / "example"
    for folder in ("generations", "pairings", "validation"):
        shutil.rmtree(run / folder, ignore_errors=True)
    for name in ("champion.toml", "final.parquet", "checksums.txt"):
        (run / name).unlink(missing_ok=True)
    numbers = run_numbers(run)
    assert numbers["generation"] == -1
    assert "weights" not in numbers


@pytest.mark.parametrize("mark", [folders.RUN, folders.TOURNAMENT])
def test_a_folder_that_goes_while_it_is_read_ends_nothing(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / mark).write_text("{}")

    def going(path: Path) -> folders.Signature:
        shutil.rmtree(path)
        return folders.Signature()

    monkeypatch.setattr(folders, "signature_of", going)
    listed = Catalogue(tmp_path).listed()
    (row,) = (*listed.runs, *listed.tournaments)
    assert (row["state"], row["began"]) == ("unreadable", "")


def bare_runs(root: Path, count: int) -> None:
    """Runs before their first generation."""
    text = (EXAMPLE / "config.toml").read_text()
    for number in range(count):
        (root / f"{number:04d}").mkdir()
        (root / f"{number:04d}" / "config.toml").write_text(text)


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """By a clock of the test's own, reading a run takes a hundredth of the time that there is for all."""
    clock = Clock()

    def read(path: Path, name: str) -> dict[str, Any]:
        clock.now += folders.SECONDS_TO_READ / 100
        return run_row(path, name)

    monkeypatch.setattr(folders, "time", clock)
    monkeypatch.setattr(folders, "run_row", read)
    return clock


def test_a_thousand_runs_are_named_at_once_and_read_bit_by_bit(tmp_path: Path, slow_disk: Clock) -> None:
    bare_runs(tmp_path, 1000)
    catalogue, left = Catalogue(tmp_path), []
    while (not left or left[-1]) and len(left) < 20:
        listed = catalogue.listed()
        assert len(listed.runs) == 1000
        assert sum("generation" not in row for row in listed.runs) == listed.waiting
        left.append(listed.waiting)
    assert left == pytest.approx(range(900, -1, -100), abs=10)
    assert catalogue.find("0007", RUN) == (tmp_path / "0007").resolve()


def test_a_folder_is_read_however_long_it_takes_to_look_at_the_others(
    tmp_path: Path, slow_disk: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(path: Path) -> folders.Signature:
        slow_disk.now += 2 * folders.SECONDS_TO_READ
        return signature_of(path)

    signature_of = folders.signature_of
    monkeypatch.setattr(folders, "signature_of", looked_at)
    bare_runs(tmp_path, 5)
    catalogue = Catalogue(tmp_path)
    assert [catalogue.listed().waiting for _ in range(5)] == [4, 3, 2, 1, 0]
