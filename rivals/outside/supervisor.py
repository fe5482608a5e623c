"""Supervisor process of an agent from outside: runs the agent, and leaves no process of it behind.

A stand-alone script without imports from Manaforge: `python supervisor.py LIFELINE COMMAND...`. The agent
inherits standard input and output; the supervisor uses neither. When the agent exits, or the other end of the
pipe LIFELINE closes (because Manaforge exited for any reason), the supervisor kills all descendants of the
agent and exits.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Options of Linux's prctl: kill the agent with its supervisor; reparent orphans to the supervisor."""

SECONDS_TO_END = 1.0
"""Time for an agent to exit by itself after its input is closed."""

NOT_STARTED = 127
"""Exit code of the supervisor if the command cannot be started."""


libc = ctypes.CDLL(None)


def descendants_of(parents: set[int]) -> set[int]:
    """Ids of all descendants of the processes `parents`, on Linux; elsewhere none."""
    found: set[int] = set()
    tree: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = entry.read_bytes()  # a process name may have any bytes
            tree.setdefault(int(text.rpartition(b")")[2].split()[1]), []).append(int(entry.parent.name))
    pending = list(parents)
    while pending:
        for child in tree.get(pending.pop(), []):
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


def kill_descendants(group: int) -> None:
    """Kill the agent's process group and all descendants of this process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for _ in range(50):  # each may have started others meanwhile
        descendants = descendants_of({os.getpid()})
        for process in descendants:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not descendants:
            return
        time.sleep(0.01)


def die_with_parent() -> None:
    """Have Linux kill this process, the future agent, if its supervisor is killed."""
    if sys.platform == "linux":
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main(lifeline: int, command: list[str]) -> int:
    """Run the agent until it exits, the lifeline closes, or SIGTERM arrives; returns the exit code."""
    if sys.platform == "linux":
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        agent = subprocess.Popen(command, start_new_session=True, preexec_fn=die_with_parent)  # noqa: PLW1509
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_STARTED
    for stream in (0, 1):
        os.close(stream)
    try:
        while agent.poll() is None:
            ready, _, _ = select.select([lifeline, woken], [], [])
            if woken in ready and signal.SIGTERM in os.read(woken, 512):
                break
            if lifeline in ready:
                agent.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        pass
    finally:
        kill_descendants(agent.pid)
    return agent.returncode if agent.returncode is not None else 0


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.argv[2:])
    os._exit(code if code >= 0 else 128 - code)
