"""The list of all folders, the page of a run, and what differs between runs."""

import threading
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.errors import ManaforgeError
from evo.serving.folders import RUN
from evo.serving.kept import Kept
from evo.serving.pages import Pages
from evo.serving.rundata import run_numbers
from evo.storage.opening import run_config

KEPT = 64
"""Runs whose numbers are kept in memory."""

MOST_COMPARED = 20
"""Runs whose configurations are compared."""


class RunPages:
    """Pages of runs.

    Args:
        pages: what makes them.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._numbers: Kept[dict[str, Any]] = Kept(run_numbers, KEPT, lambda one: one["state"] == "running")

    def index(self, request: Request) -> Response:  # noqa: ARG002 - every page is called with it
        """The list of all folders."""
        catalogue = self._pages.catalogue
        return self._pages.render(
            "index.html", title="Runs", root=catalogue.root.name, listed=catalogue.listed()
        )

    def rows(self, request: Request) -> Response:
        """The list alone, for pages that refresh it; nothing where `seen` is what there is."""
        listed = self._pages.catalogue.listed()
        if request.query_params.get("seen") == listed.seen:
            return Response(status_code=204)
        return self._pages.render("rows.html", listed=listed)

    def run(self, request: Request) -> Response:
        """A run's page, which asks for its numbers."""
        name = request.path_params["name"]
        if self._pages.catalogue.find(name, RUN) is None:
            return self._pages.missing(f"run {name}")
        return self._pages.render("run.html", title=name, name=name)

    def numbers(self, request: Request) -> Response:
        """The numbers of a run's page as JSON; what cannot be read is told by `unreadable`."""
        relative = self._pages.catalogue.relative
        path = self._pages.catalogue.find(request.path_params["name"], RUN)
        if path is None:
            return JSONResponse({"unreadable": "it is not there any more"}, 404)
        try:
            numbers = self._numbers.get(path)
        except (ManaforgeError, OSError, ValueError, TypeError) as error:  # a stranger's file
            return JSONResponse({"unreadable": relative(error)})
        return JSONResponse(numbers | {"problems": list(map(relative, numbers["problems"]))})

    def compare(self, request: Request) -> Response:
        """What differs between the configurations of chosen runs."""
        names = list(dict.fromkeys(request.query_params.getlist("run")))[:MOST_COMPARED]
        found = {name: self._pages.catalogue.find(name, RUN) for name in names}
        missing = [name for name, path in found.items() if path is None]
        if missing or not found:
            return self._pages.missing(f"run {missing[0]}" if missing else "chosen run")
        try:
            configs = {name: _flat(run_config(path)) for name, path in found.items() if path is not None}
        except (ManaforgeError, OSError) as error:
            return self._pages.problem("Differences", str(error))
        keys = dict.fromkeys(key for config in configs.values() for key in config)
        rows = [(key, [config.get(key, "") for config in configs.values()]) for key in keys]
        different = [(key, values) for key, values in rows if len(set(values)) > 1]
        return self._pages.render(
            "compare.html", title="Differences", names=names, rows=different, same=len(rows) - len(different)
        )

    def warm_up(self) -> None:
        """Read all folders in the background, so that the list is whole when it is asked for."""

        def read() -> None:
            while self._pages.catalogue.look().waiting:
                time.sleep(0.05)  # lets those who ask in between

        threading.Thread(target=read, daemon=True).start()


def _flat(config: Any) -> dict[str, str]:
    """A configuration's values as texts, by key."""
    found: dict[str, str] = {}

    def walk(values: dict[str, Any], before: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                walk(value, f"{before}{key}.")
            else:
                found[f"{before}{key}"] = (
                    ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                )

    walk(config.model_dump(mode="json"), "")
    return found
