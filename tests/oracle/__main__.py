"""`python -m tests.oracle DIR --ours FOLDER --theirs FOLDER`: every record of DIR, compared; see docs/oracle.md."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.oracle.agreement import Agreement, acting, explained_table
from tests.oracle.cards import Cards, SkippedError, texts_of
from tests.oracle.compare import differences
from tests.oracle.reading import explained_lines, reasons, records


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--ours", type=Path, required=True, help="where hearthstone-data 25252.1 is")
    options.add_argument("--theirs", type=Path, required=True, help="where hearthstone-data 53261.1 is")
    options.add_argument("--markdown", action="store_true", help="print the tables of docs/oracle.md too")
    chosen = options.parse_args()
    cards = Cards(chosen.folder, texts_of(chosen.ours), texts_of(chosen.theirs))
    explained = explained_lines()
    agreement = Agreement()
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for record in records(chosen.folder):
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
            print(f"game {record['game']} step {record['step']} {record['action']}: {'; '.join(found)}")
    if chosen.markdown:
        print(explained_table(explained, counts), agreement.table(), sep="\n\n")
    for text, n in skipped.most_common():
        print(f"skipped {n:6,d}: {text}")
    kinds = ("agree", "explained", "unexplained", "skipped")
    print(f"{counts['records']} records, {', '.join(f'{counts[kind]} {kind}' for kind in kinds)}")
    sys.exit(counts["unexplained"] > 0)


if __name__ == "__main__":
    main()
