"""The command `manaforge`."""

import json
from pathlib import Path

import pytest

from ilp_agent import DEFAULT_BACKEND, find_profile
from ilp_agent.backends import installed_backends
from tests.evo.runs import manaforge, manaforge_process


def test_play_shows_a_game_and_the_seed_repeats_it() -> None:
    games = [manaforge("play", "random", "random", "--seed", "4", "--ruleset", "standard") for _ in range(2)]
    assert games[0].returncode == 0
    assert games[0].stdout == games[1].stdout
    assert "turn  1 first" in games[0].stdout
    assert " wins in turn " in games[0].stdout


def test_reasons_come_after_the_turn_they_belong_to() -> None:
    lines = manaforge("play", "ilp:keep-alive", "pass", "--explain", "--seed", "3").stdout.splitlines()
    kinds = [line[:5] for line in lines if line.startswith(("turn ", "plan:")) and " second" not in line]
    turns = sum(kind == "turn " for kind in kinds)
    assert kinds == ["turn ", "plan:"] * turns
    assert turns > 2


def test_wrong_input_is_one_line() -> None:
    for arguments, message in (
        (("play", "randm", "random"), "unknown entrant 'randm'; nearest: random"),
        (("play", "random", "random", "--decks", "x,y"), "unknown deck 'x'"),
        (("play", "random", "random", "--ruleset", "y"), "unknown ruleset 'y'"),
    ):
        done = manaforge(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_reasons_of_agents_that_give_none_are_not_awaited() -> None:
    silent = "--explain: neither agent gives reasons; those of ilp:PROFILE do"
    assert silent in manaforge("play", "random", "pass", "--explain").stdout
    assert silent not in manaforge("play", "ilp:keep-alive", "pass", "--explain").stdout


def test_explain_takes_profiles_of_ilp_and_a_position_itself(tmp_path: Path) -> None:
    for profile in ("hearthsim", "hearthsim:balanced", "ilp:keep-alive"):
        wrong = manaforge("explain", POSITION, "--profile", profile)
        assert wrong.returncode == 2
        assert f"--profile takes weights of ilp, not an agent, got '{profile}': " in wrong.stderr
        assert "keep-alive" in wrong.stderr
        assert "nearest" not in wrong.stderr
    (tmp_path / "pos.txt").write_text(POSITION)
    wrong = manaforge("explain", tmp_path / "pos.txt")
    assert wrong.returncode == 2
    assert f'give the position itself, such as "$(cat {tmp_path / "pos.txt"})"' in wrong.stderr
    assert manaforge("explain", "x" * 5000).returncode == 2


def test_a_class_of_a_file_is_told_as_an_entrant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mybot.py").write_text("")
    monkeypatch.chdir(tmp_path)
    for text, entrant in (
        ("mybot.py", "CLASS"),
        ("mybot", "CLASS"),
        ("mybot:Bot", "Bot"),
        ("mybot.py:Bot", "Bot"),
    ):
        wrong = manaforge("check-agent", text)
        assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)
        assert f"a class of a Python file is an agent as python:mybot:{entrant}" in wrong.stderr


def test_version() -> None:
    assert manaforge_process("--version").stdout.startswith("manaforge ")


POSITION = (
    "turn 6 first | hero 24 mana 6 board [River Crocolisk 2:2/3 ready; Kor'kron Elite 4:4/3C ready] "
    "hand [Bloodfen Raptor 2:3/2; The Coin; Chillwind Yeti 4:4/5; Wolfrider 3:3/1C] "
    "| hero 9+2 board [Sen'jin Shieldmasta 4:3/5T; Murloc Raider 1:2/1]"
)


def test_explain_shows_the_plan_and_what_decides() -> None:
    done = manaforge_process("explain", POSITION, "--profile", "author-favorite")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "plan (author-favorite, auto): play The Coin; play Wolfrider" in text
    assert 'without "play The Coin"' in text
    assert "status optimal" in text
    assert "+28.00" in text


def test_explain_prints_the_integer_program() -> None:
    done = manaforge("explain", POSITION, "--program", "sequential")
    assert done.returncode == 0
    assert done.stdout.startswith("maximise ")
    assert "mana, and The Coin:\n    " in done.stdout
    assert "integer in [0, 1]: u[2]" in done.stdout
    wrong = manaforge("explain", POSITION, "--program", "thesi")
    assert wrong.returncode == 2
    assert "unknown formulation 'thesi'; nearest: thesis" in wrong.stderr


def test_explain_calls_a_tie_a_tie() -> None:
    twins = "turn 3 | hero 30 mana 2 hand [River Crocolisk 2:2/3; River Crocolisk 2:2/3] | hero 30"
    assert "a tie: both plans have the same value" in manaforge("explain", twins).stdout
    assert "a tie" not in manaforge("explain", POSITION, "--profile", "author-favorite").stdout


def test_explain_as_json_is_the_same_for_every_backend() -> None:
    answers = {}
    for entry in installed_backends():
        words = "--profile", "value-trading", "--backend", entry.name, "--json"
        done = manaforge("explain", POSITION, *words)
        answers[entry.name] = json.loads(done.stdout)
    for answer in answers.values():
        plan, other = answer["plan"], answer["alternative"]
        assert sum(plan["terms"].values()) == pytest.approx(plan["objective"])
        assert plan["objective"] == pytest.approx(answers[DEFAULT_BACKEND]["plan"]["objective"], abs=1e-6)
        assert other["objective"] <= plan["objective"] + 1e-9
        assert answer["without"]["text"] not in [action["text"] for action in other["actions"]]
        assert list(plan["terms"]) == list(answer["weights"])


def test_ilp_agents_play_by_name_and_by_file(tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(find_profile("aggro-face").to_toml())
    games = [
        manaforge("play", "ilp:keep-alive", name, "--seed", "3") for name in ("ilp:aggro-face", f"ilp:{path}")
    ]
    assert games[0].returncode == 0
    assert games[0].stdout.splitlines()[1:-1] == games[1].stdout.splitlines()[1:-1]
    told = manaforge("play", "ilp:keep-alive", "random", "--explain")
    assert told.stdout.count("plan: ") > 5


def test_wrong_entrants_and_positions_are_one_line() -> None:
    for arguments, message in (
        (("play", "ilp:keepalive", "random"), "unknown profile 'keepalive'; nearest: keep-alive"),
        (("play", "ilp:keep-alive@gorubi", "random"), "unknown backend 'gorubi'; nearest: gurobi"),
        (("play", "ilp:none.toml", "random"), "cannot read profile none.toml"),
        (("explain", "nonsense"), "a position is"),
        (("explain", "hero 0 | hero 3"), "the game is over"),
        (("explain", "hero 3 | hero 3", "--backend", "cplex"), "unknown backend 'cplex'"),
    ):
        done = manaforge(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr
