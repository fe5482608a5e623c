"""Recorded steps in our notation: `python -m tests.oracle.cases DIR FILE --ours FOLDER --theirs FOLDER`.

Of all steps those are written that show a card, or an explained difference, which no step before has shown.
What the step does not need is left out: cards in hands and decks, hero powers, Secrets.
"""

import argparse
import csv
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import Outcome, Position
from engine.cards import Card
from engine.codes import UNKNOWN, ActionKind
from engine.effects.chance import Chance
from engine.errors import ManaforgeError
from engine.formatting import format_state
from engine.notation import parse_action, parse_position
from tests.oracle.agreement import acting
from tests.oracle.cards import Cards, SkippedError, texts_of
from tests.oracle.compare import Step, play, results, results_by_outcomes
from tests.oracle.counters import COUNTERS
from tests.oracle.facts import facts_by_name, facts_of
from tests.oracle.importer import TURN_CAP, import_action
from tests.oracle.reading import explained_lines, reasons, records

COLUMNS = ("source", "position", "action", "after", "explained")
ENOUGH = 2
"""Steps of each card and each explained difference that are written."""
LONGEST = 1_000
"""Letters of a case; longer ones are left out where a card has others."""
AS_EXPLAINED = "explained: "
"""Before the name of a difference, which may be that of a card."""
OVER = {Outcome.FIRST_WINS: "first wins", Outcome.SECOND_WINS: "second wins", Outcome.DRAW: "draw"}
HEAD = """\
# Steps that another engine (fireplace, build 53261 of the game) recorded and this one carries out alike, or
# differently for a reason of tests/oracle/explained.csv. `source` is the game and the step of the record, `after`
# the position it recorded; where `explained` names a reason, what is right here instead. One outcome of chance
# must give `after`. Left out, where nothing in the step depends on it: cards in hands and decks (? where their number
# counts), hero powers, Secrets, dead minions. Minions whose text is not covered, or over, are bodies without a star.
"""


class _Told:
    """The cards of a position as they are written: what is not covered is a body."""

    def __init__(self, position: Position) -> None:
        self.array, self.number = position.table.array, position.table.number
        self.cards = tuple(_plain(card) for card in position.table.cards)


def _plain(card: Card) -> Card:
    return card if card.exact else replace(card, real=False)


def told(position: Position) -> str:
    """A position in our notation, without what is empty."""
    text = format_state(position.state, _Told(position))  # type: ignore[arg-type]
    for empty in (f" cap {TURN_CAP}", " board []", " hand []", " deck []"):
        text = text.replace(empty, "")
    return text


class Shortened:
    """A step from which is left out, one thing after another, what changes nothing else.

    Attributes:
        step: as it is so far.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        self._left_out: set[str] = set()

    def shorten(self) -> Step:
        """Leave out what can be left out; the step."""
        active = self.step.position.active
        for seat in (active, 1 - active):
            self._try(seat, {"deck"}, _drop_deck)
            self._try(seat, {"deck", "hand", "bodies", "costs"}, _hide_deck)
            self._try(seat, {"hand", "bodies", "costs"}, self._drop_hand)
            self._try(seat, {"power"}, _drop_power)
            self._try(seat, {"secrets"}, _drop_secrets)
            self._try(seat, {"graves"}, _drop_graves)
        return self.step

    def _try(self, seat: int, names: set[str], change: Any) -> None:
        before = self.step
        position, action = before.position.copy(), before.action
        after = position.copy()
        if before.after is None:
            return
        done = change(position, seat)
        if done is not None:
            action = done
        if action not in position.legal_actions():
            return
        chance = Chance.given(before.outcomes)
        after = position.copy()
        try:
            after.play(action, chance)
        except ManaforgeError:
            return
        if len(chance.outcomes) != len(before.outcomes):
            return
        keys = {f"{name} {seat}" for name in names}
        if self._same(before.after, after, keys) and self._counts(before, position, after, seat, names):
            self.step = before._replace(position=position, action=action, after=after)

    def _same(self, one: Position, other: Position, but: set[str]) -> bool:
        ours, theirs = facts_of(one), facts_of(other)
        return one.outcome == other.outcome and all(
            ours[key] == theirs[key] for key in ours if key not in but
        )

    @staticmethod
    def _counts(before: Step, position: Position, after: Position, seat: int, names: set[str]) -> bool:
        """Whether as many cards came and went as before, and no hidden one."""
        assert before.after is not None
        for name in ("n_deck", "n_hand", "n_secrets", "fatigue"):
            then = int(before.after.state["sides"][seat][name]) - int(
                before.position.state["sides"][seat][name]
            )
            now = int(after.state["sides"][seat][name]) - int(position.state["sides"][seat][name])
            if then != now:
                return False
        power = before.after.state["sides"][seat]["power"] == before.position.state["sides"][seat]["power"]
        return power or "power" not in names

    def _drop_hand(self, position: Position, seat: int) -> Any:
        """Leave the cards of a hand out, but for the one that is played."""
        side, action = position.state["sides"][seat], self.step.action
        keep = []
        if seat == position.active and action.kind == ActionKind.PLAY:
            keep = [(int(side["hand"][action.source]), side["hand_modifiers"][action.source].copy())]
            action = action._replace(source=0)
        side["hand"][:] = 0
        side["hand_modifiers"][:] = (0, 0, 0)
        side["n_hand"] = len(keep)
        for place, (number, held) in enumerate(keep):
            side["hand"][place], side["hand_modifiers"][place] = number, held
        return action


def _drop_deck(position: Position, seat: int) -> None:
    side = position.state["sides"][seat]
    side["deck"][:], side["n_deck"] = 0, 0


def _hide_deck(position: Position, seat: int) -> None:
    side = position.state["sides"][seat]
    side["deck"][: side["n_deck"]] = UNKNOWN


def _drop_power(position: Position, seat: int) -> None:
    if not position.state["sides"][seat]["power_used"]:
        position.state["sides"][seat]["power"] = 0


def _drop_secrets(position: Position, seat: int) -> None:
    side = position.state["sides"][seat]
    side["secrets"][:], side["secret_entity_ids"][:], side["n_secrets"] = 0, 0, 0


def _drop_graves(position: Position, seat: int) -> None:
    side = position.state["sides"][seat]
    side["graveyard"][:], side["n_graveyard"] = 0, 0


def case_of(record: dict[str, Any], step: Step, explained: str) -> dict[str, str]:
    """A step as a line of the table."""
    short = Shortened(step).shorten()
    position, after = told(short.position), "not legal"
    if short.after is not None:
        ends = short.after.outcome
        after = _read_back(position, short, explained) if ends == Outcome.ONGOING else OVER[ends]
    where = f"{record['game']}/{record['step']}"
    action = short.action
    name = ""
    if action.kind == ActionKind.PLAY:
        number = int(short.position.state["sides"][short.position.active]["hand"][action.source])
        name = f" ({short.position.card_name(number)})"
    return dict(zip(COLUMNS, (where, position, f"{action}{name}", after, explained), strict=True))


def _read_back(text: str, step: Step, explained: str) -> str:
    """The position after a step, from what was written of the position before it; "" where there is none.

    What is read back draws from whole pools, and may keep more, since a card of these asks for it. Where the
    engines differ in what they draw from, any outcome will do.
    """
    assert step.after is not None
    try:
        told_after = facts_of(parse_position(told(step.after)))
        wanted = {key: fact for key, fact in told_after.items() if key.split()[0] not in COUNTERS}
        first: Position | None = None
        for after in results(parse_position(text), step.action):
            first = first or after
            facts = facts_by_name(after)
            if all(facts[key]() == fact for key, fact in wanted.items()):
                return told(after)
        if explained and first is not None:
            return told(first)
    except (ManaforgeError, SkippedError):
        pass
    return ""


def comes_out(case: dict[str, str]) -> bool:
    """Whether a case, read back, comes out as it says."""
    try:
        position, action = parse_position(case["position"]), parse_action(case["action"])
        legal = action in position.legal_actions()
        if case["after"] == "not legal" or not legal:
            return not legal and case["after"] == "not legal"
        if case["after"] in OVER.values():
            return case["after"] in {OVER.get(after.outcome) for after in results(position, action)}
        wanted = facts_of(parse_position(case["after"]))
        for after in results(position, action):
            facts = facts_by_name(after)
            if all(facts[key]() == fact for key, fact in wanted.items()):
                return True
        return False
    except (ManaforgeError, SkippedError):
        return False


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("file", type=Path)
    options.add_argument("--ours", type=Path, required=True, help="where hearthstone-data 25252.1 is")
    options.add_argument("--theirs", type=Path, required=True, help="where hearthstone-data 53261.1 is")
    chosen = options.parse_args()
    cards = Cards(chosen.folder, texts_of(chosen.ours), texts_of(chosen.theirs))
    explained = explained_lines()
    shown: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    cases: list[dict[str, str]] = []
    for record in records(chosen.folder):
        kinds = acting(record, cards)
        possible = {AS_EXPLAINED + what for what in may_be_explained(record, cards, explained)}
        if all(shown[kind] >= ENOUGH for kind in kinds | possible):
            continue
        case = _case(record, cards, explained, shown, kinds)
        if case is None:
            continue
        names = kinds | ({AS_EXPLAINED + case["explained"]} if case["explained"] else set())
        new = {name for name in names if shown[name] < ENOUGH}
        longest = LONGEST if all(shown[name] for name in new) else 3 * LONGEST
        if new and len("".join(case.values())) < longest and comes_out(case):
            cases.append(case)
            shown.update(names)
        else:
            lost.update(new)
    cases.sort(key=lambda case: case["source"])
    with chosen.file.open("w", encoding="utf-8", newline="") as out:
        out.write(HEAD)
        table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(cases)
    print(f"{len(cases)} cases; never shown: {sorted(name for name in lost if not shown[name])}")
    sys.exit(0)


def may_be_explained(record: dict[str, Any], cards: Cards, explained: list[dict[str, str]]) -> set[str]:
    """Explained differences that a record may show, by its events alone."""
    lines = [line for line in explained if reasons(record, [""], [line | {"contains": ""}])]
    played = cards.rows.get(record["action"].get("card") or "", {}).get("name", "-")
    return {
        line["what"] for line in lines if line["event"] or "legal" in record or played in line["contains"]
    }


def _case(
    record: dict[str, Any],
    cards: Cards,
    explained: list[dict[str, str]],
    shown: Counter[str],
    kinds: set[str],
) -> dict[str, str] | None:
    """A record as a case; None where it is skipped, unexplained or shows nothing new."""
    try:
        step = play(record, cards)
    except SkippedError:
        return None
    known = reasons(record, step.found, explained)
    why = [line["what"] for line in reversed(explained) if line["what"] in known]
    why.sort(key=lambda what: shown[AS_EXPLAINED + what])
    if step.found and not why:
        return None
    if step.found and step.after is None and not step.found[0].startswith("not legal"):
        if "legal" not in record:
            return None
        step = _of_legal(record, step, cards)
    names = {*kinds, *(AS_EXPLAINED + what for what in why)}
    if all(shown[name] >= ENOUGH for name in names):
        return None
    return case_of(record, step, why[0] if why else "")


def _of_legal(record: dict[str, Any], step: Step, cards: Cards) -> Step:
    """The first action that is legal in one engine alone, as a step."""
    name = step.found[0].partition(": ")[2]
    theirs = [import_action(action, record["before"], cards) for action in record["legal"]]
    action = next(
        action
        for action in [*step.position.legal_actions(), *theirs]
        if step.position.describe(action) == name
    )
    if action not in step.position.legal_actions():
        return step._replace(action=action)
    outcomes, after = next(results_by_outcomes(step.position, action))
    return step._replace(action=action, after=after, outcomes=outcomes)


if __name__ == "__main__":
    main()
