"""Chromium for tests of pages; where there is none they are skipped with the reason."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.waiting import HANG

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="SKIPPED: playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("SKIPPED: there is no chromium on this machine")
    with sync_api.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def page_of(one: Any, **settings: Any) -> Iterator[Any]:
    """A page in a context of its own; anything that the page complains about fails the test."""
    context = one.new_context(**{"reduced_motion": "reduce", **settings})
    context.set_default_timeout(1000 * HANG)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    yield page
    context.close()
    assert said == []
