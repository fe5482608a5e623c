"""A panel beside the champion: random weights and the shipped study champion, on deals of their own.

Beating the thesis's seven says little if random weights beat them too. All members of the panel and the
champion play the seven on the same deals. Nothing of it is part of `champion.toml` or `final.parquet`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.streams import generator
from evo.config import RunConfig
from evo.evolution.champion import THESIS_SEVEN, thesis_seven
from evo.play.games import Play, roster_of
from evo.play.matchups import Matchups, play_matchups
from evo.seeds import Stream
from evo.stats.standings import scores_table
from ilp_agent.shipped import configs_folder
from rivals import DEFAULT_AGENT, read_agent_profile

PANEL_SIZE = 8
"""Random weight vectors."""

SHARE = 8
"""A member plays one game in this many of the champion's against each of the seven."""

PANEL_STAGE = 1001
"""Part of the address of the panel's deals and weights."""


def play_panel(champion: Sequence[float], config: RunConfig, play: Play) -> dict[str, Any]:
    """Scores against the thesis's seven, as JSON values.

    Args:
        champion: its weights.
        config: of the run.
        play: plays a schedule (`evo.play.pool.Pool.play`).

    Returns:
        games (of each member), champion and study (scores; None where the agent's weights are not the turn
        program's), random (scores, the best first); {} where no games are played against the seven, or only
        in Python.
    """
    if not is_played(config):
        return {}
    vector = config.vector
    stream = generator(config.seed, Stream.FINAL, PANEL_STAGE)
    drawn = stream.random((PANEL_SIZE, len(vector.names())))
    members = {"champion": tuple(champion)}
    if vector.AGENT == DEFAULT_AGENT:
        study = read_agent_profile(configs_folder() / "champions" / "study.toml")
        members["study"] = tuple(map(float, study.weights.array))
    members |= {f"random {number}": tuple(map(float, weights)) for number, weights in enumerate(drawn)}
    roster = roster_of(config, list(members.values()), thesis_seven(config.backend))
    n, n_decks = len(members), len(config.decks)
    pairings = np.array([(i, n + j) for i in range(n) for j in range(len(THESIS_SEVEN))])
    matchups = Matchups(pairings, n_decks, _games_a_cell(config), config.seed, (Stream.FINAL, PANEL_STAGE))
    table = scores_table(play_matchups(roster, matchups, [*members, *THESIS_SEVEN], play)).set_index(
        "entrant"
    )
    scores = {name: float(table.loc[name, "score"]) for name in members}
    randoms = sorted((score for name, score in scores.items() if name.startswith("random ")), reverse=True)
    return {
        "games": int(table.loc["champion", "games"]),
        "champion": scores["champion"],
        "study": scores.get("study"),
        "random": randoms,
    }


def is_played(config: RunConfig) -> bool:
    """Whether a run's champion is compared with a panel."""
    return config.final.benchmark_games > 0 and config.kind.compiled(config.backend)


def games_of_panel(config: RunConfig) -> int:
    """Games of the panel, the champion's included; 0 where none is played."""
    members = 1 + PANEL_SIZE + (config.vector.AGENT == DEFAULT_AGENT)
    cells = members * len(THESIS_SEVEN) * len(config.decks) ** 2
    return cells * _games_a_cell(config) if is_played(config) else 0


def _games_a_cell(config: RunConfig) -> int:
    """Games of a member against one of the seven with an ordered pair of decks, even."""
    return max(2, config.final.benchmark_games // SHARE // len(config.decks) ** 2 // 2 * 2)


def panel_sentence(panel: Mapping[str, Any]) -> str:
    """The champion's place in the panel; "" where there is none, or it cannot be read."""
    champion, study, randoms = panel.get("champion"), panel.get("study"), panel.get("random")
    games = panel.get("games")
    if not isinstance(champion, float) or not isinstance(games, int) or not isinstance(randoms, list):
        return ""
    if not randoms or not all(isinstance(score, float) for score in randoms):
        return ""
    others = [*randoms, *([study] if isinstance(study, float) else [])]
    place = 1 + sum(score > champion for score in others)
    shipped = f", the shipped study champion {study:.1%}" if isinstance(study, float) else ""
    return (
        f"panel against the seven, on the same {games:,} games each: place {place} of {len(others) + 1}, "
        f"this champion {champion:.1%}{shipped}, random weights {min(randoms):.1%} to {max(randoms):.1%}"
    )
