"""What is read of other processes: any of them may have a name of any bytes."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from evo.play.cluster import _descendants, _members, _processes, is_running, kill_session
from tests.waiting import HANG

NAMED = r"""
import ctypes, sys
assert ctypes.CDLL(None, use_errno=True).prctl(15, sys.argv[1].encode("utf-8", "surrogateescape"), 0, 0, 0) == 0
print("named", flush=True)
sys.stdin.read()
"""
"""A program that gives itself a name (PR_SET_NAME) and waits for the end of its input."""

ODD_NAMES = [b"abc\xc3", b"\xff) Z 1 1 1"]
"""One that is no UTF-8; one that looks like the end of the name and a state."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names as Linux keeps them")


@pytest.fixture(params=ODD_NAMES, ids=repr)
def named(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A process with an odd name, in a session of its own."""
    command = [sys.executable, "-S", "-c", NAMED, request.param]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"named\n"
        yield process
        process.kill()


def test_a_process_of_any_name_is_read(named: subprocess.Popen[bytes]) -> None:
    state, parent = dict(_processes())[named.pid][:2]
    assert (state in "SRD", int(parent)) == (True, os.getpid())
    assert is_running(named.pid)
    assert named.pid in _descendants(os.getpid())
    assert list(_members(named.pid)) == [named.pid]


def test_a_session_with_a_process_of_any_name_is_ended(named: subprocess.Popen[bytes]) -> None:
    kill_session(named.pid)
    assert named.wait(HANG) == -9
    assert not is_running(named.pid)
