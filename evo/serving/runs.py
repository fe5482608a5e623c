"""Web pages of runs: the list of all folders, a run's charts, and comparisons."""

import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.errors import ManaforgeError
from engine.safe_files import read_bytes, read_text
from evo.analysis.listing import state_of
from evo.analysis.tables import (
    Runs,
    ancestors,
    best_individuals,
    last_population,
    names_of,
    newcomers,
    read_runs,
    read_validation,
    shares_of,
    sigmas_of,
    wins_by_decks,
)
from evo.config.benchmarks import Benchmark
from evo.serving.folders import RUN_MARKER, FolderCache
from evo.serving.pages import Pages
from evo.storage.champion import load_intact_champion, read_champion_file
from evo.storage.run_folder import RunFolder, open_run_read_only, read_run_config

QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Quantiles of a chart's bands."""

MAX_POINTS = 400
"""Most generations in a chart; of a longer run every n-th generation and the last are sent."""

MAX_ANCESTORS = 300
"""Most ancestors in a lineage."""

_READING = threading.Lock()


def run_numbers(path: Path) -> dict[str, Any]:
    """Data of a run's page as JSON values; missing numbers are None.

    Raises:
        ManaforgeError, OSError: the run cannot be read.
    """
    with _READING, warnings.catch_warnings():  # warning filters are global
        warnings.simplefilter("ignore")  # problems are shown on the page
        runs = _read(path)
    if runs is None:
        return _head(open_run_read_only(path))
    (name, folder) = next(iter(runs.folders.items()))
    individuals, vector = runs.individuals, runs.vector
    shown = _shown_generations(individuals["generation"])
    survivors = individuals[individuals["survived"]]
    best = best_individuals(individuals).set_index("generation")
    labels = names_of(individuals)
    return _head(folder) | {
        "generations_shown": shown,
        "weights": {
            "names": labels,
            "measure": vector.MEASURE,
            "labels": [vector.label(label) for label in labels],
            "meanings": [vector.meaning(label) for label in labels],
            "champion": _champion_shares(folder, labels),
            "quartiles": _quartiles(survivors, shares_of(individuals), shown),
            "best": {
                label: _as_json(best[column].reindex(shown))
                for label, column in zip(labels, shares_of(individuals), strict=True)
            },
        },
        "win_rate": _quartiles(individuals, ["win_rate"], shown)[0],
        "validation": _validation(read_validation(runs)),
        "steps": _steps(survivors, labels, sigmas_of(individuals), shown),
        "decks": _decks(individuals, folder),
        "newcomers": _by_generation(newcomers(individuals).set_index("generation")["newcomers"]),
        "ages": _quartiles(survivors, ["age"], shown)[0],
        "lineage": _lineage(individuals, name, folder),
        "problems": list(runs.problems),
    }


def _read(path: Path) -> Runs | None:
    """Read a run's tables; None before its first generation."""
    folder = open_run_read_only(path)
    return read_runs([path]) if folder.committed else None


def _head(folder: RunFolder) -> dict[str, Any]:
    """Facts at the top of a run's page, as JSON values: state, progress, champion."""
    state, config = state_of(folder), folder.config
    champion = read_champion_file(folder.path)
    return {
        "state": state.word,
        "generation": folder.committed - 1,
        "generations": config.generations,
        "speed": state.speed,
        "seconds_left": state.seconds_left,
        "agent": config.agent,
        "strategy": config.strategy,
        "seed": str(config.seed),
        "ruleset": config.ruleset,
        "deck_names": config.deck_names,
        "benchmark": config.found_benchmark.short,
        "champion": _champion(champion.content, config.found_benchmark),
        "problems": list(folder.problems),
    }


def _champion(content: Any, benchmark: Benchmark) -> dict[str, Any] | None:
    """A champion's name, weights and benchmark, as far as `champion.toml` has them; None without one."""
    weights, provenance = content.get("weights"), content.get("provenance")
    if not isinstance(weights, dict) or not isinstance(provenance, dict):
        return None
    known = {str(key): float(value) for key, value in weights.items() if _is_number(value)}
    record = provenance.get(benchmark.record)
    rate = record.get("win_rate") if isinstance(record, dict) else None
    return {
        "candidate": str(provenance.get("candidate", "")),
        "weights": known,
        "win_rate": rate if _is_number(rate) else None,
    }


def _champion_shares(folder: RunFolder, names: list[str]) -> list[float | None]:
    """The champion's weights as the charts show them; None for each if there is no champion."""
    try:
        profile = load_intact_champion(folder)
    except ManaforgeError:
        profile = None
    shares = profile.weights.active(folder.config.inert_weights) if profile is not None else {}
    return [shares.get(name) for name in names]


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < sys.float_info.max


def _shown_generations(generations: pd.Series) -> list[int]:
    """Generations that charts show: at most about `MAX_POINTS`."""
    found = sorted({int(generation) for generation in generations})
    every = -(-len(found) // MAX_POINTS)
    shown = found[::every]
    return shown if shown[-1] == found[-1] else [*shown, found[-1]]


def _quartiles(table: pd.DataFrame, columns: list[str], shown: list[int]) -> list[list[list[float | None]]]:
    """Quartiles by generation for each column: five lists, from minimum to maximum."""
    groups = table[["generation", *columns]].groupby("generation")[columns]
    parts = [groups.quantile(part).reindex(shown) for part in QUARTILES]
    return [[_as_json(part[column]) for part in parts] for column in columns]


def _as_json(values: pd.Series) -> list[float | None]:
    """Numbers as JSON values: None for missing and infinite numbers."""
    return [float(value) if np.isfinite(value) else None for value in values.astype(float)]


def _by_generation(values: pd.Series) -> dict[str, list[Any]]:
    """Values by generation, as JSON values."""
    return {"generation": [int(number) for number in values.index], "value": _as_json(values)}


def _validation(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Validation scores of best individual and centre, in all and per opponent, with intervals."""
    return [
        {
            "generation": int(row.generation),
            "who": str(row.who),
            "opponent": None if pd.isna(row.opponent) else str(row.opponent),
            **dict(
                zip(
                    ("score", "low", "high"),
                    _as_json(pd.Series([row.score, row.low, row.high])),
                    strict=True,
                )
            ),
        }
        for row in table.itertuples(index=False)
    ]


def _steps(
    survivors: pd.DataFrame, labels: list[str], columns: list[str], shown: list[int]
) -> dict[str, Any]:
    """Median step sizes of the survivors by generation; {} for a strategy without step sizes."""
    if not columns:
        return {}
    medians = survivors.groupby("generation")[columns].median().reindex(shown)
    return {label: _as_json(medians[column]) for label, column in zip(labels, columns, strict=True)}


def _decks(individuals: pd.DataFrame, folder: RunFolder) -> dict[str, Any]:
    """Scores of the last population by own deck (rows) and opponent's deck."""
    names = folder.config.deck_names
    scores = wins_by_decks(last_population(individuals), names)
    return {"names": names, "scores": [_as_json(scores.loc[name]) for name in names]}


def _lineage(individuals: pd.DataFrame, name: str, folder: RunFolder) -> list[dict[str, Any]]:
    """Lineage of the champion, or without one of the current best: ancestors, the oldest first."""
    candidate = str(read_champion_file(folder.path).provenance.get("candidate", ""))
    number = candidate.rpartition("individual ")[2]
    last = best_individuals(individuals).iloc[-1]
    known = number.isascii() and number.isdecimal() and len(number) < 12
    individual = int(number) if known else int(last["individual"])
    found = ancestors(individuals, name, individual).tail(MAX_ANCESTORS)
    rows = [*found[["individual", "birth", "last"]].itertuples(index=False)]
    parents = found[["parent_a", "parent_b"]].to_numpy()
    return [
        {
            "individual": int(row.individual),
            "birth": int(row.birth),
            "last": int(row.last),
            "parents": sorted({int(parent) for parent in pair if pd.notna(parent)}),
        }
        for row, pair in zip(rows, parents, strict=True)
    ]


CACHED_RUNS = 64
"""Most runs in the cache."""

REPORT = "report.html"
"""File that `manaforge report` writes into a run's folder."""

MAX_REPORT_BYTES = 50_000_000
"""Largest report that can be downloaded."""

MAX_COMPARED = 20
"""Most runs in a comparison."""


class RunPages:
    """Request handlers of runs.

    Args:
        pages: page renderer.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._numbers: FolderCache[dict[str, Any]] = FolderCache(
            run_numbers, CACHED_RUNS, lambda one: one["state"] == "running"
        )

    def index(self, request: Request) -> Response:  # noqa: ARG002 - every page is called with it
        """The page with the list of all runs and tournaments."""
        catalogue = self._pages.catalogue
        return self._pages.render(
            "index.html", title="Runs", root=catalogue.root.name, listed=catalogue.listing()
        )

    def rows(self, request: Request) -> Response:
        """Only the list of runs, for refreshing the page; 204 if the list has not changed since `seen`."""
        listed = self._pages.catalogue.listing()
        if request.query_params.get("seen") == listed.seen:
            return Response(status_code=204)
        return self._pages.render("rows.html", listed=listed)

    def run(self, request: Request) -> Response:
        """A run's page, which fetches the numbers of its charts."""
        name = request.path_params["name"]
        path = self._pages.catalogue.find(name, RUN_MARKER)
        if path is None:
            return self._pages.missing(f"run {name}")
        try:
            config = read_text(path / "config.toml")
        except (OSError, ValueError):
            config = ""
        return self._pages.render("run.html", title=name, name=name, config=config, report=_has_report(path))

    def report(self, request: Request) -> Response:
        """Download of a run's report; it is not shown, since its scripts would run on this server's pages."""
        path = self._pages.catalogue.find(request.path_params["name"], RUN_MARKER)
        if path is None or not _has_report(path):
            return self._pages.missing("report of this run")
        try:
            content = read_bytes(path / REPORT, MAX_REPORT_BYTES)
        except (OSError, ValueError) as error:
            return self._pages.problem("Report", self._pages.catalogue.relative(error))
        headers = {"content-disposition": f'attachment; filename="{REPORT}"'}
        return Response(content, headers=headers, media_type="text/html")

    def numbers(self, request: Request) -> Response:
        """The numbers of a run's page as JSON, or `unreadable` with the reason."""
        relative = self._pages.catalogue.relative
        path = self._pages.catalogue.find(request.path_params["name"], RUN_MARKER)
        if path is None:
            return JSONResponse({"unreadable": "the run no longer exists"}, 404)
        try:
            numbers = self._numbers.get(path)
        except (ManaforgeError, OSError, ValueError, TypeError) as error:  # files may come from others
            return JSONResponse({"unreadable": relative(error)})
        return JSONResponse(numbers | {"problems": list(map(relative, numbers["problems"]))})

    def compare(self, request: Request) -> Response:
        """The page that compares chosen runs: differences between the configurations."""
        names = list(dict.fromkeys(request.query_params.getlist("run")))[:MAX_COMPARED]
        return self._compared(names, f"{len(names)} runs")

    def study(self, request: Request) -> Response:
        """The page of a study: its runs' curves, and differences between their configurations."""
        study = request.path_params["name"]
        runs = [run["run"] for run in self._pages.catalogue.listing().runs]
        names = [name for name in runs if name.rpartition("/")[0] == study]
        if not names or not study:
            return self._pages.missing(f"study {study}")
        left_out = f", the first {MAX_COMPARED} of {len(names)}" if len(names) > MAX_COMPARED else ""
        return self._compared(sorted(names)[:MAX_COMPARED], f"Study {study}{left_out}")

    def _compared(self, names: list[str], title: str) -> Response:
        """The page that compares runs."""
        found = {name: self._pages.catalogue.find(name, RUN_MARKER) for name in names}
        missing = [name for name, path in found.items() if path is None]
        if missing or not found:
            return self._pages.missing(f"run {missing[0]}" if missing else "chosen run")
        try:
            configs = {name: _flat(read_run_config(path)) for name, path in found.items() if path is not None}
        except (ManaforgeError, OSError) as error:
            return self._pages.problem(title, str(error))
        keys = dict.fromkeys(key for config in configs.values() for key in config)
        rows = [(key, [config.get(key, "") for config in configs.values()]) for key in keys]
        different = [(key, values) for key, values in rows if len(set(values)) > 1]
        return self._pages.render(
            "compare.html", title=title, names=names, rows=different, same=len(rows) - len(different)
        )

    def warm_up(self) -> None:
        """Read all folders in the background, so that the first list is complete."""

        def read() -> None:
            while self._pages.catalogue.new_listing().waiting:
                time.sleep(0.05)  # lets requests through

        threading.Thread(target=read, daemon=True).start()


def _has_report(run: Path) -> bool:
    """Whether a run's folder has a report that is a file of its own."""
    return (run / REPORT).is_file() and not (run / REPORT).is_symlink()


def _flat(config: Any) -> dict[str, str]:
    """A configuration's values as texts, by dotted key."""
    found: dict[str, str] = {}

    def walk(values: dict[str, Any], prefix: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}{key}.")
            else:
                found[f"{prefix}{key}"] = (
                    ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                )

    walk(config.model_dump(mode="json"), "")
    return found
