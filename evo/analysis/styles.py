"""How weights play, in the terms of the game: damage, trades and plays in their turns."""

import numpy as np
import pandas as pd

from engine import HERO, ActionKind, play
from engine.actions import Action
from engine.position import Position
from evo.analysis.clustering import Clusters
from evo.analysis.tables import Runs, weights_of
from rivals import agent_of

STYLE_GAMES = 20


def style_table(clusters: Clusters, runs: Runs, games: int = STYLE_GAMES) -> pd.DataFrame:
    """What the medoid of each cluster does in games against itself, on the same deals for all.

    Args:
        clusters: of the runs' populations.
        runs: for decks and rules.
        games: of each cluster and deck, the deck in a mirror.

    Returns:
        One row a cluster: group (its number), name, turns (rounds a game), and means per turn of a player:
        face_damage (attack on the hero), trades (attacks on minions), plays (cards played).
    """
    rows = []
    for cluster in clusters.summary.to_dict("records"):
        row = clusters.members.iloc[cluster["medoid"]]
        config = runs.configs[row["run"]]
        weights = row[weights_of(clusters.members)].to_numpy(float)
        counts = np.zeros(4)
        lengths = []
        for cards in config.found_decks:
            for seed in range(games):
                watch = _Counter()
                agents = agent_of(config.agent, weights), agent_of(config.agent, weights)
                result = play(*agents, (cards, cards), seed, ruleset=config.ruleset, watch=watch)
                counts += watch.counts
                lengths.append(result.turns)
        turns = counts[0] or 1.0
        rows.append(
            {
                "group": cluster["group"],
                "name": cluster["name"],
                "turns": float(np.mean(lengths)),
                "face_damage": counts[1] / turns,
                "trades": counts[2] / turns,
                "plays": counts[3] / turns,
            }
        )
    return pd.DataFrame(rows)


class _Counter:
    """Counts turns, damage to heroes, attacks on minions and plays of a game."""

    def __init__(self) -> None:
        self.counts = np.zeros(4)
        self._turn = (-1, -1)

    def __call__(self, position: Position, action: Action) -> None:
        turn = int(position.state["turn"]), position.active
        self.counts[0] += turn != self._turn  # counts the last turn too, which a win ends
        self._turn = turn
        if action.kind == ActionKind.PLAY:
            self.counts[3] += 1
        elif action.kind == ActionKind.ATTACK and action.target == HERO:
            own = position.state["sides"][position.active]
            self.counts[1] += int(own["board"][action.source]["attack"])
        elif action.kind == ActionKind.ATTACK:
            self.counts[2] += 1
