"""Steps that another engine recorded, written in our notation: each must come out as the committed line says."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from engine import Outcome
from engine.effect_codes import CardKind
from engine.notation import parse_action, parse_position
from tests.oracle.compare import results
from tests.oracle.facts import facts_by_name, facts_of

HERE = Path(__file__).parents[1]
CASES = HERE / "data" / "oracle_cases.csv"
EXPLAINED = HERE / "oracle" / "explained.csv"

NOT_LEGAL = "not legal"
OVER = {
    "first wins": Outcome.FIRST_WINS,
    "second wins": Outcome.SECOND_WINS,
    "draw": Outcome.DRAW,
}


def rows(path: Path) -> list[dict[str, str]]:
    """The lines of a table; those that begin with # are about it."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def play(case: dict[str, str]) -> str:
    """What is wrong with a case; "" where one outcome of the action is what it says."""
    position, action = parse_position(case["position"]), parse_action(case["action"])
    legal = action in position.legal_actions()
    if case["after"] == NOT_LEGAL or not legal:
        return "" if legal != (case["after"] == NOT_LEGAL) else f"legal: {legal}"
    if case["after"] in OVER:
        outcomes = {after.outcome for after in results(position, action)}
        return "" if OVER[case["after"]] in outcomes else f"outcomes {outcomes}"
    wanted = facts_of(parse_position(case["after"]))
    nearest: list[str] | None = None
    for after in results(position, action):
        facts = facts_by_name(after)
        found = []
        for key, fact in facts.items():
            ours = fact()
            if ours != wanted[key]:
                found.append(f"{key}: {wanted[key]} here {ours}")
            if nearest is not None and len(found) >= len(nearest):
                break
        if not found and after.outcome == Outcome.ONGOING:
            return ""
        if nearest is None or len(found) < len(nearest):
            nearest = found
    return f"nearest outcome: {nearest}"


@pytest.mark.parametrize("case", rows(CASES), ids=lambda case: f"{case['source']} {case['action']}")
def test_step_comes_out_as_recorded(case: dict[str, str]) -> None:
    assert not play(case), f"{case['source']}: {case['action']} in {case['position']}\n{play(case)}"


def test_there_are_enough_and_no_two_are_the_same() -> None:
    cases = rows(CASES)
    assert len(cases) >= 200
    sources = Counter(case["source"] for case in cases)
    assert max(sources.values()) == 1, sources.most_common(3)


def test_every_explained_difference_has_a_case() -> None:
    reasons = {line["what"] for line in rows(EXPLAINED)}
    assert {case["explained"] for case in rows(CASES)} == reasons | {""}


def test_every_explained_difference_is_in_the_documents() -> None:
    page = (HERE.parent / "docs" / "oracle.md").read_text(encoding="utf-8")
    for line in rows(EXPLAINED):
        assert f"| {line['right']} | {line['reason']} | {line['rule']} |" in page, line["what"]


def test_every_kind_of_action_is_there() -> None:
    cases = [(case["action"].partition(" (")[0], case["position"]) for case in rows(CASES)]
    actions = {action for action, _ in cases}
    assert {"power", "power -> own hero", "attack hero -> hero", "attack 0 -> 0", "end turn"} <= actions
    assert {"choose 0", "choose 1", "choose 2"} <= actions
    assert any(" as 2" in action for action in actions)
    assert any(" at 0" in action for action in actions)
    powers = {
        position.table.cards[side["power"] - 1].name
        for position in (parse_position(text) for action, text in cases if action.startswith("power"))
        for side in [position.state["sides"][position.active]]
    }
    assert len(powers) >= 9, powers
    kinds = {card.kind for _, text in cases[:100] for card in parse_position(text).table.cards}
    assert kinds >= {CardKind.MINION, CardKind.SPELL, CardKind.WEAPON, CardKind.POWER}
