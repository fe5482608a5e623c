"""What `manaforge check-agent` finds: planted violations, each, and nothing in agents that play well."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import parse_position
from engine.game_session import Reason
from evo.play import checking
from evo.play.checking import check_agent
from evo.play.entrants import find_entrant
from rivals.outside.agent import processes
from tests.conftest import heavy
from tests.evo.runs import manaforge

FAULTY = Path("tests/data/bots/faulty.py").resolve()

PATIENCE = 3600
"""Seconds for a decision where a test does not mean to be late."""

FOUND_BY = {
    "lies": "legal actions",
    "beyond": "legal actions",
    "hangs": "time",
    "late": "time",
    "deaf": "time",
    **dict.fromkeys(("ends", "raises", "nothing", "text", "list", "bytes"), "no other fault"),
    **dict.fromkeys(("deep", "long", "floods", "unasked"), "no other fault"),
    **dict.fromkeys(("clock", "dice", "process", "games", "decisions"), "same seed, same game"),
}
"""Twenty violations, and the check that finds each."""

SLOW = ("hangs", "late", "deaf")
"""Found in seconds."""


def failed(entrant: str, games: int, pairs: int) -> list[str]:
    """Names of the checks that an agent fails."""
    try:
        return [one.name for one in check_agent(find_entrant(entrant), games, pairs, 1) if not one.passed]
    finally:
        processes.close()


@pytest.mark.parametrize("how", [*(how for how in FOUND_BY if how not in SLOW), *heavy(*SLOW)])
def test_every_planted_violation_is_found(how: str) -> None:
    assert len(FOUND_BY) == 20
    seconds = 1 if FOUND_BY[how] == "time" else PATIENCE
    assert FOUND_BY[how] in failed(f"process:{sys.executable} {FAULTY} {how}@seconds={seconds}", 2, 3)


def test_a_decision_by_hidden_cards_is_found() -> None:
    assert failed("lookahead@4,hands=told", 2, 60) == ["same view, same decision"]


@pytest.mark.parametrize(
    "entrant",
    [
        f"process:{sys.executable} {FAULTY} well@seconds={PATIENCE}",
        "random",
        "mcts@5",
        "lookahead@4,hands=known",
        "mcts@5,hands=known",
        "pass",
    ],
)
def test_nothing_is_found_in_agents_that_play_well(entrant: str) -> None:
    assert failed(entrant, 8, 20) == []


def test_a_fault_of_the_first_games_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    play, faults = checking.play_against_random, [Reason.ILLEGAL_ACTION, Reason.TOO_LATE]

    def first_ones_lost(*arguments: Any) -> Any:
        result = play(*arguments)
        return replace(result, reason=faults.pop(0), error="no such action") if faults else result

    monkeypatch.setattr(checking, "play_against_random", first_ones_lost)
    found = list(check_agent(find_entrant("random"), 4, 3, 1))
    assert [one.name for one in found if not one.passed] == ["legal actions"]
    assert (
        "1 of 6 games lost; the first: first game of thesis-paladin and thesis-warrior, after "
        in found[0].told
    )
    assert not faults


def test_the_command_tells_each_verdict_and_ends_by_it() -> None:
    good = manaforge("check-agent", "pass", "--games", 4, "--pairs", 5)
    assert good.returncode == 0
    assert good.stdout.count(" ok ") == 5
    assert "pass passed" in good.stdout
    lying = f"process:{sys.executable} {FAULTY} lies@seconds={PATIENCE}"
    bad = manaforge("check-agent", lying, "--games", 2, "--pairs", 2, "--json")
    assert bad.returncode == 1
    found = json.loads(bad.stdout)
    assert not found["passed"]
    assert next(check["name"] for check in found["checks"] if not check["passed"]) == "legal actions"
    assert "it answered the action 'play 99', which is not legal" in found["checks"][0]["told"]
    assert "which is not legal; legal are play 0" in found["checks"][0]["told"]
    assert parse_position(found["checks"][0]["position"]).legal_actions()
    assert found["checks"][3]["passed"] is None
    shown = manaforge("check-agent", lying, "--games", 2, "--pairs", 2).stdout
    assert "waiting for process:" in shown
    assert "6 games: 2 against a random agent, then the first 2 twice more" in shown
    assert "position of the first failure of 'legal actions': turn " in shown
    assert shown.count(" FAILED ") == 2
    assert shown.count(" not checked ") == 1
    missing = manaforge("check-agent", "process:no-such-program")
    assert missing.returncode == 1
    assert "cannot start no-such-program" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_what_was_not_checked_neither_passed_nor_failed() -> None:
    lying = f"process:{sys.executable} {FAULTY} lies:first@seconds={PATIENCE}"
    verdicts = {check.name: check.passed for check in check_agent(find_entrant(lying), 12, 1, 1)}
    processes.close()
    assert verdicts["legal actions"] is False
    assert verdicts["time"] is verdicts["no other fault"] is verdicts["same seed, same game"] is None
