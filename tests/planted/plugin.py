"""The pytest plugin of private copies: chosen tests in a chosen order, and what happens to them.

It is copied into the environment of a copy, as the tree may have no `tests.planted`.
"""

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import planted_probe as probe
import pytest


def _seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _name(fixture: Any) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests of the file PLANTED_TESTS: those of `order`, or all but those of `done`."""
    chosen = os.environ.get("PLANTED_TESTS")
    if not chosen:
        return
    plan = json.loads(Path(chosen).read_text())
    if "order" in plan:
        rank = {test: n for n, test in enumerate(plan["order"])}
        kept = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])
    else:
        done = set(plan["done"])
        kept = [item for item in items if item.nodeid not in done]
    left = set(items) - set(kept)
    config.hook.pytest_deselected(items=list(left))
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, Any]:
    """Note when a test begins, which shared fixtures it uses, and how long it took."""
    info = getattr(item, "_fixtureinfo", None)
    fixtures = [found[-1] for found in info.name2fixturedefs.values()] if info else []
    item._planted = "passed"
    probe.forget()
    probe.say(test=item.nodeid, uses=[_name(one) for one in fixtures if one.scope != "function"])
    began = _seconds()
    result = yield
    probe.say(test=item.nodeid, seconds=round(_seconds() - began, 3), outcome=item._planted)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any) -> Generator[None, Any, Any]:
    """Note why a test fails."""
    report = yield
    if report.failed:
        item._planted = "failed"
        crash = getattr(report.longrepr, "reprcrash", None)
        probe.say(
            failed=item.nodeid, when=report.when, why=str(getattr(crash, "message", report.longrepr))[:300]
        )
    elif report.skipped and item._planted == "passed":
        item._planted = "skipped"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, Any, Any]:
    """What the setup of a shared fixture reaches is reached for all tests that use it."""
    if fixturedef.scope == "function":
        return (yield)
    probe.enter(_name(fixturedef))
    try:
        return (yield)
    finally:
        probe.leave()
