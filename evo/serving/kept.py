"""What was read of folders, kept while their files stay as they are."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from evo.serving.folders import Signature, whole_signature_of

FRESH = 1.0
"""Seconds in which nobody reads again what grows: many may look at it at a time."""

Content = TypeVar("Content")


class Kept(Generic[Content]):
    """Contents of folders, read again only when their files change.

    Args:
        read: reads a folder.
        most: contents that are kept; those not asked for the longest go first.
        grows: whether a content is read again although no watched file changed.
    """

    def __init__(
        self, read: Callable[[Path], Content], most: int, grows: Callable[[Content], bool] = lambda _: False
    ) -> None:
        self._read, self._most, self._grows = read, most, grows
        self._known: OrderedDict[Path, tuple[Signature, float, Content]] = OrderedDict()
        self._reading: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, path: Path) -> Content:
        """A folder's content; who asks while it is read waits for it."""
        signature = whole_signature_of(path)
        with self._lock:
            own = self._reading.setdefault(path, threading.Lock())
        with own:
            known = self._known.get(path)
            if known is not None and known[0] == signature:
                _, read, content = known
                if time.monotonic() - read < FRESH or not self._grows(content):
                    return content
            content = self._read(path)
            with self._lock:
                self._known[path] = signature, time.monotonic(), content
                self._known.move_to_end(path)
                while len(self._known) > self._most:
                    old, _ = self._known.popitem(last=False)
                    self._reading.pop(old, None)
        return content
