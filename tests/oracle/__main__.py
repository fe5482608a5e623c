"""`python -m tests.oracle DIR --ours FOLDER --theirs FOLDER`: every record of DIR, compared; see docs/oracle.md."""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.oracle.agreement import Agreement, acting, explained_table
from tests.oracle.cards import Cards, SkippedError, texts_of
from tests.oracle.compare import differences

EXPLAINED = Path(__file__).with_name("explained.csv")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--ours", type=Path, required=True, help="where hearthstone-data 25252.1 is")
    options.add_argument("--theirs", type=Path, required=True, help="where hearthstone-data 53261.1 is")
    options.add_argument("--markdown", action="store_true", help="print the tables of docs/oracle.md too")
    chosen = options.parse_args()
    cards = Cards(chosen.folder, texts_of(chosen.ours), texts_of(chosen.theirs))
    with EXPLAINED.open(encoding="utf-8") as lines:
        explained = list(csv.DictReader(lines))
    agreement = Agreement()
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for file in sorted(chosen.folder.glob("*.jsonl.gz")):
        with gzip.open(file) as lines:
            for line in lines:
                record = json.loads(line)
                counts["records"] += 1
                try:
                    found = differences(record, cards)
                except SkippedError as reason:
                    counts["skipped"] += 1
                    skipped[str(reason)] += 1
                    agreement.add(acting(record, cards), "skipped")
                    continue
                why = reasons(record, found, explained)
                counts.update(why)
                kind = "explained" if why else "unexplained" if found else "agree"
                counts[kind] += 1
                agreement.add(acting(record, cards), kind)
                if kind == "unexplained":
                    print(
                        f"game {record['game']} step {record['step']} {record['action']}: {'; '.join(found)}"
                    )
    if chosen.markdown:
        print(explained_table(explained, counts), agreement.table(), sep="\n\n")
    for text, n in skipped.most_common():
        print(f"skipped {n:6,d}: {text}")
    kinds = ("agree", "explained", "unexplained", "skipped")
    print(f"{counts['records']} records, {', '.join(f'{counts[kind]} {kind}' for kind in kinds)}")
    sys.exit(counts["unexplained"] > 0)


def reasons(record: dict[str, Any], found: list[str], explained: list[dict[str, str]]) -> set[str]:
    """What the committed list calls the differences of a record; nothing where one of them is not on it."""
    events = {event.partition(" ")[0] for event in record.get("events", ())}
    lines = [line for line in explained if not line["event"] or line["event"] in events]
    of_each = [{line["what"] for line in lines if line["contains"] in difference} for difference in found]
    return set().union(*of_each) if all(of_each) else set()


if __name__ == "__main__":
    main()
