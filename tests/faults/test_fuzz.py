"""Files and texts a user may receive, changed at random: only our errors, in bounded time, and nothing runs."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import GameRecord, ManaforgeError, find_deck, parse_action, parse_position, terminal
from evo.analysis.tables import read_runs
from evo.config.files import read_config
from evo.play.entrants import find_entrant
from evo.storage.champion import load_intact_champion
from evo.storage.run_folder import open_run_read_only
from evo.tournament.arena import read_arena
from evo.tournament.sweep import parse_values
from ilp_agent import find_profile
from rivals import find_agent_profile, read_agent_profile
from tests.conftest import cases
from tests.faults import SAMPLE_OF_SCHEMA_1, fuzz, marks
from tests.faults.fuzz import judge, run_here, run_process
from tests.faults.program import Ended
from tests.waiting import HANG

pytestmark = [*marks, pytest.mark.filterwarnings("ignore::evo.analysis.tables.RunWarning")]

SECONDS = 60.0
"""Of the processor's time: a broken input that computes for longer hangs."""

CODE = "AAECAZ8FBvcD3AqUBfUNpwLrDwzFA9sDrweOBeEEzwaLBaEE8gXvB4QIpwgA"
POSITION = "turn 6 first | hero 24 mana 6 board [River Crocolisk 2:2/3 ready] hand [The Coin] | hero 9+2 board [1/3T]"


def changed(text: str) -> st.SearchStrategy[str]:
    """A text with parts cut out, repeated, or replaced by odd characters."""
    odd = [
        "\x00",
        "\n",
        '"',
        "'",
        "[",
        "]",
        "nan",
        "inf",
        "1e999",
        "-1",
        "9" * 400,
        "=",
        "é",
        "\ud800",
        "../",
        "true",
    ]
    place = st.integers(0, len(text))
    return st.lists(st.tuples(place, place, st.sampled_from(["", *odd, text])), min_size=1, max_size=4).map(
        lambda edits: _edit(text, edits)
    )


def _edit(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, stop, put in edits:
        low, high = min(start, stop), min(max(start, stop), min(start, stop) + 40)
        text = text[:low] + put + text[high:]
    return text[:20_000]


def only_our_errors(call: object, *arguments: object) -> None:
    began = time.process_time()
    try:
        call(*arguments)  # type: ignore[operator]
    except ManaforgeError as error:
        assert str(error)
    assert time.process_time() - began < SECONDS


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


FEW_CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
many = settings(max_examples=cases(60, 300), suppress_health_check=FEW_CHECKS)


@many
@given(data=st.data())
def test_profiles(data: st.DataObject, tmp_path: Path) -> None:
    for agent, name in (("ilp", "keep-alive"), ("hearthsim", "standard"), ("eva", "competition")):
        text = data.draw(changed(find_agent_profile(agent, name).to_toml()))
        file = write(tmp_path / "profile.toml", text)
        only_our_errors(read_agent_profile, file)
        only_our_errors(find_entrant, f"{agent}:{file}")


@many
@given(data=st.data())
def test_configurations_and_arenas(data: st.DataObject, tmp_path: Path) -> None:
    text = data.draw(changed(read_config("eva").to_toml()))
    only_our_errors(read_config, write(tmp_path / "config.toml", text))
    own = (Path(__file__).parents[2] / "configs" / "arena.toml").read_text()
    only_our_errors(read_arena, str(write(tmp_path / "arena.toml", data.draw(changed(own)))))


@many
@given(data=st.data())
def test_deck_codes_and_deck_files(data: st.DataObject, tmp_path: Path) -> None:
    only_our_errors(find_deck, data.draw(changed(CODE)))
    own = (Path(__file__).parents[2] / "engine" / "data" / "decks" / "thesis-paladin.toml").read_text()
    only_our_errors(find_deck, str(write(tmp_path / "deck.toml", data.draw(changed(own)))))


@many
@given(text=changed(POSITION), action=changed("attack 1 -> hero"))
def test_positions_and_actions(text: str, action: str) -> None:
    only_our_errors(parse_position, text)
    only_our_errors(parse_action, action)


@many
@given(text=changed(json.dumps({"rules": 1, "start": POSITION, "actions": ["play 0", "end turn"]})))
def test_recorded_games(text: str) -> None:
    only_our_errors(lambda: GameRecord.from_json(text).replay())


@many
@given(text=st.one_of(changed("ilp:keep-alive@exact"), changed("hearthsim:standard"), st.text(max_size=60)))
def test_entrants_and_values(text: str) -> None:
    only_our_errors(find_entrant, text)
    only_our_errors(find_profile, text or "x")
    only_our_errors(parse_values, text)


@settings(max_examples=cases(30, 150), suppress_health_check=FEW_CHECKS)
@given(data=st.data())
def test_run_folders(data: st.DataObject, tmp_path: Path) -> None:
    """Each text file of a run folder changed in turn, and any byte of its tables."""
    import shutil

    run = tmp_path / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(SAMPLE_OF_SCHEMA_1, run)
    name = data.draw(
        st.sampled_from(["config.toml", "manifest.json", "checksums.txt", "champion.toml", "tables"])
    )
    if name == "tables":
        file = data.draw(st.sampled_from(sorted(run.glob("*/*.parquet"))))
        content = bytearray(file.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        file.write_bytes(content)
    else:
        write(run / name, data.draw(changed((run / name).read_text())))
    only_our_errors(read_runs, [run])
    only_our_errors(find_entrant, f"ilp:{run}")
    only_our_errors(lambda: load_intact_champion(open_run_read_only(run)))


def test_a_sample_of_every_file_and_command() -> None:
    """`python -m tests.faults.fuzz` runs many more."""
    command = [
        sys.executable,
        "-m",
        "tests.faults.fuzz",
        "--cases",
        str(cases(40, 300)),
        "--processes",
        str(cases(2, 10)),
        "--seed",
        "2",
    ]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fuzzer_sees_what_the_program_printed_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were an error printed as it is, its escape codes would be told."""
    words = ["runs", "\x1b[2J"]
    assert judge(run_here(words)) == ""
    monkeypatch.setattr(terminal, "safe_text", str)
    case = run_here(words)
    assert b"\x1b[2J" in case.said
    assert judge(case) == "an escape code reached the output"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks as Linux keeps them")
def test_the_fuzzer_judges_a_case_by_its_own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(words: list[str], *_: object) -> Ended:
        memory = bytearray(int(words[0]) * 2**20)
        memory[:: 2**10] = b"x" * (len(memory) // 2**10)  # pages count once they are written
        return Ended(0, b"")

    monkeypatch.setattr(fuzz, "run_program", greedy)
    monkeypatch.setattr(fuzz, "MEGABYTES", 300)
    assert judge(run_here(["400"])).endswith(" MB of memory")
    assert judge(run_here(["1"])) == "", "the case before does not count"
    held = b"x" * (400 * 2**20)
    case = run_process(["--version"], tmp_path)
    assert 5 < case.megabytes < 300, "nor does the process that starts one"
    assert judge(case) == ""
    assert held
