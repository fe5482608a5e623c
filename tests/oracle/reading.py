"""The records of a folder, and the committed list of differences."""

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXPLAINED = Path(__file__).with_name("explained.csv")


def records(folder: Path) -> Iterator[dict[str, Any]]:
    """Every record of a folder."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file) as lines:
            for line in lines:
                yield json.loads(line)


def explained_lines() -> list[dict[str, str]]:
    """The committed list of differences."""
    with EXPLAINED.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def reasons(record: dict[str, Any], found: list[str], explained: list[dict[str, str]]) -> set[str]:
    """What the committed list calls the differences of a record; nothing where one of them is not on it.

    `event` of a line is a regular expression that is found in what happened, "play ID" of the card played
    first; `contains` is one that is found in a difference, followed by a bar and by all of them.
    """
    events = " | ".join([f"play {record['action'].get('card')}", *record.get("events", ())])
    lines = [line for line in explained if re.search(line["event"], events)]
    texts = [f"{difference} | {'; '.join(found)}" for difference in found]
    of_each = [{line["what"] for line in lines if re.search(line["contains"], text)} for text in texts]
    return set().union(*of_each) if all(of_each) else set()
