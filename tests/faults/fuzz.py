"""A fuzzer over every kind of file and every command: no traceback, no hang, no escape code, bounded memory.

    python -m tests.faults.fuzz --cases 20000 --processes 500

A case is a number: it always makes the same files and words. Most run in this process through the functions
of the commands; some as processes of their own. What fails is printed with its case, which alone is run again
by `--only CASE`.
"""

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from typer.testing import CliRunner

from evo.cli.main import app
from evo.cli.main import main as main_program
from evo.serving.app import make_app
from evo.serving.guard import COOKIE_PREFIX
from tests.faults.mutate import NAMES, NUMBERS, change, change_toml, fit_checksums
from tests.faults.program import run_program
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0
"""A case that computes for longer is a hang: the processor's time, a hundred times what any case needs."""

WAIT = HANG
"""A case that lasts longer is a hang, on a busy machine too."""

MEGABYTES = 2_048
"""Memory of a case at its most."""

POSITION = "turn 6 first | hero 24 mana 6 board [2:2/3 ready] hand [The Coin] | hero 9+2 board [1/3T]"

RUN_COMMANDS = [
    (24, ["runs", "."]),
    (24, ["watch", "RUN", "--once"]),
    (24, ["export", "RUN", "--out", "profiles", "--top", "3"]),
    (12, ["export", "RUN", "--out", "medoids", "--clusters"]),
    (24, ["resume", "RUN", "--pool", "local", "--workers", "1"]),
    (16, ["play", "ilp:RUN", "aggro"]),
    (12, ["explain", POSITION, "--profile", "RUN"]),
    (1, ["report", "RUN", "--workers", "1"]),
    (1, ["crossplay", "RUN", "--pool", "local", "--out", "cross"]),
    (
        12,
        ["evolve", "RUN/config.toml", "--set", "generations=0", "--set", "final.games=0", "--pool", "local"],
    ),
]
TOURNAMENT_COMMANDS = [
    (3, ["runs", "."]),
    (
        5,
        [
            "tournament",
            "ilp:keep-alive",
            "aggro",
            "--decks",
            "hearthsim-basic",
            "--games",
            "20",
            "--out",
            "TOURNAMENT",
        ],
    ),
]
SETS = ("decks=thesis-paladin,random-minions", "options=4", "rounds=2", "games=200", "test.games=4")
LEARN = ["learn", "learn", "--workers", "1", "--out", "LEARNING"]
LEARN += [word for text in (*SETS, "test.against=eva") for word in ("--set", text)]
LEARNING_COMMANDS = [
    (6, ["runs", "."]),
    (3, LEARN),
    (1, ["features", "LEARNING", "--games", "2", "--no-alone", "--workers", "1"]),
    (2, ["play", "lookahead:LEARNING/profile.toml", "aggro", "--decks", "hearthsim-basic"]),
]
SMALL = ["--games", "2", "--pool", "local", "--workers", "1", "--out", "EXPERIMENT"]
EXPERIMENTS = {
    "ablation": ["ablate", "ilp:keep-alive", "--decks", "hearthsim-basic", *SMALL],
    "optimisers": [
        *("bench-optimisers", "quickstart", "--budget", "60", "--seeds", "1", "--optimiser", "es"),
        *("--against", "random", "--set", "mu=2", "--set", "games=2", *SMALL),
    ],
}
VALIDATED = ["evolve", "quickstart", "--pool", "local", "--workers", "1", "--out", "validated"]
VALIDATED += [
    word
    for text in ("generations=1", "mu=2", "games=2", "final.games=2", "validation.every=1")
    for word in ("--set", text)
]
CHARTS = ["charts"]
"""Stands for the pages of the server, which are asked for in this process."""

BUSY = 503
"""The status of a page that is to be asked for later."""

TOKEN = "of-the-server"

ADDRESSES = [
    *("/", "/run/validated", "/numbers/validated", "/compare?run=validated"),
    *(f"/{page}/tournament" for page in ("tournament", "standings", "games", "game/0", "download/0")),
]

FILE_COMMANDS = {
    "deck.toml": [
        ["play", "aggro", "aggro", "--decks", "FILE"],
        ["ladder", "FILE", "hearthsim-basic", "--games", "2"],
    ],
    "profile.toml": [["play", "ilp:FILE", "aggro"], ["explain", POSITION, "--profile", "FILE"]],
    "config.toml": [
        ["config", "show", "FILE"],
        ["evolve", "FILE", "--set", "generations=0", "--set", "final.games=0"],
    ],
    "arena.toml": [["arena", "FILE", "--games", "2", "--out", "arena"]],
}
WORDS = [
    ["play", "ilp:keep-alive", "aggro", "--seed", "1", "--decks", "hearthsim-basic", "--ruleset", "thesis"],
    ["explain", POSITION, "--profile", "keep-alive", "--backend", "exact"],
    [
        "tournament",
        "aggro",
        "ilp:keep-alive",
        "--decks",
        "hearthsim-basic",
        "--games",
        "2",
        "--seats",
        "paired",
    ],
    [
        "sweep",
        "hearthsim",
        "--weight",
        "health",
        "--values",
        "0:1:0.5",
        "--against",
        "aggro",
        "--decks",
        "hearthsim-basic",
        "--games",
        "2",
    ],
    *(
        ["sweep", "aggro", *varied, "--against", "aggro", "--decks", "random-minions", "--games", "2"]
        for varied in (
            ("--card", "Holy Smite", "--values", "0,2"),
            ("--keyword", "taunt", "--values", "0:30:15"),
        )
    ),
    ["ladder", "hearthsim-basic", "thesis-paladin", "--games", "2"],
    [
        "evolve",
        "quickstart",
        "--set",
        "generations=0",
        "--set",
        "mu=2",
        "--set",
        "games=2",
        "--set",
        "final.games=0",
        "--out",
        "new",
    ],
    ["config", "show", "quickstart"],
    ["runs", "."],
]


class HangError(Exception):
    """A case took too long."""


def prepare(folder: Path) -> None:
    """A small run and a small tournament to start from, and every kernel compiled: no case is to wait for it."""
    shutil.copytree(ROOT / "tests" / "data" / "run", folder / "run")
    with contextlib.chdir(folder):
        for words in [TOURNAMENT_COMMANDS[-1][1], *WORDS]:
            done = CliRunner().invoke(app, ["tournament" if word == "TOURNAMENT" else word for word in words])
            assert done.exit_code == 0, done.output
        made = {"learning": LEARN, "validated": VALIDATED, **EXPERIMENTS}
        for name, words in made.items():
            named = [name if word in ("LEARNING", "EXPERIMENT") else word for word in words]
            done = CliRunner().invoke(app, named)
            assert done.exit_code == 0, done.output


def copied(chance: random.Random, samples: Path, place: Path, name: str, often: list[str]) -> Path:
    """A copy of a sample, of which one file or two are made wrong, those named `often` more than others."""
    folder = Path(shutil.copytree(samples / name, place / name))
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for _ in range(chance.choice([1, 1, 1, 2])):
        file = chance.choice([*(folder / one for one in often), *files])
        if file.is_file():
            change(chance, file)
    return folder


def show_charts() -> None:
    """Ask for the pages of the run and the tournament in the current folder, as a browser does."""
    pages = make_app(Path(), TOKEN)
    for address in ADDRESSES:
        status = asyncio.run(_status(pages, address))
        print(address, status)
        if status >= 500 and status != BUSY:
            sys.exit(70)


async def _status(pages: Starlette, address: str) -> int:
    path, _, query = address.partition("?")
    scope = {
        **{"type": "http", "http_version": "1.1", "method": "GET", "scheme": "http"},
        "headers": [(b"cookie", f"{COOKIE_PREFIX}_80={TOKEN}".encode())],
        **{"path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": ""},
        "server": ("127.0.0.1", 80),
    }
    found: list[int] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        found.extend([message["status"]] if message["type"] == "http.response.start" else [])

    await pages(scope, receive, send)  # type: ignore[arg-type]
    return found[0]


def make_case(number: int, seed: int, samples: Path, place: Path) -> list[str]:
    """The words of a case, and its files in `place`, the current folder of the command."""
    chance = random.Random(f"{seed} {number}")
    kind = chance.random()
    if kind < 0.4:
        run = copied(chance, samples, place, "run", ["champion.toml", "final.parquet", "config.toml"])
        if chance.random() < 0.8:
            fit_checksums(run)
        return _weighted(chance, RUN_COMMANDS, {"RUN": "run"})
    if kind < 0.5:
        copied(chance, samples, place, "tournament", [])
        return _weighted(chance, TOURNAMENT_COMMANDS, {"TOURNAMENT": "tournament"})
    if kind < 0.62:
        learning = copied(chance, samples, place, "learning", [])
        if chance.random() < 0.8:
            fit_checksums(learning)
        return _weighted(chance, LEARNING_COMMANDS, {"LEARNING": "learning"})
    if kind < 0.7:
        name = chance.choice(sorted(EXPERIMENTS))
        experiment = copied(chance, samples, place, name, [])
        if chance.random() < 0.8:
            fit_checksums(experiment)
        return _weighted(chance, [(1, ["runs", "."]), (2, EXPERIMENTS[name])], {"EXPERIMENT": name})
    if kind < 0.78:
        validations = [f"validation/{number:04d}.parquet" for number in range(2)]
        fit_checksums(
            copied(chance, samples, place, "validated", ["config.toml", "champion.toml", *validations])
        )
        copied(chance, samples, place, "tournament", [])
        return CHARTS
    if kind < 0.9:
        name = chance.choice(list(FILE_COMMANDS))
        source = {
            "deck.toml": ROOT / "engine/data/decks/thesis-paladin.toml",
            "profile.toml": ROOT / "configs/profiles/keep-alive.toml",
            "config.toml": ROOT / "configs/quickstart.toml",
            "arena.toml": ROOT / "configs/arena.toml",
        }[name]
        shutil.copy(source, place / name)
        (change_toml if chance.random() < 0.5 else change)(chance, place / name)
        return [word.replace("FILE", name) for word in chance.choice(FILE_COMMANDS[name])]
    words = list(chance.choice(WORDS))
    for _ in range(chance.randint(1, 2)):
        spot = chance.randrange(1, len(words))
        odd = chance.choice(
            [*NAMES, *map(str, NUMBERS), words[spot] + chance.choice(NAMES), words[spot][::-1]]
        )
        words[spot] = odd.replace("\x00", "") if chance.random() < 0.9 else words[spot]
    return words


def _weighted(
    chance: random.Random, commands: list[tuple[int, list[str]]], names: dict[str, str]
) -> list[str]:
    words = chance.choices([words for _, words in commands], [weight for weight, _ in commands])[0]
    for text, name in names.items():
        words = [word.replace(text, name) for word in words]
    return words


class Case(NamedTuple):
    """What a case did.

    Attributes:
        said: the bytes that the program printed.
        wrong: what is wrong with how it ended; "" for nothing.
        megabytes: memory that it used: in this process more than before, in one of its own in all.
        seconds: of the processor, in this process.
    """

    said: bytes
    wrong: str
    megabytes: float = 0.0
    seconds: float = 0.0


def run_here(words: list[str]) -> Case:
    """Run the program in this process."""

    def hang(*_: object) -> None:
        raise HangError

    clocks = ((signal.SIGALRM, signal.ITIMER_REAL, WAIT), (signal.SIGPROF, signal.ITIMER_PROF, SECONDS))
    handlers = [signal.signal(number, hang) for number, _, _ in clocks]
    before, began, wrong, code, said = forget_peak(), time.process_time(), "", 0, b""
    with tempfile.TemporaryFile() as printed:
        for _, clock, seconds in clocks:
            signal.setitimer(clock, seconds)
        try:
            code = run_program(words, printed, show_charts if words == CHARTS else main_program).code
        except Exception as error:  # a traceback
            wrong = f"{type(error).__name__}: {str(error)[:300]}"
        finally:
            for (number, clock, _), handler in zip(clocks, handlers, strict=True):
                signal.setitimer(clock, 0)
                signal.signal(number, handler)
        printed.seek(0)
        said = printed.read()
    spent = time.process_time() - began
    return Case(said, wrong or wrong_with(code, said), megabytes_of("VmHWM") - before, spent)


def wrong_with(code: int, said: bytes) -> str:
    """What is wrong with how a program ended; "" for nothing."""
    wrong = b"Traceback (most recent call last)" in said or code not in (0, 1, 2, 3)
    return f"code {code}: {said[-400:].decode('utf-8', 'replace')}" if wrong else ""


def megabytes_of(kind: str, status: str = "") -> float:
    """A line of proc_pid_status(5) in MB, such as VmRSS or, at its most, VmHWM; 0 where there is none."""
    try:
        text = status or Path("/proc/self/status").read_text(errors="replace")
    except OSError:
        return 0.0
    found = re.search(rf"^{kind}:\s+(\d+) kB$", text, re.M)
    return int(found[1]) / 1024 if found else 0.0


def forget_peak() -> float:
    """Let VmHWM begin again at the memory in use, in MB, so that a case is judged by its own."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return megabytes_of("VmRSS")


PROCESS = """
import shutil
from evo.cli.main import main
try:
    main()
finally:
    try:
        shutil.copy("/proc/self/status", STATUS)
    except OSError:
        pass
"""
"""The program; at its end it leaves its status, whose peak is of this program alone (that of rusage is not)."""


def run_process(words: list[str], place: Path) -> Case:
    """Run the program as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    with tempfile.TemporaryDirectory(prefix="fuzz-status-") as name:
        status = Path(name) / "status"
        program = PROCESS.replace("STATUS", repr(str(status)))
        try:
            done = subprocess.run(
                [sys.executable, "-c", program, *words],
                cwd=place,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=WAIT,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return Case(late.stdout or b"", HangError.__name__)
        used = megabytes_of("VmHWM", status.read_text(errors="replace")) if status.exists() else 0.0
    return Case(done.stdout, wrong_with(done.returncode, done.stdout), used)


def count_stored(place: Path) -> int:
    """How many generations and pairings the folders in `place` hold: what grows is at work, and does not hang."""
    return sum(1 for kind in ("generations", "pairings") for _ in place.glob(f"*/{kind}/*"))


def run_case(number: int, seed: int, samples: Path, process: bool) -> tuple[str, Case]:
    """What is wrong with a case, "" if nothing is, and what it did."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        place = Path(name)
        words = make_case(number, seed, samples, place)
        stored = count_stored(place)
        os.chdir(place)
        try:
            case = run_process(words, place) if process and words != CHARTS else run_here(words)
        finally:
            os.chdir(ROOT)
        wrong = judge(case)
        if wrong.startswith(HangError.__name__) and count_stored(place) > stored:
            wrong = ""  # a changed configuration may ask for more games than fit into the time
        return f"case {number}: {' '.join(words)[:150]!r}: {wrong}" if wrong else "", case


def judge(case: Case) -> str:
    """What is wrong with a case; "" for nothing."""
    if not case.wrong and b"\x1b" in case.said:
        return "an escape code reached the output"
    if not case.wrong and case.megabytes > MEGABYTES:
        return f"{case.megabytes:,.0f} MB of memory"
    return case.wrong


def fuzz(cases: range, seed: int, processes: int) -> list[str]:
    """Run cases, the first `processes` of them as processes of their own; what went wrong."""
    failures, most = [], Case(b"", "")
    with tempfile.TemporaryDirectory(prefix="fuzz-samples-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = Path(name)
        prepare(samples)
        for number in cases:
            wrong, case = run_case(number, seed, samples, number < processes)
            seconds, megabytes = max(most.seconds, case.seconds), max(most.megabytes, case.megabytes)
            most = Case(b"", "", megabytes, seconds)
            if wrong:
                failures.append(wrong)
                print(wrong, flush=True)
    print(f"at most {most.seconds:.1f} s of the processor and {most.megabytes:,.0f} MB", flush=True)
    return failures


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--cases", type=int, default=20_000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--processes", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int, default=None)
    chosen = options.parse_args()
    began = time.perf_counter()
    cases = range(chosen.first, chosen.first + chosen.cases)
    if chosen.only is not None:
        cases = range(chosen.only, chosen.only + 1)
    failures = fuzz(cases, chosen.seed, chosen.processes)
    print(f"{len(cases):,} cases, {len(failures)} failed, {time.perf_counter() - began:,.0f} s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
