"""The measurement: probes first, then each fault by itself."""

import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from typing import Any

from tests.planted import reached
from tests.planted.copies import Copy
from tests.planted.drawing import Mutant, find, has
from tests.planted.places import planted
from tests.planted.reached import Reached
from tests.planted.running import SUITES, Ending, command, environment, run_tests

FIRST_SECONDS, FIRST_FILES = 4.0, 4
"""The first tests of a fault run by themselves: to collect the files of all takes longer than they do."""


def probe(tree: Path, work: Path, mutants: list[Mutant], *, uncompiled: bool, processes: int) -> Reached:
    """Run the suite with probes; one that was stopped goes on where it was.

    Args:
        tree: the sources.
        work: where copies and logs are.
        mutants: the faults.
        uncompiled: which of the two suites.
        processes: of pytest-xdist.
    """
    name = "uncompiled" if uncompiled else "compiled"
    finished, log = work / f"{name}.finished", work / f"{name}.log"
    if not finished.exists():
        copy = Copy(tree, work / f"probes-{name}")
        for file, text in reached.with_probes(tree, mutants, in_kernels=uncompiled).items():
            copy.change(file, text)
        lines = copy.log.read_text().splitlines() if copy.log.exists() else []
        known = reached.read(lines)
        plan = work / f"{name}.plan.json"
        plan.write_text(json.dumps({"done": sorted(set(known.seconds) | known.failed)}))
        parallel = ["-n", str(processes), "--dist", "loadfile"] if processes > 1 else []
        with (work / f"{name}.out").open("ab") as out:
            done = subprocess.run(
                command(copy, [*parallel, *SUITES[uncompiled]]),
                cwd=copy.folder,
                env=environment(copy, uncompiled=uncompiled, PLANTED_TESTS=str(plan)),
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with {done.returncode}: see {out.name}")
        log.write_bytes(copy.log.read_bytes())
        finished.touch()
    return reached.read(log.read_text().splitlines())


def judge(copy: Copy, mutant: Mutant, found: Reached, limit: float) -> dict[str, Any]:
    """Plant one fault and run the tests that reach it; what came of it, as a line of the results."""
    began = time.monotonic()
    place = find(copy.tree, mutant)
    tests = found.candidates(mutant.number)
    if mutant.number in found.at_import or not place.in_function:
        tests += [test for test in near(mutant.file, found) if test not in set(tests)]
    entry = {**asdict(mutant), "line": place.line, "tests": len(tests), "limit": limit}
    if not tests:
        return entry | {"result": "unreached", "cpu": 0.0, "seconds": 0.0}
    copy.change(mutant.file, planted((copy.tree / mutant.file).read_bytes(), place))
    ran, cpu = 0, 0.0
    try:
        for part in parts(tests, found):
            ending = run_tests(
                copy,
                part,
                uncompiled=mutant.uncompiled,
                allowed=found.cost,
                limit=limit - cpu,
            )
            ran, cpu = ran + ending.ran, cpu + ending.cpu
            if ending.result != "passed":
                break
    finally:
        copy.restore(mutant.file)
    return (
        entry
        | outcome(ending)
        | {"ran": ran, "cpu": round(cpu, 1), "seconds": round(time.monotonic() - began, 1)}
    )


def outcome(ending: Ending) -> dict[str, Any]:
    """What an end says of the fault."""
    result = {"passed": "survived", "limit": "limit"}.get(ending.result, "killed")
    return {"result": result, "how": ending.result, "by": ending.test, "why": ending.why}


def near(file: str, found: Reached) -> list[str]:
    """The tests that mirror a file, then all of its folder's, then all of its package's."""
    folder, _, name = file.rpartition("/")
    package = file.split("/", maxsplit=1)[0]
    places = (f"tests/{folder}/test_{name}", f"tests/{folder}/", f"tests/{package}/")
    ordered: dict[str, None] = {}
    for place in places:
        ordered |= dict.fromkeys(found.fastest(test for test in found.seconds if test.startswith(place)))
    return list(ordered)


def parts(tests: list[str], found: Reached) -> list[list[str]]:
    """The fastest tests, then all others, in the order of files so that these are set up once."""
    first: list[str] = []
    files: set[str] = set()
    for test in tests:
        files.add(test.split("::")[0])
        seconds = found.cost(test) + sum(found.seconds[one] for one in first)
        if first and (seconds > FIRST_SECONDS or len(files) > FIRST_FILES):
            break
        first.append(test)
    rest = tests[len(first) :]
    return [first, rest] if rest else [first]


def measure(
    tree: Path,
    work: Path,
    mutants: list[Mutant],
    chosen: list[Mutant],
    out: Path,
    *,
    processes: int,
    limit: float,
) -> None:
    """Judge the chosen faults that `out` has no line for, and append a line for each.

    Those that had no time for all their tests are judged again if there is more.

    Args:
        tree: the sources.
        work: where copies and logs are.
        mutants: all that were drawn, which have probes.
        chosen: those to judge.
        out: the results.
        processes: how many faults at a time.
        limit: seconds of processor time for each.
    """
    known = {
        entry["number"] for entry in results(out) if entry["result"] != "limit" or entry["limit"] >= limit
    }
    copies: Queue[Copy] = Queue()
    for n in range(processes):
        copies.put(Copy(tree, work / f"copy-{n}"))
    lock = threading.Lock()

    def plant(mutant: Mutant, found: Reached) -> None:
        copy = copies.get()
        try:
            entry = judge(copy, mutant, found, limit)
        finally:
            copies.put(copy)
        with lock, out.open("a") as file:
            file.write(json.dumps(entry) + "\n")
            print(
                f"{entry['number']:3} {entry['result']:9} {entry['seconds']:6} s  {mutant.file}:{entry['line']}",
                flush=True,
            )

    here = {mutant.number for mutant in mutants if has(tree, mutant)}
    with out.open("a") as file:
        for mutant in chosen:
            if mutant.number not in here | known:
                file.write(json.dumps(asdict(mutant) | {"line": 0, "result": "absent"}) + "\n")
    for uncompiled in (False, True):
        waiting = [one for one in chosen if one.uncompiled == uncompiled and one.number in here - known]
        if not waiting:
            continue
        drawn = [one for one in mutants if one.uncompiled == uncompiled and one.number in here]
        found = probe(tree, work, drawn, uncompiled=uncompiled, processes=processes)
        with ThreadPoolExecutor(processes) as pool:
            for done in [pool.submit(plant, mutant, found) for mutant in waiting]:
                done.result()


def results(out: Path) -> list[dict[str, Any]]:
    """The last line for each fault in a results file; one that was cut off is left out."""
    entries = {}
    for line in out.read_text().splitlines() if out.exists() else []:
        with suppress(ValueError):
            entry = json.loads(line)
            entries[entry["number"]] = entry
    return [entries[number] for number in sorted(entries)]
