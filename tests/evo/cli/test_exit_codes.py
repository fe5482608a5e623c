"""Exit codes, as docs/commands.md says: 2 for what was typed wrong, 1 for what files, folders and the machine say."""

import contextlib
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from evo.cli.main import COMMANDS, GROUPS, app
from evo.sessions import session
from evo.terminal.console import run_command_line

RUN = Path("tests/data/run").resolve()
DEFINED = "--games 2 --decks thesis-paladin --out new"
SWEPT = f"--against random {DEFINED}"

LINES = {
    "play": "random pass",
    "replay": "tour 0",
    "explain": "'hero 3 | hero 3'",
    "solve": "'hero 3 | hero 3'",
    "evolve": "quickstart --out new",
    "resume": "run",
    "study": "quickstart --runs 2 --out new",
    "runs": "runs",
    "export": "run --out new",
    "config show": "quickstart",
    "config schema": "",
    "learn": "learn --out new",
    "features": "learned",
    "tournament": f"random pass {DEFINED}",
    "sweep": f"ilp:keep-alive --weight face --values 1,2 {SWEPT}",
    "arena": "--games 2 --out new",
    "mulligan": "ilp:keep-alive --against random --games 8 --decks thesis-paladin --out new.toml",
    "ladder": "thesis-paladin thesis-warrior --games 2 --out new",
    "bench-optimisers": "quickstart --budget 20000 --seeds 1 --out new",
    "exploit": "ilp:keep-alive --budget 20000 --out new",
    "ablate": "ilp:keep-alive --games 2 --decks thesis-paladin --out new",
    "balance": "balance --out new",
    "verdict": "thesis-paladin --field thesis-warrior --players aggro --games 4 --out new",
    "cards": "thesis-paladin --field thesis-warrior --games 4 --out new",
    "crossplay": "run --out new",
    "report": "run --out new",
    "watch": "run",
    "serve": "runs --port 0",
    "predict": "'River Crocolisk'",
    "deck": "thesis-paladin",
    "card": "Wisp",
    "check-agent": "pass --games 2",
}
"""A right line of every command; wrong values of its options follow it."""

OPTIONS = {
    "--decks": [
        "thesis-paladn",
        "none.toml",
        "AAEB",
        "2019-04:AAEB",
        "bodies:thesis-paladin",
        "bodies:none.toml",
    ],
    "--edition": ["2019-04", "2018-07"],  # which is about no shipped deck
    "--seed": ["-1", "x"],
    "--ruleset": ["thesiss"],
    "--profile": ["keepalive", "none.toml", "none/run"],
    "--backend": ["gorubi"],
    "--program": ["thesi"],
    "--workers": ["-1", "x", "1000000000"],
    "--pool": ["rai"],
    "--address": ["nonsense", "auto --pool local"],
    "--set": ["sed=3", "seed", "seed=-1", "decks=", "decks=none", "agent=foo", "strategy=foo", "es.bounds=x"],
    "--generations": ["-1", "x", "2000000"],
    "--runs": ["0", "x"],
    "--parallel": ["-1"],
    "--top": ["0", "x"],
    "--games": ["-1", "x", "10000000000"],
    "--format": ["swiss"],
    "--seats": ["fix"],
    "--sprt": ["elo1=x", "elo=3", "elo0=5 elo1=1", "model=x"],
    "--weight": ["fase"],
    "--card": ["Wisp", "Whisp"],  # beside --weight
    "--keyword": ["taunt", "tant"],
    "--values": ["x", "0:1:0", "-1", "1,1"],
    "--against": ["randm", "ilp:none"],
    "--champion": ["randm", "ilp:none"],
    "--rounds": ["0", "x"],
    "--players": ["randm", "ilp:none"],
    "--player": ["randm", "ilp:none"],
    "--rival": ["randm", "ilp:none"],
    "--field": ["none", "none.toml"],
    "--every": ["0", "x"],
    "--class": ["mgae"],
    "--library": ["none", "file"],
    "--orders": ["0", "x"],
    "--budget": ["0", "x"],
    "--seeds": ["0", "x"],
    "--optimiser": ["foo", "es@deals", "es@dels=own", "cma@mu=20", "@"],
    "--test-decks": ["thesis-paladn", "none.toml"],
    "--watched": ["0", "x"],
    "--pairs": ["0", "x"],
    "--host": ["nowhere.invalid", "300.1.1.1", "''"],
    "--port": ["-1", "x", "70000"],
    "--opponent": ["random", "randm --play"],  # without --play
    "--allow-agent": ["random", "process:", "python:x"],
    "--toml": ["new.txt", "none/new.toml"],
    "--name": ["x"],  # without --toml
    "--limit": ["0", "x", "100000000"],
    "--ends": ["0", "x"],
    "--puzzles": ["0", "x", "3"],  # the last beside a position
    "--patch": ["Fireball", "'Firebal cost=1'", "'Fireball size=1'", "'Fireball cost=x'", "none.toml"],
    "--attribute": ["cost", "'cost --card Fireball'"],  # without a card; beside --weight
}
"""Wrong values of every option that takes one, but --out and --html: whether a place can be written is no matter of typing."""

OTHERS = {
    ("card", "--edition"): ["2019-04"],
    ("serve", "--decks"): ["basic-mage", "none.toml --play", "AAEB --play"],  # the first without --play
    ("serve", "--patch"): ["'Fireball cost=1'", "'Firebal cost=1' --play"],  # the first without --play
    ("serve", "--puzzles"): ["none.json", "none.json --play", "file --play"],  # the first without --play
    ("play", "--decks"): ["none", "thesis-paladin,none", "a,b,c", "''"],
    ("learn", "--set"): [
        *(
            "sed=3",
            "seed",
            "seed=-1",
            "decks=none",
            "decks=basic-mage,thesis-paladin",
            "method=x",
            "options=x=1",
        ),
        *("options=hands=known", "profile=none", "test.against=randm", "games=3", "td.lambda=2"),
    ],
    ("balance", "--set"): ["sed=3", "seed", "seed=-1", "decks=none", "games=3", "pilot=randm", "edits=3"],
    ("tournament", "--games"): ["0", "3", "x"],
    ("sweep", "--games"): ["0", "3", "x"],
    ("mulligan", "--games"): ["0", "4", "x"],
    ("ladder", "--games"): ["1", "3", "x"],
    ("crossplay", "--games"): ["1", "3", "x"],
    **{(name, "--decks"): [] for name in ("resume", "export", "report", "crossplay")},  # the run has all
}
"""Where the wrong values of a command's option are others."""

ARGUMENTS = [
    *(f"play {name} pass" for name in ("randm", "ilp:none", "ilp:none.toml", "ilp:runs", "ilp:keep-alive@no", "ilp:")),
    *("play random", "play random randm", "play random pass pass"),
    *("explain nonsense", "explain 'hero 0 | hero 3'", "explain 'hero 3 board [Yetti] | hero 3'"),
    *("solve", "solve nonsense", "solve 'hero 0 | hero 3'", "solve 'hero 3 hand [?] | hero 3'", "solve file"),
    *("solve --puzzles 1 --decks none --out new", "solve --puzzles 1 --seed -1 --out new", "solve --puzzles 1 'hero 3 | hero 3'", "solve --puzzles 1 --limit 5 --out new"),
    *("evolve quikstart", "evolve none.toml", "evolve quickstart --resume", "evolve"),
    *("resume none", "resume runs/none", "resume runs", "resume tour", "resume file", "resume"),
    *("study quikstart --runs 2", "study none.toml --runs 2", "study quickstart"),
    *("runs none", "runs file"),
    *("export none --out new", "export tour --out new", "export run"),
    *("config show quikstart", "config show none.toml", "config shw", "config"),
    *("learn quikstart", "learn none.toml", "learn", "features none", "features tour", "features"),
    f"tournament {DEFINED}",
    *(f"tournament {names} {DEFINED}" for names in ("randm pass", "random", "ilp:none pass", "'ilp:none*' pass")),
    *("tournament random pass --games 2", "tournament random pass --decks ,"),
    *(f"sweep {name} --weight face --values 1 {SWEPT}" for name in ("randm", "random", "")),
    *(f"sweep ilp:keep-alive {parts} {SWEPT}" for parts in ("--weight face", "--values 1")),
    *(f"sweep aggro {parts} {SWEPT}" for parts in ("--card Whisp --values 1", "--keyword taunt --values 31")),
    *("arena none", "arena none.toml"),
    *("bench-optimisers quikstart --budget 20000", "bench-optimisers quickstart", "bench-optimisers"),
    *("bench-optimisers quickstart --budget 20 --out new", "bench-optimisers quickstart --budget 20000 --games 3"),
    *("exploit randm", "exploit", "exploit random --budget 1000 --out new", "exploit random --set deals=foo"),
    *("balance", "balance none", "balance none.toml"),
    *("verdict", "verdict none --field thesis-paladin", "verdict thesis-paladin"),
    *("cards", "cards none --field thesis-paladin", "cards thesis-paladin", "cards random-minions --field thesis-paladin"),
    *("ablate random", "ablate ilp:none", "ablate", "ablate ilp:keep-alive --games 3"),
    *(f"mulligan {parts} --against random --out new.toml" for parts in ("random", "ilp:none", "ilp:keep-alive")),
    *(
        f"mulligan {name} --decks {deck} --against random --out {out}"
        for name, deck, out in (
            ("mcts", "thesis-paladin", "new.toml"),
            ("ilp:keep-alive", "random-minions", "new.toml"),
            ("ilp:keep-alive", "thesis-paladin", "new"),
            ("ilp:keep-alive", "thesis-paladin", "new.toml --ruleset hearthsim"),
        )
    ),
    *(f"ladder {names} --out new" for names in ("", "thesis-paladin", "thesis-paladin none", "a a")),
    *(f"{name} {runs}" for name in ("crossplay", "report", "watch") for runs in ("", "none", "tour", "file", "run run")),
    *("", "tornament", "play random pass --sed 3"),
    *(f"predict {rest}" for rest in ("'River Crocolsk'", "Wisp --accuracy", "--out new.png")),
    *("serve none", "serve file", "serve runs runs"),
    *(f"replay {rest}" for rest in ("", "tour", "none 0", "file 0", "run 0", "tour x", "tour -1")),
    *(f"check-agent {name}" for name in ("randm", "process:", "python:x", "'process:cat@seconds=0'", "", "random pass")),
    *("play random pass --bodies", f"tournament random pass {DEFINED} --any-deck"),
]  # fmt: skip
"""Lines with wrong or missing arguments, or options that a command does not have."""

REFUSED = [
    "play ilp:keep-alive@exact random --decks basic-mage",
    "tournament ilp:keep-alive@exact random --decks basic-mage --games 2 --out new",
    "sweep ilp:keep-alive@exact --weight face --values 1 --against random --decks basic-mage --games 2 "
    "--out new",
    "ladder basic-mage thesis-paladin --players ilp:keep-alive@exact --games 2 --out new",
]
"""Lines with a deck that one of the agents does not play."""

STATE = [
    *("evolve quickstart --out run", "evolve quickstart --out file", "evolve bad.toml --out new"),
    *("learn bad.toml --out new", "learn learn --out run", "learn learn --out file", "features learned"),
    *("resume bad", "resume run --decks thesis-paladin", "replay tour 0"),
    *("study quickstart --runs 2 --out run", "export run --out file", "export young --out new"),
    *(
        "export run --out new --top 99",
        "config show bad.toml",
        "play ilp:young pass",
        "play ilp:bad.toml pass",
    ),
    *(f"tournament random pass {DEFINED} --out run", f"tournament random pass {DEFINED} --decks bad.toml"),
    "mulligan ilp:keep-alive --decks thesis-paladin --against random --out bad.toml",
    "solve --puzzles 1 --out none/new.json",
    "solve --puzzles 1 --decks bad.toml --out new",
    *(
        "predict --library tour",
        "arena bad.toml",
        "report run --out none/x",
        "report bad",
        "crossplay run --out file",
    ),
]
"""Lines that are right, and which a file's content or a folder's state does not allow."""


def values_of_options() -> list[str]:
    """A line for each wrong value of each option of each command."""
    lines = []
    for command, line in LINES.items():
        found: Any = typer.main.get_command(app)
        for name in command.split():
            found = found.get_command(None, name)
        for one in found.params:
            if one.param_type_name == "option" and not one.is_flag and one.opts[0] not in ("--out", "--html"):
                values = OTHERS.get((command, one.opts[0]), OPTIONS[one.opts[0]])
                lines += [f"{command} {line} {one.opts[0]} {value}" for value in values]
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the lines find."""
    place = tmp_path_factory.mktemp("lines") / "folder"
    for name in ("run", "bad", "young"):
        shutil.copytree(RUN, place / name)
    (place / "young/champion.toml").unlink()
    (place / "bad/config.toml").write_text("gams = 3")
    (place / "bad.toml").write_text("gams = 3")
    (place / "runs").mkdir()
    (place / "tour").mkdir()
    (place / "tour/tournament.json").touch()
    (place / "file").touch()
    (place / "learned/rounds").mkdir(parents=True)
    (place / "learned/learning.toml").write_text("schema = 1")
    return place


@pytest.fixture
def code_of(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The exit code of a command line, in this process and a folder of its own, whose files are links."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, ".", copy_function=os.link, dirs_exist_ok=True)

    def code(line: str) -> int:
        monkeypatch.setattr(sys, "argv", ["manaforge", *shlex.split(line)])
        with pytest.raises(SystemExit) as ended:
            run_command_line(app, "manaforge")
        return int(ended.value.code or 0)

    return code


def test_every_command_has_a_line() -> None:
    assert set(LINES) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_a_help_text_is_a_right_command_line(name: str) -> None:
    first, second = COMMANDS[name].examples
    assert first != second
    for text in (first, second):
        words = shlex.split(text.partition(" > ")[0])
        command: Any = typer.main.get_command(app)
        for word in name.split():
            command = command.get_command(None, word)
            assert words.pop(0) == word
        command.make_context(name, words)


class ReadyError(Exception):
    """A command is about to start its workers: all that was typed was right."""


def examples_without_files() -> list[str]:
    """Examples that need no run, deck or agent of the reader."""
    others = ("play", "explain", "solve", "serve")  # they play, solve or serve
    return [
        text
        for name, entry in COMMANDS.items()
        for text in entry.examples
        if name not in others
        and not re.search(r"NAME|STUDY|TOURNAMENT|CODE|mybot|my-arena|runs/(A|learned)", text)
    ]


@pytest.mark.parametrize("text", examples_without_files())
def test_every_example_names_what_there_is(text: str, code_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def ready(*_: object, **__: object) -> None:
        raise ReadyError

    monkeypatch.setattr(session, "open_pool", ready)
    with contextlib.suppress(ReadyError):
        assert code_of(text.partition(" > ")[0]) == 0


@pytest.mark.parametrize("name", ["", *GROUPS, *COMMANDS])
def test_help_pages_have_every_word_and_no_emoji(
    name: str, code_of: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = COMMANDS[name].examples if name in COMMANDS else ()
    for width in (60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        assert code_of(f"{name} --help") == 0
        text = capsys.readouterr().out.replace("--no-clust…", "")  # a name: rich folds texts alone
        assert not set(re.sub("[╭╮╰╯─│]", "", text)) - set(map(chr, range(128))), "emoji, or words cut with …"
        for example in examples if width == 200 else ():
            assert f"manaforge {example}" in text


@pytest.mark.parametrize("line", [*values_of_options(), *ARGUMENTS])
def test_what_is_typed_wrong_ends_with_2(line: str, code_of: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(line) == 2
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1 or "Usage: " in said.err + said.out
    assert not Path("new").exists(), "nothing is begun"


@pytest.mark.parametrize("line", STATE)
def test_what_files_and_folders_do_not_allow_ends_with_1(
    line: str, code_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(line) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("line", REFUSED)
def test_agents_that_play_bodies_alone_refuse_decks_with_a_class_before_anything_is_begun(
    line: str, code_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(line) == 1
    assert (
        "does not support card effects, which decks with a class (such as basic-mage"
        in capsys.readouterr().err
    )
    assert not Path("new").exists()
