"""The command solve: what is proven about a turn, and puzzles with a unique lethal."""

import json
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from evo.cli import options
from evo.cli.games import read_position, read_profile
from evo.config.messages import counted
from evo.terminal.console import Column, FittingTable
from ilp_agent.shipped import shipped_profiles

if TYPE_CHECKING:
    from engine import Action, Position
    from evo.puzzles import Puzzle
    from ilp_agent import Profile, Weights
    from ilp_agent.search.lethal import Lethal
    from ilp_agent.search.turn_proof import TurnEnd, TurnProof

MOST_POSITIONS = 10**7
"""Largest --limit: the searches need some 300 bytes for each position."""

MOST_ENDS = 1_000
"""Largest --ends."""

PROFILE, LIMIT, ENDS = "true-balanced", 100_000, 8
"""Defaults of --profile, --limit and --ends."""

MOST_PUZZLES = 100_000
"""Largest --puzzles."""

PUZZLES_FILE = "puzzles.json"
"""Default file of puzzles, and its name in a folder."""

PUZZLE_COLUMNS = (
    Column("grade", right=True),
    Column("puzzles", right=True),
    Column("meaning", 1, folds=True),
)

PositionText = Annotated[
    str | None,
    typer.Argument(
        metavar="POSITION", help="A position on one line (docs/game.md#notation).", show_default=False
    ),
]
PuzzleNumber = Annotated[
    int | None,
    typer.Option(
        "--puzzles",
        metavar="N",
        min=1,
        max=MOST_PUZZLES,
        help="Make so many lethal puzzles from games, instead of solving a position.",
    ),
]
PuzzleOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help=f"With --puzzles: the file to write, or a folder for {PUZZLES_FILE}. (default: {PUZZLES_FILE})",
        show_default=False,
    ),
]
PuzzleDecks = Annotated[
    str,
    typer.Option(
        "--decks",
        metavar="DECKS",
        help="With --puzzles: decks of the games, separated by commas: names, files or deck codes. (default: "
        "the nine class decks basic-*)",
        show_default=False,
        autocompletion=options.complete_decks,
    ),
]


def solve_command(
    position: PositionText = None,
    profile: str | None = typer.Option(
        None,
        help=f"{', '.join(shipped_profiles())}, a profile file, or a run folder. (default: {PROFILE})",
        show_default=False,
        autocompletion=options.complete_profiles,
    ),
    limit: int | None = typer.Option(
        None,
        min=1,
        max=MOST_POSITIONS,
        help=f"Positions that each search may search. (default: {LIMIT})",
        show_default=False,
    ),
    ends: int | None = typer.Option(
        None,
        min=1,
        max=MOST_ENDS,
        help=f"Ends of the turn of the best value to list. (default: {ENDS})",
        show_default=False,
    ),
    as_data: options.AsJson = False,
    n_puzzles: PuzzleNumber = None,
    decks: PuzzleDecks = "",
    seed: int | None = typer.Option(
        None, min=0, max=2**64 - 1, help="With --puzzles: seed of the games. (default: 1)", show_default=False
    ),
    out: PuzzleOut = None,
) -> None:
    """Prove a turn: lethal or not, the best plan, all its ties, and the gap; or make lethal puzzles.

    Without --puzzles it needs a POSITION.
    """
    from engine.errors import WrongValueError

    if n_puzzles is not None:
        for name, value in (
            ("POSITION", position),
            ("--profile", profile),
            ("--limit", limit),
            ("--ends", ends),
        ):
            if value is not None:
                raise WrongValueError(f"--puzzles makes positions; leave out {name}")
        _make_puzzles(n_puzzles, decks, 1 if seed is None else seed, out or Path(PUZZLES_FILE), as_data)
        return
    for name, given in (("--decks", decks), ("--seed", seed is not None), ("--out", out is not None)):
        if given:
            raise WrongValueError(f"{name} needs --puzzles")
    if position is None:
        raise WrongValueError("give a POSITION to solve, or --puzzles N to make puzzles")
    _solve(read_position(position), read_profile(profile or PROFILE), limit or LIMIT, ends or ENDS, as_data)


def _solve(position: "Position", profile: "Profile[Weights]", limit: int, ends: int, as_data: bool) -> None:
    """Prove a turn and print what is proven."""
    from evo.terminal.drawing import console, draw_position
    from ilp_agent.search.turn_proof import prove_turn
    from ilp_agent.turn import Turn

    proof = prove_turn(Turn(position), profile.weights, limit, ends)
    if as_data:
        print(json.dumps(proof_json(proof, position, profile, limit), indent=1))
        return
    screen = console()
    screen.print(draw_position(position))
    for line in [*lethal_lines(proof.lethal, position, limit), *plan_lines(proof, position, profile, limit)]:
        screen.print(line, markup=False, highlight=False)
    if proof.ends_known:
        screen.print(end_table(proof, position))
    if proof.more_ties:
        text = f"there may be more ends of the best value than these {len(proof.ties)}; --ends lists more"
        screen.print(text, markup=False, highlight=False)


def line_text(position: "Position", actions: "Sequence[Action]", again: bool) -> str:
    """A line of play in words; `again`: it goes on by the outcome of its last action."""
    from evo.game_pages.story import SOLVE_AGAIN, action_text
    from ilp_agent.agent import play_planned_action

    here, words = position.copy(), []
    for number, action in enumerate(actions):
        ends = action.kind == action.kind.END_TURN
        words.append("end the turn" if ends else action_text(here, action))
        if number + 1 < len(actions):
            play_planned_action(here, action)
    return "; ".join([*words, SOLVE_AGAIN] if again else words) or "nothing"


def lethal_lines(lethal: "Lethal", position: "Position", limit: int) -> list[str]:
    """What is proven of lethal, as lines of text."""
    searched = counted(lethal.states, "position")
    if lethal.certain and lethal.secrets:
        first = f"lethal: yes, unless a Secret of the opponent prevents it ({searched})"
    elif lethal.certain:
        first = f"lethal: yes; proven, a line surely kills ({searched})"
    elif not lethal.proven:
        first = f"lethal: not proven, no line found that surely kills within {limit:,} positions"
    else:
        first = f"lethal: no; proven, no line surely kills ({searched})"
    lines = [first]
    if not lethal.certain and lethal.chance:
        share = f"{100 * lethal.probability:.3g}%"
        known = "proven to be the largest" if lethal.exact else f"the largest within {limit:,} positions"
        lines.append(f"probability of lethal: {share}, {known}")
    if lethal.line:
        lines.append(f"line: {line_text(position, lethal.line, lethal.again)}")
    counts = []
    if lethal.secrets and not lethal.certain:
        counts.append("Secrets of the opponent are ignored")
    if lethal.drawn:
        counts.append("drawn cards count as unplayable")
    if lethal.hidden:
        counts.append("actions that depend on hidden cards are left out")
    return [*lines, f"counted: {'; '.join(counts)}"] if counts else lines


def plan_lines(
    proof: "TurnProof", position: "Position", profile: "Profile[Weights]", limit: int
) -> list[str]:
    """The best plan, whether it is proven, and what is known of other ends, as lines of text."""
    plan = proof.plan
    lines = [
        f"best turn ({profile.name}): {line_text(position, plan.actions, plan.again)}",
        f"value {plan.objective:+.2f}, {bound_text(proof, limit)}",
    ]
    if not proof.ends_known:
        return [*lines, f"ties and gap: unknown within {limit:,} positions; a larger --limit may find them"]
    others = len(proof.ties) - 1
    more = " or more" if proof.more_ties else ""
    lines.append(f"ties: {counted(others, 'other end')}{more} of the turn of the same value")
    if proof.gap is not None:
        lines.append(f"gap to the next best end: {proof.gap:.2f}")
    elif not proof.more_ties:
        every = "every end has this value" if others else "there is no other end"
        lines.append(f"gap to the next best end: none, {every}")
    return lines


def bound_text(proof: "TurnProof", limit: int) -> str:
    """Whether the plan is proven, and otherwise what bounds a better one."""
    if proof.proven:
        return f"proven to be the best ({counted(proof.plan.states, 'position')})"
    gap = proof.bound_gap
    told = "" if gap is None else f"; a better turn is worth at most {gap:.2f} more"
    return f"not proven within {limit:,} positions{told}"


def end_table(proof: "TurnProof", position: "Position") -> Table:
    """Table of ends of the turn: the ties, and the next best end."""
    table = Table("end", title="ends of the turn", title_justify="left")
    table.add_column("value", justify="right")
    table.add_column("one line of play")
    named = [(f"best {number}", end) for number, end in enumerate(proof.ties, 1)]
    named += [("next", proof.next_best)] if proof.next_best is not None else []
    for name, end in named:
        table.add_row(name, f"{end.value:+.2f}", Text(line_text(position, end.actions, end.again)))
    return table


def proof_json(
    proof: "TurnProof", position: "Position", profile: "Profile[Weights]", limit: int
) -> dict[str, Any]:
    """What is proven of a turn as JSON values; lines in notation and in words."""

    def line_json(actions: "Sequence[Action]", again: bool) -> dict[str, Any]:
        return {
            "actions": list(map(str, actions)),
            "again": again,
            "text": line_text(position, actions, again),
        }

    def end_json(end: "TurnEnd") -> dict[str, Any]:
        return {"value": end.value, **line_json(end.actions, end.again)}

    lethal, plan = proof.lethal, proof.plan
    return {
        "position": str(position),
        "profile": profile.name,
        "weights": profile.weights.named(),
        "limit": limit,
        "lethal": {
            "certain": lethal.certain and not lethal.secrets,
            "certain_without_secrets": lethal.certain,
            "proven": lethal.proven,
            "probability": lethal.probability,
            "probability_proven": lethal.exact,
            "positions": lethal.states,
            "secrets": lethal.secrets,
            "cards_drawn": lethal.drawn,
            "hidden_cards_matter": lethal.hidden,
            "line": line_json(lethal.line, lethal.again) if lethal.line else None,
        },
        "turn": {
            "objective": plan.objective,
            "status": str(plan.status),
            "proven": proof.proven,
            "bound_gap": proof.bound_gap,
            "positions": plan.states,
            "terms": plan.terms._asdict(),
            **line_json(plan.actions, plan.again),
            "ends_known": proof.ends_known,
            "ties": list(map(end_json, proof.ties)),
            "more_ties": proof.more_ties,
            "next_best": None if proof.next_best is None else end_json(proof.next_best),
            "gap": proof.gap,
        },
    }


def _make_puzzles(n: int, decks: str, seed: int, out: Path, as_data: bool) -> None:
    """Make puzzles, write them to a file and print how many there are of each grade."""
    from engine.errors import WrongValueError
    from engine.terminal import print_error, safe_text
    from evo.config.files import split_names
    from evo.play.pool import InterruptedRunError
    from evo.puzzles import (
        MAX_BATCHES_WITHOUT,
        PUZZLE_DECKS,
        check_writable,
        make_puzzles,
        write_puzzles,
    )
    from evo.sessions.progress import GameCounter, output_console, stop_on_signals

    file = out / PUZZLES_FILE if out.is_dir() else out
    check_writable(file)
    names = split_names(decks) if decks else PUZZLE_DECKS
    counter = GameCounter(output_console(stderr=as_data), n, "puzzles")
    try:
        with stop_on_signals(counter):
            puzzles = make_puzzles(n, names, seed, counter.advance)
    except (InterruptedRunError, KeyboardInterrupt):
        print_error("stopped: no puzzles were written")
        raise typer.Exit(128 + (counter.stopping or signal.SIGINT)) from None
    finally:
        counter.close()
    if not puzzles:
        raise WrongValueError(
            f"no puzzle was found: {MAX_BATCHES_WITHOUT} batches of games with these decks had none; "
            "choose other --decks or another --seed"
        )
    write_puzzles(file, puzzles, seed, names)
    if as_data:
        grades = dict(sorted(Counter(puzzle.grade for puzzle in puzzles).items()))
        print(json.dumps({"file": str(file), "puzzles": len(puzzles), "grades": grades}))
        return
    _show_puzzles(puzzles, n)
    print(safe_text(f"written: {file}. To solve them: manaforge serve --play --puzzles {file}"))


def _show_puzzles(puzzles: "Sequence[Puzzle]", wanted: int) -> None:
    """Print how many puzzles there are of each grade."""
    from evo.puzzles import GRADES, MAX_BATCHES_WITHOUT
    from evo.terminal.drawing import console

    grades = Counter(puzzle.grade for puzzle in puzzles)
    rows = [[str(grade), f"{grades[grade]:,}", meaning] for grade, meaning in GRADES.items()]
    console().print(FittingTable(PUZZLE_COLUMNS, rows, counted(len(puzzles), "puzzle")))
    if len(puzzles) < wanted:
        print(f"no more: {MAX_BATCHES_WITHOUT} batches of games in a row had none")
