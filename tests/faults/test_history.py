"""The history on disk: cut, flipped, full, of another schema. It is never silently wrong."""

import errno
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evo.analysis.export import best_profiles
from evo.analysis.tables import RunWarning, read_runs
from evo.evolution.session import begin_session
from evo.play.pool import LocalPool
from evo.storage.champion import load_intact_champion
from evo.storage.files import is_locked
from evo.storage.history import HistoryError, read_committed, read_history, table_path
from evo.storage.run_folder import RunError, open_run, open_run_read_only
from tests.conftest import first
from tests.evo.runs import TINY, bytes_of, manaforge, run_new, run_on
from tests.faults import SAMPLE_OF_SCHEMA_1, marks
from tests.waiting import HANG

pytestmark = marks


def failing(n: int, real: Callable, error: int, lasting: bool) -> Callable:
    """The n-th call fails; all after it too if the fault is lasting."""
    calls = [0]

    def call(*arguments: object, **more: object) -> object:
        calls[0] += 1
        if calls[0] == n or (lasting and calls[0] > n):
            raise OSError(error, os.strerror(error))
        return real(*arguments, **more)

    return call


class Filling:
    """A file on a disk that is full after the n-th write, of which half a write still fits."""

    def __init__(self, file: IO[bytes], write: Callable) -> None:
        self._file, self._write = file, write

    def write(self, content: bytes) -> int:
        self._file.write(content[: len(content) // 2])
        self._write()
        return len(content) // 2 + self._file.write(content[len(content) // 2 :])

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def __enter__(self) -> "Filling":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@pytest.mark.parametrize("target", ["write", "fsync", "replace"])
@pytest.mark.parametrize("lasting", first(1, [True, False]))
def test_a_disk_that_fails_at_any_write_leaves_the_history_intact(
    target: str, lasting: bool, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th write, flush or rename fails, for every n: only that one, or all after it too."""
    n = 0
    while True:
        n += 1
        path = tmp_path / f"run-{n}"
        with monkeypatch.context() as patch:
            if target == "write":
                full, opened = failing(n, lambda: None, errno.ENOSPC, lasting), Path.open

                def open_file(
                    path: Path,
                    mode: str = "r",
                    *more: Any,
                    opened: Any = opened,
                    full: Any = full,
                    **named: Any,
                ) -> Any:
                    file = opened(path, mode, *more, **named)
                    return (
                        Filling(file, full)
                        if mode == "xb" or (path.name == "checksums.txt" and mode == "a")
                        else file
                    )

                patch.setattr(Path, "open", open_file)
            elif target == "fsync":
                patch.setattr(os, "fsync", failing(n, os.fsync, errno.ENOSPC, lasting))
            else:
                patch.setattr(Path, "replace", failing(n, Path.replace, errno.EIO, lasting))
            try:
                run_new(path)
            except RunError as error:
                said = str(error)
                assert "cannot write" in said or "cannot create run folder" in said
                assert "manaforge resume" in said or not (path / "config.toml").exists()
            else:
                break
        if not (path / "config.toml").exists():
            continue  # it failed before there was a run
        if n % 3 == 0 or n < 6:
            assert run_on(path) == bytes_of(finished), n
    assert n > 10


def test_a_newest_file_cut_anywhere_or_with_any_bit_flipped_is_noticed(copy: Path) -> None:
    sums = copy / "checksums.txt"
    entry = read_history(copy).entries[3]
    for kind in ("generations", "pairings"):
        target = table_path(copy, kind, 3)
        content = target.read_bytes()
        assert read_committed(copy, kind, 3, entry) == content
        changed = [content[:n] for n in range(len(content))]
        for place in range(len(content)):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (place % 8)
            changed.append(bytes(flipped))
        for damaged in changed:
            target.write_bytes(damaged)
            with pytest.raises(HistoryError, match=f"{kind}/0003.parquet is damaged"):
                read_committed(copy, kind, 3, entry)
        target.write_bytes(content)
    *lines, last = sums.read_text().splitlines(keepends=True)
    for n in range(len(last)):
        sums.write_text("".join(lines) + last[:n])
        history = read_history(copy)
        assert len(history.entries) == 3
        assert ("checksums.txt: line 4 is torn" in history.problem) == (n > 0)


@pytest.mark.parametrize("case", first(6, range(20)))
def test_what_is_damaged_is_named_set_aside_and_played_again(case: int, copy: Path, finished: Path) -> None:
    pick = np.random.default_rng(case)
    names = [
        "generations/0003.parquet",
        "pairings/0003.parquet",
        "checksums.txt",
        "champion.toml",
        "pairings/0001.parquet",
    ]
    name = names[case % 5]
    file = copy / name
    content = bytearray(file.read_bytes())
    place = int(pick.integers(len(content)))
    if case % 3 == 0:
        del content[place:]
    elif case % 3 == 1:
        content[place] ^= 1 << int(pick.integers(8))
    if case % 3 == 2:
        file.unlink()
    else:
        file.write_bytes(content)
    with open_run(copy) as folder:
        if name == "champion.toml" and file.exists():
            assert load_intact_champion(folder) is None
        told = " ".join(folder.problems)
    if file.exists() or name != "champion.toml":
        assert name.split(".")[0] in told, told
    assert run_on(copy) == bytes_of(finished)


def test_a_run_of_other_rules_or_schema_is_refused(copy: Path) -> None:
    """For reading and resuming, even without the manifest: the tables hold the versions too."""
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "schema": 9}))
    for use in (open_run, open_run_read_only, best_profiles):
        with pytest.raises(RunError, match="has schema 9; this version reads schema 1"):
            use(copy)
    (copy / "manifest.json").write_text("broken")
    for key, value in (("rules", "99"), ("manaforge_schema", "2")):
        other = Path(shutil.copytree(copy, copy.with_name(key)))
        rewrite(other, 2, lambda table: table, {key: value})
        with pytest.raises(RunError, match=f"{key.removeprefix('manaforge_')} {value}; this version has"):
            open_run(other)
    (copy / "manifest.json").write_text(json.dumps({**manifest, "rules": 99}))
    pool = LocalPool(1)
    with open_run(copy) as folder, pytest.raises(RunError, match="started under rules 99"):
        begin_session(folder, pool)
    (copy / "manifest.json").write_text(json.dumps({**manifest, "config_hash": "0"}))
    with open_run(copy) as folder, pytest.raises(RunError, match="has changed since the run was started"):
        begin_session(folder, pool)
    pool.close()


def rewrite(run: Path, generation: int, change: Any, said: dict[str, str] | None = None) -> None:
    """Change a generation's table with a matching checksum, as the maker of a folder can."""
    file = run / "generations" / f"{generation:04d}.parquet"
    table = change(pq.read_table(file))
    table = table.replace_schema_metadata({"manaforge_schema": "1", "rules": "1"} | (said or {}))
    pq.write_table(table, file)
    seal(run, generation)


def seal(run: Path, generation: int) -> None:
    """Write the checksum that a generation's table has."""
    file = run / "generations" / f"{generation:04d}.parquet"
    sums = (run / "checksums.txt").read_text().splitlines()
    parts = sums[generation].split()
    sums[generation] = f"{parts[0]} {hashlib.sha256(file.read_bytes()).hexdigest()} {parts[2]}"
    (run / "checksums.txt").write_text("\n".join(sums) + "\n")


def as_text(table: pa.Table, name: str) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(["x"] * len(table)))


def infinite(table: pa.Table, name: str) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array([float("inf")] * len(table)))


def nobody(table: pa.Table) -> pa.Table:
    return table.set_column(table.column_names.index("survived"), "survived", pa.array([False] * len(table)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop_columns(["survived"]), "it has no column survived"),
        (lambda table: table.drop_columns(["weight_face"]), "it has no column weight_face"),
        (lambda table: as_text(table, "fitness"), "column fitness has type string, not number"),
        (lambda table: as_text(table, "survived"), "column survived has type string, not yes or no"),
        (lambda table: as_text(table, "rank"), "column rank has type string"),
        (lambda table: infinite(table, "sigma_play"), "column sigma_play is not finite"),
        (lambda table: infinite(table, "parent_a"), "column parent_a is not finite"),
        (lambda table: table.append_column("rank", table["rank"]), "it has 2 columns rank"),
        (lambda table: table.slice(0, 0), "it must have 3 survivors with ranks 1 to 3"),
        (nobody, "it must have 3 survivors with ranks 1 to 3"),
    ],
)
def test_tables_of_another_shape_are_told(change: Any, said: str, copy: Path) -> None:
    """By every command that reads or resumes, in a clear message."""
    rewrite(copy, 2, change)
    with pytest.warns(RunWarning, match=said):
        read_runs([copy])
    (copy / "champion.toml").unlink()
    refused = manaforge("resume", copy)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    looked = manaforge("watch", copy, "--once")
    assert looked.returncode == 0
    assert "Traceback" not in looked.stderr


def test_what_is_no_table_at_all_is_told(copy: Path) -> None:
    (copy / "generations" / "0002.parquet").write_bytes(b"garbage")
    seal(copy, 2)
    with pytest.warns(RunWarning, match="it is not a parquet file"):
        read_runs([copy])
    refused = manaforge("resume", copy)
    assert refused.returncode == 1
    assert "generations/0002.parquet: it is not a parquet file" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_a_table_says_beside_its_columns_is_not_read(copy: Path) -> None:
    """Invalid metadata for pandas, and an extra column that is not UTF-8: left out."""
    odd = pa.array([b"\xff"] * 6, pa.binary()).view(pa.string())
    expected = read_runs([copy]).individuals
    rewrite(
        copy, 2, lambda table: table.append_column("more", odd.slice(0, len(table))), {"pandas": "[garbage"}
    )
    pd.testing.assert_frame_equal(read_runs([copy]).individuals, expected)
    assert len(list(open_run_read_only(copy).tables("generations"))[2]) == 6


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", DEEP),
        ("manifest.json", '{"schema": 1, "config_hash": "x", "sessions": 5}'),
        ("champion.toml", "a = " + DEEP),
        ("champion.toml", 'schema = 2\nname = "x"\nprovenance = 3'),
        ("champion.toml", 'schema = 2\nname = "x"\n[weights]\nface = 1\n[provenance]\n'),
        ("final.parquet", "junk"),
        ("generations/²²²².parquet", "junk"),
        ("generations/x.parquet", "junk"),
    ],
)
def test_files_of_another_shape_are_mended_or_told(
    name: str, content: str, copy: Path, finished: Path
) -> None:
    """Also with matching checksums in the manifest; resume plays the final again."""
    (copy / name).write_text(content)
    if name != "manifest.json":
        manifest = json.loads((copy / "manifest.json").read_text())
        for key, file in (("champion_sha256", "champion.toml"), ("final_sha256", "final.parquet")):
            manifest[key] = hashlib.sha256((copy / file).read_bytes()).hexdigest()
        (copy / "manifest.json").write_text(json.dumps(manifest))
    listed = manaforge("runs", copy.parent)
    assert listed.returncode == 0, listed.stderr
    assert "Traceback" not in listed.stderr
    done = manaforge("resume", copy)
    assert done.returncode == 0, done.stderr
    assert bytes_of(copy) == bytes_of(finished)


def test_names_are_no_markup(copy: Path) -> None:
    odd = copy.rename(copy.with_name("[red]x[b]"))
    (odd / "config.toml").write_text('"[/b]" = 1\n' + (odd / "config.toml").read_text())
    listed = manaforge("runs", odd.parent)
    assert listed.returncode == 0, listed.stderr
    assert "[red]x[b]" in listed.stdout


def test_a_report_is_not_written_through_a_link(copy: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (copy / ".report.html.tmp").symlink_to(victim)
    (copy / "report.html").symlink_to(victim)
    done = manaforge("report", copy)
    assert done.returncode == 0, done.stderr
    assert victim.read_text() == "mine"
    assert not (copy / "report.html").is_symlink()


def test_a_look_does_not_keep_others_from_going_on(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading takes the lock for an instant; a writer waits that long."""
    monkeypatch.setattr("evo.storage.files.LOCK_RETRY_SECONDS", HANG)
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            is_locked(copy)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(50):
            open_run(copy).close()
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("name", ["pairings", "generations", "log.jsonl", "checksums.txt", "lock", "aside"])
def test_a_received_folder_leads_nowhere_else(name: str, copy: Path, tmp_path: Path) -> None:
    """Symbolic links in a run folder would let its maker choose the files that are written."""
    victim = tmp_path / "victim"
    if (copy / name).is_dir() or not (copy / name).exists():
        victim.mkdir()
        (victim / "0099.parquet").write_text("mine")
        shutil.rmtree(copy / name, ignore_errors=True)
    else:
        victim.write_text("mine")
        (copy / name).unlink()
    (copy / name).symlink_to(victim)
    with pytest.raises(RunError, match=f"{name} is a symbolic link"):
        open_run(copy)
    assert victim.is_dir() or victim.read_text() == "mine"
    assert not victim.is_dir() or [one.name for one in victim.iterdir()] == ["0099.parquet"]


def test_the_sample_of_schema_1_is_read_and_goes_on(tmp_path: Path) -> None:
    """Kept for the first migration: every later version must open this folder, or refuse it by its number."""
    copy = Path(shutil.copytree(SAMPLE_OF_SCHEMA_1, tmp_path / "copy"))
    assert json.loads((copy / "manifest.json").read_text())["schema"] == 1
    before = bytes_of(copy)
    with open_run(copy) as folder:
        assert folder.problems == []
        assert folder.committed == folder.config.generations + 1
    assert bytes_of(copy) == before


@pytest.mark.parametrize("schema", [0, 2, 99, "1", None])
def test_configurations_and_profiles_of_another_schema_are_refused_by_number(
    schema: object, tmp_path: Path
) -> None:
    from evo.config.files import read_config
    from evo.config.run_config import ConfigError
    from ilp_agent import ProfileError, find_profile, read_profile

    shown = json.dumps(schema) if schema is not None else "[]"
    config = TINY.to_toml().replace("schema = 1", f"schema = {shown}")
    (tmp_path / "config.toml").write_text(config)
    with pytest.raises(ConfigError, match="schema"):
        read_config(tmp_path / "config.toml")
    profile = find_profile("keep-alive").to_toml().replace("schema = 2", f"schema = {shown}")
    (tmp_path / "profile.toml").write_text(profile)
    if schema == 2:
        assert read_profile(tmp_path / "profile.toml")
    else:
        with pytest.raises(ProfileError, match="schema must be 1 to 2, got"):
            read_profile(tmp_path / "profile.toml")
