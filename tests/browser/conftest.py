"""One Chromium for all tests of a file."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.support import browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running Chromium."""
    with browser() as found:
        yield found
