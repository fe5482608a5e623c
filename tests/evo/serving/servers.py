"""Servers on free ports, for tests."""

import http.client
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from evo.serving.app import make_app
from tests.waiting import HANG, wait_until

LOOPBACK = frozenset({"127.0.0.1", "localhost"})


class Asked:
    """A server on a free port, and its answers."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def address(self) -> str:
        """Of the first page, without its last stroke."""
        return f"http://127.0.0.1:{self.port}"

    def get(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        try:
            link.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            answer = link.getresponse()
            found = {name.lower(): text for name, text in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            link.close()


@contextmanager
def served(root: Path, token: str = "", opponents: Sequence[str] | None = None) -> Iterator[Asked]:
    """A running server of a folder."""
    app = make_app(root, frozenset() if token else LOOPBACK, token, opponents)
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server starts")
        yield Asked(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
