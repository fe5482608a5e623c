"""Measurement of patches: other deals, agents that the search never saw, and pilots that adapt to them.

A pilot adapts by a short evolution of its weights on the patched cards: it plays against itself with all
decks of the field, from the weights that it had (strategy `spsa`). For comparison it also adapts to the field
as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.cards.patches import Patch
from engine.decks import split_deck_prefix
from evo.config.files import read_config
from evo.config.run_config import ConfigOptionError, RunConfig
from evo.evolution.run import max_games_of_generation
from evo.experiments.balance import Balance, Genome, MeasureKeys
from evo.experiments.deck_verdict import mean_interval
from evo.experiments.exploit import score_against
from evo.experiments.folder import ExperimentFolder
from evo.experiments.optimisers import BenchRun, Contender, play_run
from evo.figures.page import Section, heat_table, html_table, interval_cells, make_page
from evo.play.games import Player, PlayFunction, Roster, Schedule
from evo.storage.files import json_bytes
from ilp_agent.weights import WEIGHT_SETS
from rivals import find_kind, is_outside
from rivals.kinds import format_options

ADAPTED = " (adapted)"
"""After the name of a player whose weights have evolved again on the patched cards."""

FIXED = "lethal"
"""Weight that does not adapt."""

Evolve = Callable[[RunConfig, int], Sequence[float]]
"""Returns the weights of an agent after its evolution by a configuration, in at most so many games."""


def adaptation_config(balance: Balance, genome: Genome, keys: MeasureKeys) -> RunConfig:
    """The run configuration in which an agent adapts to a patch.

    Evolved weights are in [0, 1], so that larger ones are scaled: plans depend on ratios alone. The worth of
    winning, `lethal`, is fixed: it would be cut to the worth of a minion.

    Raises:
        ConfigError: the agent has no weights that can evolve, or too few games.
    """
    player, name = balance.players[keys.entrant], f"measure: {keys.entrant}: adapt_games"
    if (
        is_outside(player.kind)
        or not player.weights
        or player.deck_weights
        or player.keeps
        or player.card_values
    ):
        raise ConfigOptionError(
            f"{name}: only weights evolve again, of an agent of this project without weights for single "
            "decks, mulligan choices and card values; leave it out"
        )
    base = read_config("", [f"agent={player.kind}", "strategy=spsa", "mu=2", "lambda=2"], begins=True)
    own = next((one for one, of in WEIGHT_SETS.items() if len(of.names()) == len(player.weights)), "")
    chosen = {"weights": own} if base.supports_weight_sets else {}
    weights = dict(zip(base.changed(**chosen).vector.names(), player.weights, strict=True))
    if min(weights.values()) < 0:
        raise ConfigOptionError(f"{name}: it has weights below 0, which do not evolve; leave it out")
    scale = max(1.0, *(value for name, value in weights.items() if name != FIXED))
    options = find_kind(player.kind).options
    config = base.changed(
        **chosen,
        backend=player.backend,
        options=format_options(options, player.options) if player.options else "",
        decks=[_with_patch(text, balance.patch(genome)) for text in balance.config.decks],
        ruleset=balance.ruleset.name,
        seed=balance.config.seed,
        games=2,
        fixed_weights={name: value / scale for name, value in weights.items() if name == FIXED},
        initial_weights={name: value / scale for name, value in weights.items() if name != FIXED},
        spsa={"c_end": 0.05, "r_end": 0.01},
        final={},
        validation={},
    )
    fewest = max_games_of_generation(config, 0)
    if keys.adapt_games < fewest:
        raise ConfigOptionError(
            f"{name} must be at least {fewest}, the games of one generation, got {keys.adapt_games}"
        )
    return Contender(keys.entrant, config, frozenset()).config_within(keys.adapt_games, config.seed)


def _with_patch(deck: str, patch: Patch) -> str:
    """The text of a deck with a patch, which takes precedence over one of its own."""
    reading, name = split_deck_prefix(deck)
    return replace(reading, patch=reading.patch | patch).text + name


def evolve_pilot(config: RunConfig, games: int, play: PlayFunction) -> list[float]:
    """Evolve an agent's weights on a patch, by games against itself with all decks of the field.

    Args:
        config: from `adaptation_config`.
        games: most games of the evolution.
        play: plays games.
    """
    run = BenchRun("", 0, games, config, (games,))
    evolved = dict(zip(config.vector.names(), play_run(run, play)[-1]["weights"], strict=True))
    return list((evolved | config.fixed_weights).values())


def kept_evolutions(folder: ExperimentFolder, play: PlayFunction, advance: Callable[[int], None]) -> Evolve:
    """A function that evolves agents on patches (`evolve_pilot`), and keeps their weights in a folder.

    Args:
        folder: of the experiment.
        play: plays games.
        advance: called with the number of games that an evolution did not play.
    """

    def evolve(config: RunConfig, games: int) -> Sequence[float]:
        name = f"points/adapted-{config.digest[:16]}.json"
        weights: list[float] | None = folder.read_json_file(name).get("weights")
        played = 0

        def counting(roster: Roster, schedule: Schedule) -> np.ndarray:
            nonlocal played
            played += len(schedule)
            return play(roster, schedule)

        if weights is None:
            weights = evolve_pilot(config, games, counting)
            folder.commit_file(name, json_bytes({"weights": weights}))
        advance(games - played)
        return weights

    return evolve


def measure_front(
    balance: Balance, front: Sequence[Genome], play: PlayFunction, evolve: Evolve
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure patches on deals that the search never saw, by each agent of the key `measure`.

    An agent with `adapt_games` plays twice: as it is, and with the weights that `evolve` returns.

    Returns:
        Matchups, one row per patch, player and matchup: patch (number; 0 the field as it is), edits (as users
        write them), n_edits, player, first, second (decks), target, games, score (of first), low, high (95%).
        Adaptations, one row per patch and agent that adapts: patch, player, evolution (games), games, score
        (of the adapted agent against itself as it was, on the patch), low, high (95%), and its weights.
    """
    rows: list[dict[str, Any]] = []
    learned: list[pd.DataFrame] = []
    for number, genome in enumerate([balance.printed, *front]):
        for keys in balance.config.measure:
            players = {keys.entrant: balance.players[keys.entrant]}
            if keys.adapt_games:
                config, before = adaptation_config(balance, genome, keys), players[keys.entrant]
                weights = tuple(evolve(config, keys.adapt_games))
                adapted = replace(before, weights=weights)
                players[keys.entrant + ADAPTED] = adapted
                games = balance.gain_games(keys)
                row = score_against(
                    adapted, before, config.found_decks, balance.ruleset, games, config.seed, play
                )[["games", "score", "low", "high"]]
                named = dict(zip(config.vector.names(), weights, strict=True))
                learned.append(
                    row.assign(**named, patch=number, player=keys.entrant, evolution=keys.adapt_games)
                )
            for name, player in players.items():
                rows += _matchups(balance, number, genome, name, player, keys.games, play)
    columns = ["patch", "player", "evolution", "games", "score", "low", "high"]
    gains = pd.concat(learned, ignore_index=True) if learned else pd.DataFrame(columns=columns)
    return pd.DataFrame(rows), gains[[*columns, *(name for name in gains if name not in columns)]]


def _matchups(
    balance: Balance, number: int, genome: Genome, name: str, player: Player, games: int, play: PlayFunction
) -> list[dict[str, Any]]:
    """Rows of the matchups of one patch by one player."""
    rows = []
    points = balance.points(genome, player, 1, games, play)
    for (first, second), target, own in zip(balance.pairs, balance.targets.tolist(), points, strict=True):
        score, low, high = mean_interval(own)
        rows.append(
            {
                "patch": number,
                "edits": "; ".join(balance.patch(genome).texts),
                "n_edits": sum(a != b for a, b in zip(genome, balance.printed, strict=True)),
                "player": name,
                "first": balance.decks[first].name,
                "second": balance.decks[second].name,
                "target": target,
                "games": 2 * len(own),
                "score": score,
                "low": low,
                "high": high,
            }
        )
    return rows


def summarise(measured: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """One row per patch and player: edits, distances from the targets, and how many matchups are fair.

    Columns: patch, edits, n_edits, player, distance (mean), worst, within (matchups whose score is fair),
    fair (whose interval is), unfair (whose interval is outside), matchups.
    """
    rows = []
    for (number, player), own in measured.groupby(["patch", "player"], sort=False):
        away = (own["score"] - own["target"]).abs()
        low, high = own["target"] - tolerance, own["target"] + tolerance
        rows.append(
            {
                "patch": number,
                "edits": own["edits"].iloc[0],
                "n_edits": own["n_edits"].iloc[0],
                "player": player,
                "distance": float(away.mean()),
                "worst": float(away.max()),
                "within": int((away <= tolerance + 1e-9).sum()),
                "fair": int(((own["low"] >= low) & (own["high"] <= high)).sum()),
                "unfair": int(((own["low"] > high) | (own["high"] < low)).sum()),
                "matchups": len(own),
            }
        )
    return pd.DataFrame(rows)


def balance_sentences(
    summary: pd.DataFrame, gains: pd.DataFrame, nearest: int, tolerance: float
) -> list[str]:
    """What the measurement says: the field as it is, a patch, and which patches survive adaptation.

    Args:
        summary: from `summarise`.
        gains: adaptations from `measure_front`.
        nearest: number of the patch that was nearest to the targets in the search, which so is not chosen
            on these games; 0 if the search found none.
        tolerance: of the configuration.
    """
    matchups = int(summary["matchups"].iloc[0])
    within = summary.pivot(index="patch", columns="player", values="within")[summary["player"].unique()]
    texts = summary.drop_duplicates("patch").set_index("patch")[["edits", "n_edits"]]

    def told(patch: int) -> str:
        return ", ".join(f"{count} by {player}" for player, count in within.loc[patch].items())

    said = [
        f"Of {matchups} matchups, these are within {tolerance:.0%} of their targets as the field is: "
        f"{told(0)}."
    ]
    if nearest:
        n = int(texts["n_edits"][nearest])
        edits = f"{n} {'edit' if n == 1 else 'edits'}: {texts['edits'][nearest]}"
        said.append(f"With patch {nearest}, the nearest of the search ({edits}): {told(nearest)}.")
    else:
        said.append("The search found no patch that is nearer.")
    sure = summary[summary["patch"] == nearest]
    counts = ", ".join(f"{row.fair} and {row.unfair} by {row.player}" for row in sure.itertuples())
    said.append(f"Of these, surely fair and surely unfair (95% intervals): {counts}.")
    for player in (name for name in within if name + ADAPTED in within):
        before, after = within[player].drop(0), within[player + ADAPTED].drop(0)
        own = gains[gains["player"] == player]
        scores = f"{own['score'].min():.1%} to {own['score'].max():.1%}"
        worth = "" if (own["low"] > 0.5).any() else ", so that adapting is not told from nothing"
        said.append(f"Evolved again on each patch, {player} scores {scores} against itself as it was{worth}.")
        whole = before.index[before == matchups]
        if len(whole):
            survive = [str(patch) for patch in whole if after[patch] == matchups]
            fail = [str(patch) for patch in whole if after[patch] < matchups]
            said.append(
                f"Of the patches with all matchups within by {player}, these survive: "
                f"{', '.join(survive) or 'none'}; these do not: {', '.join(fail) or 'none'}."
            )
        elif len(before):
            pairs = [
                f"{old} before and {new} after with patch {patch}"
                for patch, old, new in zip(before.index, before, after, strict=True)
            ]
            said.append(f"No patch brings all matchups within by {player}: {', '.join(pairs)}.")
    return said


def matrix(measured: pd.DataFrame, patch: int, player: str, decks: Sequence[str]) -> pd.DataFrame:
    """Scores of the row's deck against the column's, of one patch and player."""
    own = measured[(measured["patch"] == patch) & (measured["player"] == player)]
    scores = pd.DataFrame(np.nan, index=pd.Index(decks, name=""), columns=list(decks))
    for row in own.itertuples():
        scores.loc[row.first, row.second], scores.loc[row.second, row.first] = row.score, 1 - row.score
    return scores


FORMATS = dict.fromkeys(("distance", "worst"), "{:.1%}")


def balance_page(
    balance: Balance,
    measured: pd.DataFrame,
    summary: pd.DataFrame,
    gains: pd.DataFrame,
    sentences: Sequence[str],
    command: str,
) -> bytes:
    """The page of a search, HTML.

    Args:
        balance: the search.
        measured: matchups from `measure_front`.
        summary: from `summarise`.
        gains: adaptations from `measure_front`.
        sentences: from `balance_sentences`.
        command: command that repeats it.
    """
    config, decks = balance.config, [deck.name for deck in balance.decks]
    said = " ".join(sentences)
    wanted = [f"{one.deck} against {one.against} {one.score:.1%}" for one in config.targets]
    targets = f"Targets: {', '.join(wanted)}, and 50% for the others." if wanted else ""
    measure = ", ".join(f"{keys.entrant} on {keys.games:,}" for keys in config.measure)
    sections = [
        Section(
            "Which patches make the field fair?",
            said,
            [html_table(summary.rename(columns={"n_edits": "number"}), FORMATS, "Patches")],
            f"NSGA-II with {config.pilot} on {config.games} games a matchup chose them; other deals measure "
            f"them here, with as many games a matchup: {measure}. Distance: mean from the targets. Within: "
            f"matchups whose score is no further than {config.tolerance:.0%} from its target; fair: whose "
            f"95% interval is; unfair: whose interval is outside. Patch 0 is the field as it is. {targets}",
            said,
        )
    ]
    if len(gains):
        shown = gains.assign(interval=interval_cells(100 * gains[["low", "high"]], "low", "high", "{:.1f}"))
        shown = shown[["patch", "player", "evolution", "games", "score", "interval"]]
        sections.append(
            Section(
                "What adapting gains",
                "An agent whose weights evolved again on a patch, against itself as it was, on new deals.",
                [html_table(shown, {"score": "{:.1%}"}, "Adaptations")],
            )
        )
    for number in dict.fromkeys(summary["patch"]):
        edits = summary.loc[summary["patch"] == number, "edits"].iloc[0]
        tables = [
            heat_table(matrix(measured, number, player, decks), f"{player}")
            for player in dict.fromkeys(measured["player"])
        ]
        title = f"Patch {number}" if number else "The field as it is"
        sections.append(Section(title, f"{edits}." if edits else "No edits.", tables))
    return make_page("Balance of a field", sections, command)
