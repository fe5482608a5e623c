"""Servers on free ports, for tests."""

import http.client
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from evo.serving.app import make_app, make_server
from evo.serving.guard import COOKIE_PREFIX
from tests.waiting import HANG, wait_until

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN = "right"


class Asked:
    """A server of the folder `root` on a free port, and its answers to who has its token."""

    def __init__(self, port: int, root: Path) -> None:
        self.port, self.root = port, root

    @property
    def address(self) -> str:
        """Of the first page, without its last stroke."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        """The cookie with the token."""
        return f"{COOKIE_PREFIX}_{self.port}={TOKEN}"

    def entry(self, path: str = "/") -> str:
        """The address of a page, with the token."""
        return f"{self.address}{path}{'&' if '?' in path else '?'}token={TOKEN}"

    def get(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        said = {"Cookie": self.cookie} | {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            link.request(method, path, body, said)
            answer = link.getresponse()
            found = {name.lower(): text for name, text in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            link.close()


@contextmanager
def served(root: Path, opponents: Sequence[str] | None = None, decks: Sequence[str] = ()) -> Iterator[Asked]:
    """A running server of a folder."""
    server = make_server(make_app(root, TOKEN, LOOPBACK, opponents, decks))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server starts")
        yield Asked(listener.getsockname()[1], root)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def cheap_fireball(name: str) -> str:
    """A deck file with the cards of basic-mage, in which Fireball costs 3 instead of 4."""
    text = (resources.files("engine") / "data" / "decks" / "basic-mage.toml").read_text("utf-8")
    return text.replace('"basic-mage"', f'"{name}"').replace(
        'name = "Fireball"', 'name = "Fireball"\ncost = 3'
    )
