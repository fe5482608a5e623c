"""Terminal tables of commands: run lists, deck ratings, sweep curves and explained plans."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console, ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from engine import HERO, Action, Deck, Position
from engine.codes import ActionKind
from evo.analysis.listing import (
    benchmark_score,
    learnings_and_experiments_below,
    runs_below,
    tournaments_below,
)
from evo.analysis.tables import find_runs
from evo.config.benchmarks import SEVEN
from evo.config.files import split_names
from evo.config.messages import counted
from evo.game_pages.story import (
    action_text,
    body_action_text,
    minion_names,
    plan_steps,
    plan_text,
    plan_texts,
)
from evo.stats.standings import Standings
from evo.storage.run_folder import replace_missing_decks
from evo.terminal.console import Column, FittingTable
from evo.tournament.sweep import Variants, format_value
from ilp_agent import Attack, Explanation, Plan, ProblemPlan, Profile, TurnProblem, Weights
from ilp_agent.agent import play_planned_action
from ilp_agent.plan import PlanAction
from ilp_agent.search import SECRETS
from ilp_agent.search.secret_explanation import SecretExplanation, SecretHypothesis

RUN_COLUMNS = (
    Column("run"),
    Column("began (UTC)", 4),
    Column("state"),
    Column("generation", 1),
    Column("agent", 5),
    Column("strategy", 6),
    Column("decks", 7),
)
TOURNAMENT_COLUMNS = (
    Column("tournament"),
    Column("began (UTC)", 2),
    Column("state"),
    Column("kind", 3),
    Column("entrants", 4, right=True),
    Column("games", 5, right=True),
    Column("leader", 1),
    Column("decks", 6),
)
OTHER_COLUMNS = (
    Column("folder"),
    Column("began (UTC)", 2),
    Column("state"),
    Column("kind"),
    Column("page", 1, folds=True),
)


def show_runs(runs: Sequence[dict[str, Any]], console: Console) -> None:
    """Print a table of run folders, from `runs_below`; nothing if there are none."""
    scores = list(map(benchmark_score, runs))
    played = sorted({short for short, _ in scores if short})
    heading = "champion or best" if len(played) > 1 else f"against {(played or [SEVEN.short])[0]}"
    rows = [
        [
            run["run"],
            _minute(run["began"]),
            run["state"],
            _generation(run),
            run["agent"],
            run["strategy"],
            ", ".join(run["decks"]),
            f"{text} against {short}" if len(played) > 1 and short else text,
        ]
        for run, (short, text) in zip(runs, scores, strict=True)
    ]
    if rows:
        console.print(FittingTable((*RUN_COLUMNS, Column(heading, 3, right=True)), rows))
    for run in runs:
        if run["problem"]:
            console.print(f"{run['run']}: {run['problem']}", markup=False, highlight=False)


def _generation(run: dict[str, Any]) -> str:
    """Number of a run's last generation and of all; with the final missing, if only that is left to play."""
    last, of = run["generation"], run["generations"]
    if last is None:
        return ""
    return f"{last}/{of}" + (", no final" if last == of and run["state"] == "stopped" else "")


def show_folders(root: Path, console: Console) -> None:
    """Print all runs, tournaments and experiments below a folder, or how to create a run."""
    runs, tournaments, others = (
        runs_below(root),
        tournaments_below(root),
        learnings_and_experiments_below(root),
    )
    show_runs(runs, console)
    _show_tournaments(tournaments, console)
    if others:
        rows = [
            [one["folder"], _minute(one["began"]), *(one[key] for key in ("state", "kind", "page"))]
            for one in others
        ]
        console.print(FittingTable(OTHER_COLUMNS, rows))
    if not (runs or tournaments or others):
        console.print(f"no run folders under {root}; manaforge evolve quickstart creates one", markup=False)


def _show_tournaments(tournaments: Iterable[dict[str, Any]], console: Console) -> None:
    """Print a table of tournaments, from `tournaments_below`; nothing if there are none."""
    rows = [
        [
            one["tournament"],
            _minute(one["began"]),
            one["state"],
            one["kind"],
            str(one["entrants"]),
            "" if one["games"] is None else f"{one['games']:,}",
            one["leader"],
            ", ".join(one["decks"]),
        ]
        for one in tournaments
    ]
    if rows:
        console.print(FittingTable(TOURNAMENT_COLUMNS, rows))


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


HIGHEST_COST = 7
"""Mana cost from which cards are counted together in a mana curve."""

DECK_RATING_COLUMNS = (
    Column("deck"),
    Column("rating", right=True),
    Column("95% interval", 1, right=True),
    Column("games", 4, right=True),
    Column("score", 2, right=True),
    Column("exact", 3, right=True),
    Column("cards by cost, 0 to 7+", 5),
)
PAIR_COLUMNS = (
    Column("deck"),
    Column("against"),
    Column("games", 2, right=True),
    Column("score", right=True),
    Column("95% interval", 1, right=True),
)


def restore_decks(runs: Sequence[Path], decks: str) -> None:
    """Copy deck files into run folders from which they are missing.

    Raises:
        RunError: none is missing, or the runs were started with other decks.
    """
    for path in find_runs(runs).values() if decks else ():
        replace_missing_decks(path, split_names(decks))


def show_decks(read: Standings, decks: Sequence[Deck], console: Console) -> None:
    """Print deck ratings and the score of every pair of decks, from `evo.stats.standings.deck_standings`."""
    by_name = {deck.name: deck for deck in decks}
    rows = [
        [
            str(row.entrant),
            f"{row.rating:+z.1f}",
            f"{row.low:+z.1f} to {row.high:+z.1f}",
            f"{row.games:,}",
            f"{row.score:.1%}",
            _exact(by_name[row.entrant]),
            mana_curve(by_name[row.entrant]),
        ]
        for row in read.ratings.itertuples()
    ]
    console.print(FittingTable(DECK_RATING_COLUMNS, rows, "decks, rated in Elo"))
    order = list(read.ratings["entrant"])
    pairs = [
        [
            row.deck,
            row.opponent_deck,
            f"{row.games:,}",
            f"{row.score:.1%}",
            f"{row.low:.1%} to {row.high:.1%}",
        ]
        for row in read.decks.itertuples()
        if order.index(row.deck) < order.index(row.opponent_deck)
    ]
    console.print(FittingTable(PAIR_COLUMNS, pairs, "every pair of decks"))


def _exact(deck: Deck) -> str:
    return f"{deck.n_exact} of {'a pool of ' if deck.random else ''}{len(deck.cards)}"


def mana_curve(deck: Deck) -> str:
    """Mana curve of a deck as text: numbers of cards that cost 0, 1, ... and 7 or more."""
    costs = [min(card.spec.cost, HIGHEST_COST) for card in deck.cards]
    return " ".join(f"{costs.count(cost):>2}" for cost in range(HIGHEST_COST + 1))


CURVE_COLUMNS = (
    Column("games", 4, right=True),
    Column("won", 5, right=True),
    Column("lost", 6, right=True),
    Column("drawn", 7, right=True),
    Column("win rate", right=True),
    Column("95% interval", 2, right=True),
    Column("", 3),
)
"""Headings of a sweep's curve after the column of values."""


def sweep_figure(curve: pd.DataFrame, variants: Variants, against: str) -> bytes:
    """Figure of a sweep's curve, as a PNG."""
    from evo.figures.style import figure, png_bytes  # two seconds to import
    from evo.tournament.report import plot_sweep

    with figure(6.2, 3.6) as (drawn, axes):
        plot_sweep(axes, curve, variants, against)
        return png_bytes(drawn)


def show_curve(curve: pd.DataFrame, usual: float | None, unproven: int, console: Console) -> None:
    """Print a sweep's curve as a table, with the best values marked."""
    rows = []
    for row in curve.itertuples():
        counts = [f"{count:,}" for count in (row.games, row.wins, row.losses, row.draws)]
        value = format_value(row.value) + (" (its own)" if row.value == usual else "")
        interval = f"{row.low:.1%} to {row.high:.1%}"
        rows.append([value, *counts, f"{row.win_rate:.1%}", interval, row.against_best])
    console.print(FittingTable((Column(str(curve["weight"].iloc[0])), *CURVE_COLUMNS), rows))
    if unproven:
        console.print(f"{counted(unproven, 'turn')} unproven: the search reached its limit", markup=False)


def draw_explanation(explanation: Explanation, position: Position, title: str = "") -> ConsoleRenderable:
    """Draw a plan and its terms, beside the best plan without its first action."""
    words, plan, other = plan_texts(explanation, position), explanation.plan, explanation.alternative
    lines = [
        Text(f"plan{f' ({title})' if title else ''}: {words.plan}", style="bold"),
        Text(words.promise),
    ]
    table = Table("term", "for", title_justify="left")
    table.add_column("plan", justify="right")
    if other is not None:
        lines.append(Text(f'without "{words.refused}": {words.alternative}'))
        if explanation.tie:
            lines.append(Text("a tie: both plans have the same value"))
        table.add_column("without", justify="right")
        table.add_column("decides", justify="right")
    for w, name in enumerate(plan.terms._asdict()):
        row = [name, Weights.MEANINGS[w], f"{plan.terms[w]:+.2f}"]
        if other is not None:
            row += [f"{other.terms[w]:+.2f}", _difference(plan.terms[w] - other.terms[w])]
        table.add_row(*row)
    total = ["sum", f"status {plan.status}", f"{plan.objective:+.2f}"]
    if other is not None:
        total += [f"{other.objective:+.2f}", _difference(plan.objective - other.objective)]
    table.add_row(*total, style="bold")
    return Group(*lines, table)


MAX_CANDIDATES_SHOWN = 5
"""Largest number of candidates shown of a turn against hidden Secrets."""


def draw_secret_explanation(explanation: SecretExplanation, position: Position) -> ConsoleRenderable:
    """Draw what was assumed of the opponent's Secrets, and the best candidates with their values."""

    def name_of(hypothesis: SecretHypothesis) -> str:
        return " + ".join(position.card_name(number) if number >= 0 else "?" for number in hypothesis.cards)

    hypotheses = explanation.hypotheses
    assumed = ", ".join(f"{name_of(one)} {one.probability:.0%}" for one in hypotheses)
    table = Table("up to the first that may reveal a Secret", title_justify="left")
    for title in ("mean", "worst"):
        table.add_column(title, justify="right")
    table.add_column("worst with")
    for candidate in explanation.candidates[:MAX_CANDIDATES_SHOWN]:
        worst = hypotheses[candidate.values.index(candidate.worst)]
        table.add_row(
            _actions_text(position, candidate.actions),
            f"{candidate.mean(hypotheses):+.2f}",
            f"{candidate.worst:+.2f}",
            name_of(worst),
        )
    rule = next(name for name, value in SECRETS.items() if value == explanation.rule)
    return Group(Text(f"Secrets that may be in play ({rule}): {assumed}"), table)


def _actions_text(position: Position, actions: Sequence[Action]) -> str:
    """Text of actions that follow each other, none of them random before the last."""
    here, words = position.copy(), []
    for number, action in enumerate(actions):
        if number:
            play_planned_action(here, actions[number - 1])
        words.append(action_text(here, action))
    return "; ".join(words) or "end the turn"


def explanation_json(
    explanation: Explanation, profile: Profile[Weights], backend: str, position: Position
) -> dict[str, Any]:
    """An explained plan as JSON values; actions as text, and as indices of the turn problem or engine."""
    by_kind = _json_of_bodies if isinstance(explanation.turn, TurnProblem) else _json_of_cards
    refused, data = by_kind(explanation, position)
    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "backend": backend,
        "plan": data(explanation.plan),
        "without": refused,
        "alternative": data(explanation.alternative),
        "tie": explanation.tie,
    }


def _json_of_bodies(explanation: Any, position: Position) -> tuple[Any, Callable[[Any], Any]]:
    """First action of a plan on bodies as JSON values, and a function that converts such plans."""
    names = minion_names(explanation.turn, position)
    m = len(explanation.turn.friendly)

    def action_data(action: PlanAction) -> dict[str, Any]:
        kind = type(action).__name__
        target = (
            {"target": "hero" if action.target == HERO else action.target}
            if isinstance(action, Attack)
            else {}
        )
        return {"kind": kind, **action._asdict(), **target, "text": body_action_text(action, names, m)}

    def plan_data(plan: ProblemPlan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "status": str(plan.status),
            "objective": plan.objective,
            "terms": plan.terms._asdict(),
            "actions": [action_data(action) for action in plan.actions],
            "lethal": plan.lethal,
            "cleared": plan.cleared,
            "killed": plan.killed,
            "lost": plan.lost,
            "damage": plan.damage,
            "mana": plan.mana,
        }

    refused = explanation.refused
    return action_data(refused) if refused is not None else None, plan_data


def _json_of_cards(explanation: Any, position: Position) -> tuple[Any, Callable[[Any], Any]]:
    """First action of a plan on real cards as JSON values, and a function that converts such plans."""

    def action_data(here: Position, action: Action) -> dict[str, Any]:
        return {
            "kind": action.kind.name.lower(),
            "source": action.source,
            "target": action.target if action.aimed or action.kind == ActionKind.ATTACK else None,
            "text": action_text(here, action),
        }

    def plan_data(plan: Plan | None) -> dict[str, Any] | None:
        if plan is None:
            return None
        return {
            "status": str(plan.status),
            "objective": plan.objective,
            "terms": plan.terms._asdict(),
            "actions": [action_data(here, action) for here, action in plan_steps(position, plan)],
            "again": plan.again,
            "states": plan.states,
            "text": plan_text(position, plan),
        }

    refused = explanation.refused
    return action_data(position, refused) if refused is not None else None, plan_data


def _difference(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.005 else ""
