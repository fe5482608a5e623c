"""Run folders made by somebody with tools: contents that no run writes, with checksums that fit."""

import json
import os
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from engine import ManaforgeError
from evo.analysis.tables import read_runs
from evo.cli.main import app
from evo.storage.run_folder import RunError
from evo.tournament.folder import TournamentError
from evo.tournament.reading import read_tournament
from tests.faults import SAMPLE_OF_SCHEMA_1, SAMPLE_TOURNAMENT, marks
from tests.faults.fuzz import forget_peak, judge, megabytes_of, run_here
from tests.faults.mutate import fit_checksums, with_text, write_many

pytestmark = marks

EVIL_NAME = "[/red]\x1b[2J\x1b]0;x\x07"


def replaced(name: str, pattern: str, new: str) -> Callable[[Path], None]:
    """In a text file, the first match of a pattern replaced."""

    def make(run: Path) -> None:
        text = (run / name).read_text()
        changed = re.sub(pattern, lambda _: new, text, count=1, flags=re.M)
        assert changed != text
        (run / name).write_text(changed)

    return make


def column(file: str, name: str, change: Callable[[list], list]) -> Callable[[Path], None]:
    """In a table, the values of a column changed."""

    def make(run: Path) -> None:
        table = pq.read_table(run / file)
        place, metadata = table.column_names.index(name), table.schema.metadata
        values = change(table.column(name).to_pylist())
        pq.write_table(
            table.set_column(place, name, pa.array(values)).replace_schema_metadata(metadata), run / file
        )

    return make


def indexed(run: Path) -> None:
    """The metadata of pandas name a column as the index, as other programs write it."""
    table = pq.read_table(run / "final.parquet")
    other = pa.Table.from_pandas(table.to_pandas().set_index("candidate"))
    pq.write_table(
        other.replace_schema_metadata({**table.schema.metadata, **other.schema.metadata}),
        run / "final.parquet",
    )


def without(file: str, name: str) -> Callable[[Path], None]:
    """A table without one of its columns."""

    def make(run: Path) -> None:
        pq.write_table(pq.read_table(run / file).drop_columns([name]), run / file)

    return make


def bomb(run: Path) -> None:
    """Eight million rows in some kilobytes."""
    write_many(pq.read_table(run / "final.parquet"), 8_000_000, run / "final.parquet")


def long_text(run: Path) -> None:
    """A text of 70 MB in each row of two tables, in some kilobytes."""
    for file, name in (("final.parquet", "candidate"), ("pairings/0002.parquet", "deck")):
        table = with_text(pq.read_table(run / file), name, 70_000_000)
        pq.write_table(table, run / file, compression="zstd")


def grown(run: Path) -> None:
    """A configuration of so many individuals that four million pairings fit it."""
    text = (run / "config.toml").read_text()
    (run / "config.toml").write_text(re.sub(r"^(mu|lambda) = .*", r"\1 = 10000", text, flags=re.M))
    file = run / "pairings" / "0002.parquet"
    write_many(pq.read_table(file), 4_000_000, file)


def short(run: Path) -> None:
    lines = (run / "checksums.txt").read_text().splitlines(keepends=True)
    (run / "checksums.txt").write_text("".join(lines[:-1]))


def fifo(name: str) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return make


def huge(name: str) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        with (run / name).open("ab") as file:
            file.truncate(3 * 2**30)

    return make


def first(value: object) -> Callable[[list], list]:
    return lambda values: [value, *values[1:]]


def dictionary(run: Path) -> None:
    """One text of a megabyte for every row of a column, in some kilobytes."""
    text = (run / "config.toml").read_text()
    (run / "config.toml").write_text(re.sub(r"^mu = .*", "mu = 2000", text, flags=re.M))
    table = pq.read_table(run / "final.parquet")
    many = table.take(pa.array([0] * 4_000))
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 4_000, pa.int32()), pa.array(["x" * 10**6]))
    many = many.set_column(many.column_names.index("candidate"), "candidate", texts)
    pq.write_table(many.replace_schema_metadata(table.schema.metadata), run / "final.parquet")


def log(line: str) -> Callable[[Path], None]:
    """A run that has not ended, with a line in its log."""

    def make(run: Path) -> None:
        (run / "champion.toml").unlink()
        (run / "log.jsonl").write_text(line + "\n")

    return make


def waiting_log(run: Path) -> None:
    (run / "champion.toml").unlink()
    fifo("log.jsonl")(run)


CASES: dict[str, Callable[[Path], None]] = {
    "markup in the final": column("final.parquet", "candidate", first(EVIL_NAME)),
    "markup in the champion": replaced("champion.toml", r"^candidate = .*", 'candidate = "[/red]\\u001b[2J"'),
    "a number of 401 digits": replaced("champion.toml", r"^games = \d+", "games = 1" + "0" * 400),
    "a date for a rate": replaced("champion.toml", r"^win_rate = .*", "win_rate = 1979-05-27"),
    "a list for a bound": replaced("champion.toml", r"^low = .*", "low = [1]"),
    "a date for a name": replaced("champion.toml", r"^candidate = .*", "candidate = 1979-05-27"),
    "a list for a version": replaced("champion.toml", r"^manaforge = .*", "manaforge = [1]"),
    "an index of pandas": indexed,
    "candidates that nobody knows": column(
        "final.parquet", "candidate", lambda values: [f"nobody {n}" for n in range(len(values))]
    ),
    "a final of nobody": without("final.parquet", "candidate"),
    "pairings without decks": without("pairings/0002.parquet", "deck"),
    "a rank of -1e300": column("final.parquet", "rank", first(-1e300)),
    "a survivor's rank of -1e300": column(
        "generations/0003.parquet",
        "rank",
        lambda values: [-1e300 if value == 2 else value for value in values],
    ),
    "wins beyond all numbers": column("pairings/0002.parquet", "wins", first(2**62)),
    "eight million rows": bomb,
    "a megabyte in every row": dictionary,
    "70 MB in every row": long_text,
    "four million pairings that fit the configuration": grown,
    "a log of an infinite generation": log(
        '{"time": "2099-01-01T00:00:00", "event": "generation", "generation": 1e400, "seconds": 1}'
    ),
    "a log of endless seconds": log(
        '{"time": "2099-01-01T00:00:00", "event": "generation", "generation": 1, "seconds": 1e300}'
    ),
    "a log that waits": waiting_log,
    "a deck with too long a name": replaced("config.toml", '"thesis-paladin"', '"' + "a" * 300 + '.toml"'),
    "a line short": short,
    "a form feed": replaced("checksums.txt", "\n", "\f\n"),
    "dots": replaced("config.toml", r"\A", ".".join(["a"] * 20_000) + " = 1\n"),
    "a deck that is a device": replaced("config.toml", '"thesis-paladin"', '"/dev/zero.toml"'),
    "a deck that is a folder": replaced("config.toml", '"thesis-paladin"', '"/dev/"'),
    "a deck that waits": replaced("config.toml", '"thesis-paladin"', '"fifo.toml"'),
    **{
        f"a FIFO for {name}": fifo(name)
        for name in ("config.toml", "manifest.json", "checksums.txt", "champion.toml")
    },
    **{
        f"a FIFO for {name}": fifo(name)
        for name in ("final.parquet", "generations/0002.parquet", "lock", "log.jsonl")
    },
    **{
        f"3 GB of {name}": huge(name)
        for name in ("config.toml", "manifest.json", "checksums.txt", "champion.toml", "final.parquet")
    },
}

COMMANDS = [
    ["runs", "run"],
    ["watch", "run", "--once"],
    ["export", "run", "--out", "best", "--top", "3"],
    ["export", "run", "--out", "medoids", "--clusters"],
    ["play", "ilp:run", "aggro"],
    ["resume", "run", "--pool", "local", "--workers", "1"],
]


@pytest.fixture(scope="module", autouse=True)
def compiled_and_imported() -> None:
    """What a first command takes long for is no hang of a later one."""
    for words in (["play", "ilp:keep-alive", "aggro"], ["export", "run", "--out", "none"], ["watch", "run"]):
        CliRunner().invoke(app, words)


@pytest.mark.parametrize("case", CASES)
def test_every_command_ends_with_our_errors_and_shows_names_as_text(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree(SAMPLE_OF_SCHEMA_1, "run")
        if not Path("fifo.toml").exists():
            os.mkfifo("fifo.toml")
        CASES[case](Path("run"))
        fit_checksums(Path("run"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ended = run_here(command)
        assert not judge(ended), command


@pytest.mark.parametrize("name", ["=cmd|'/c calc'!A1", "+x", "-x", "@x"])
def test_a_name_is_no_formula_in_a_spreadsheet(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = Path(__file__).parents[2] / "engine" / "data" / "decks" / "thesis-paladin.toml"
    Path("deck.toml").write_text(source.read_text().replace('name = "thesis-paladin"', f'name = "{name}"'))
    words = ["tournament", "aggro", "ilp:keep-alive", "--decks", "deck.toml", "--games", "2", "--out", "t"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    for file in Path("t").glob("*.csv"):
        for line in file.read_text().splitlines():
            assert not [cell for cell in line.split(",") if cell.strip('"').startswith(name)]
    assert f"'{name}" in Path("t/decks.csv").read_text()


def test_games_that_cannot_have_ended_so_are_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "tournament",
        "aggro",
        "ilp:keep-alive",
        "--decks",
        "hearthsim-basic",
        "--games",
        "4",
        "--out",
        "t",
    ]
    whole = CliRunner().invoke(app, words)
    ratings = Path("t/ratings.csv").read_text()
    for name, value in (
        ("turns", 0),
        ("turns", 30_000),
        ("unproven", -1),
        ("outcome", "won"),
        ("fault", "none"),
    ):
        column("games.parquet", name, lambda values, value=value: [value, *values[1:]])(Path("t"))
        again = CliRunner().invoke(app, words)
        assert again.exit_code == whole.exit_code == 0, again.output
        assert "games.parquet is damaged" in again.output
        assert Path("t/ratings.csv").read_text() == ratings
    more = [word if word != "4" else "2" for word in words]
    refused = CliRunner().invoke(app, more)
    assert isinstance(refused.exception, ManaforgeError)
    assert "use the former --games or more" in str(refused.exception)
    assert Path("t/games.parquet").exists()


def whole(content: dict[str, Any]) -> None:
    """A definition that says nothing wrong: it leaves place for any number of games."""
    content["games"] = 10**9


def huge_rounds(content: dict[str, Any]) -> None:
    """A definition whose first round alone has 10**12 games."""
    entrant, deck = content["entrants"][0], content["decks"][0]
    content["entrants"] = [entrant | {"entrant": f"{place}"} for place in range(1_000)]
    content["decks"] = [deck | {"deck": f"{place}"} for place in range(1_000)]
    content["self_matches"] = []


@pytest.mark.parametrize(
    ("rows", "define", "told"),
    [(20_000_000, whole, "can have 3,000,000 at most"), (2, huge_rounds, "can have 3,000,000 at most")],
)
def test_a_tournament_made_with_tools_takes_little_memory(
    rows: int, define: Callable[[dict[str, Any]], None], told: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(SAMPLE_TOURNAMENT, tmp_path / "t")
    content = json.loads((folder / "tournament.json").read_text())
    define(content)
    (folder / "tournament.json").write_text(json.dumps(content))
    table = pq.read_table(folder / "games.parquet")
    if rows > len(table):
        write_many(table, rows, folder / "games.parquet")
    else:
        pq.write_table(table.slice(0, rows), folder / "games.parquet")
    before = forget_peak()
    with pytest.raises(TournamentError, match=told):
        read_tournament(folder)
    assert megabytes_of("VmHWM") - before < 1_000
    assert "t" in run_here(["runs", str(tmp_path)]).said.decode()


def test_a_batch_whose_name_promises_any_number_of_games_is_not_read(tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLE_TOURNAMENT, tmp_path / "t")
    content = json.loads((folder / "tournament.json").read_text()) | {"games": 10**9}
    (folder / "tournament.json").write_text(json.dumps(content))
    played = len(pq.read_table(folder / "games.parquet"))
    (folder / "batches").mkdir()
    (folder / "batches" / f"{played:010d}-{10**9:010d}.parquet").write_bytes(b"")
    with pytest.raises(TournamentError, match="can have 3,000,000 at most"):
        read_tournament(folder)


def test_more_games_than_a_folder_holds_are_refused_before_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "tournament",
        "aggro",
        "random",
        "--decks",
        "hearthsim-basic",
        "--games",
        str(10**9),
        "--out",
        "t",
    ]
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, TournamentError)
    assert "play fewer games" in str(refused.exception)
    assert not Path("t").exists()


def test_runs_of_more_numbers_than_can_be_read_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_runs([SAMPLE_OF_SCHEMA_1])
    monkeypatch.setattr("evo.analysis.tables.MOST_CELLS", 1_000)
    with pytest.raises(RunError, match="give fewer runs"):
        read_runs([SAMPLE_OF_SCHEMA_1])
    assert whole.individuals.size > 1_000
