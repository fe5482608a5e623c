"""The tables of docs/oracle.md, which `python -m tests.oracle ... --markdown` prints."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.oracle.cards import Cards

COLUMNS = 2
"""Cards that stand side by side in a row of the table."""


def acting(record: dict[str, Any], cards: Cards) -> set[str]:
    """Names of the cards that act in a step.

    They are what is played, used or attacks, asks for a choice, deals damage, or is revealed, and
    Deathrattles.
    """
    action = record["action"]
    found = {action["card"]} if action["type"] in ("play", "power") else set()
    found |= {action["source"]} if action["type"] == "choose" else set()
    if action["type"] == "attack":
        player = record["before"]["players"][record["before"]["active"]]
        at = action["attacker"]
        attacker = player["weapon"] if at["zone"] == "hero" else player["board"][at["index"]]
        found |= {attacker["id"]} if attacker else set()
    words = [event.split() for event in record.get("events", ())]
    found |= {text[1].partition(":")[2] for text in words if text[0] in ("deathrattle", "reveal")}
    found |= {text[-1].partition(":")[2] for text in words if text[0] in ("damage", "heal") and "by" in text}
    return {cards.rows[name]["name"] for name in found if name in cards.rows}


def explained_table(explained: list[dict[str, str]], counts: Mapping[str, int]) -> str:
    """The committed list of differences, with the number of records in which each was seen."""
    lines = ["| card or interaction | records | right | reason | rule |", "| --- | --- | --- | --- | --- |"]
    for line in explained:
        cells = line["what"], str(counts[line["what"]]), line["right"], line["reason"], line["rule"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


class Agreement:
    """How many records each card acted in, and how many of these agree or differ for a reason."""

    def __init__(self) -> None:
        self.records: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()

    def add(self, names: set[str], kind: str) -> None:
        """Count a record, which is "agree", "explained", "unexplained" or "skipped"."""
        for name in names:
            self.records[name] += 1
            self.kinds[name, kind] += 1

    def table(self) -> str:
        """A Markdown table of the cards that acted in a record which was compared."""
        names = sorted(name for name in self.records if self.records[name] > self.kinds[name, "skipped"])
        height = -(-len(names) // COLUMNS)
        lines = [
            "| card | records | agree | explained " * COLUMNS + "|",
            "| --- | --- | --- | --- " * COLUMNS + "|",
        ]
        for row in range(height):
            cells = [self._cells(name) for name in names[row::height]]
            cells += ["| " * 4] * (COLUMNS - len(cells))
            lines.append("".join(cells) + "|")
        return "\n".join(lines)

    def _cells(self, name: str) -> str:
        counts = self.records[name], self.kinds[name, "agree"], self.kinds[name, "explained"]
        return "| " + " | ".join([name, *map(str, counts)]) + " "
