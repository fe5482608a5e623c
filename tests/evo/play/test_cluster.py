"""What `--address auto` means: by whom a cluster may be named. Nothing here starts Ray."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evo.play import cluster
from evo.play.cluster import address_file, check_head_listens, find_cluster, refuse_untrusted_file
from evo.play.results import PoolError
from tests.waiting import HANG


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ray's address file, as `ray start` writes it."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    written = tmp_path / "ray" / "ray_current_cluster"
    written.write_text("10.0.0.1:6379")
    written.chmod(0o644)
    assert address_file() == written
    return written


def status(file: Path, **changes: int) -> os.stat_result:
    """The status of a file, with other values."""
    names = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size")
    found = file.stat()
    values = [changes.get(name, getattr(found, name)) for name in names]
    return os.stat_result([*values, 0, 0, 0])


def test_the_variable_comes_first_and_then_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_cluster() == ("10.0.0.1:6379", str(file))
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert find_cluster() == ("10.0.0.1:6379", str(file))
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.2:6379")
    assert find_cluster() == ("10.0.0.2:6379", "RAY_ADDRESS")


def test_ray_looks_in_the_same_place(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    utils = pytest.importorskip("ray._common.utils")
    assert utils.get_ray_address_file(None) == str(file)
    monkeypatch.delenv("RAY_TMPDIR")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "other"))
    assert utils.get_ray_address_file(None) == str(address_file())


def test_a_file_that_others_own_or_may_write_is_refused(file: Path, tmp_path: Path) -> None:
    refuse_untrusted_file(file, status(file, st_uid=0))
    with pytest.raises(PoolError, match=r"is not trusted: it belongs to another user \(number 4711\)"):
        refuse_untrusted_file(file, status(file, st_uid=4711))
    file.chmod(0o666)
    with pytest.raises(PoolError, match="every user may write it"):
        find_cluster()
    file.chmod(0o644)
    os.link(file, tmp_path / "second")
    with pytest.raises(PoolError, match="it has several hard links"):
        find_cluster()


def test_links_pipes_and_other_bytes_are_refused(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(PoolError, match="does not contain an address"):
        find_cluster()
    file.unlink()
    with pytest.raises(
        PoolError, match="no cluster found on this machine.*does not exist.*--address HOST:PORT"
    ):
        find_cluster()
    os.mkfifo(file)
    with pytest.raises(PoolError, match="not a regular file"):
        find_cluster()
    file.unlink()
    (tmp_path / "mine").write_text("10.0.0.1:6379")
    file.symlink_to(tmp_path / "mine")
    with pytest.raises(PoolError, match="--address auto: .*ray_current_cluster"):
        find_cluster()


@pytest.mark.parametrize("answer", [b"HTTP/1.0 400 Bad Request\r\n\r\n", b"", b"\0\0"])
def test_what_listens_and_is_no_head_is_told_at_once(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PROBE_SECONDS", 0.2)
    with serving(answer) as address, pytest.raises(PoolError, match=f"{address} is no head of a Ray cluster"):
        check_head_listens(address)
    monkeypatch.setattr(cluster, "PROBE_SECONDS", HANG)
    with serving(bytes(3) + b"\x04" + bytes(5)) as address:
        check_head_listens(address)


@contextlib.contextmanager
def serving(answer: bytes) -> Iterator[str]:
    """The address of a server that sends an answer to whoever connects, and then nothing."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer)
                over.wait(HANG)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
