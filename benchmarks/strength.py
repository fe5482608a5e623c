"""Strength at a price: paired games of one entrant against others, with Elo and CPU time a turn of both.

    python -m benchmarks.strength lookahead@8 hearthsim:balanced eva --decks minions --games 20000

Every setup (two decks, a deal) is played twice with the agents exchanged. Entrants are played by their
compiled batches on one core, so that the CPU time of each is known; the first few games are played before to
compile. Elo is that of the score; intervals of 95% are over pairs of games.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine import find_deck, find_ruleset
from engine.batches import begin_logs, deal_games, dealt_cards, game_results
from engine.codes import Outcome
from engine.decks import cached_card_table
from engine.match import OpponentModelData
from engine.state import STATE
from engine.streams import agent_keys, stream_key
from evo.play.entrants import Entrant, find_entrant
from evo.play.games import compile_games
from evo.stats.ratings import elo
from ilp_agent.search.secrets import BELIEF
from rivals import find_kind, opponent_model_decks
from rivals.batch import TURNS

DECKS = {
    "minions": ("thesis-paladin", "thesis-warrior", "hearthsim-basic", "random-minions"),
    "classes": tuple(
        f"basic-{name}"
        for name in (
            "druid", "hunter", "mage", "paladin", "priest", "rogue", "shaman", "warlock", "warrior",
        )
    ),
}  # fmt: skip

CHUNK = 2_000
"""Games played side by side."""


class Score(NamedTuple):
    """Of one entrant against another."""

    score: float
    low: float
    high: float
    seconds: tuple[float, float]  # CPU time of a turn, of both

    @property
    def elo(self) -> tuple[float, float, float]:
        """The score and its interval as Elo."""
        return elo(self.score), elo(self.low), elo(self.high)


def measure(one: Entrant, other: Entrant, decks: tuple[str, ...], games: int, seed: int, rules: str) -> Score:
    """Play paired games of one entrant against another, over all ordered pairs of decks in turn."""
    points, used = [], np.zeros(4)
    for start in range(0, games, CHUNK):
        played, spent = play_chunk((one, other), decks, start, min(CHUNK, games - start), seed, rules)
        points.append(played)
        used += spent
    pairs = np.concatenate(points).reshape(-1, 2).mean(axis=1)
    mean, half = float(pairs.mean()), float(1.96 * pairs.std(ddof=1) / np.sqrt(len(pairs)))
    return Score(mean, mean - half, mean + half, (used[0] / max(used[1], 1), used[2] / max(used[3], 1)))


def play_chunk(
    players: tuple[Entrant, Entrant], decks: tuple[str, ...], start: int, n: int, seed: int, rules: str
) -> tuple[np.ndarray, np.ndarray]:
    """Points of the first in games `start` to `start + n`, and seconds and turns of both."""
    states, seat, used = play_to_ends(players, decks, start, n, seed, rules)
    return points_of(states, seat), used


def points_of(states: np.ndarray, seat: np.ndarray) -> np.ndarray:
    """Points of the players at these seats, of games that are over: 1, 1/2 or 0."""
    outcomes, _ = game_results(states)
    won = np.where(seat == 0, Outcome.FIRST_WINS, Outcome.SECOND_WINS)
    return np.where(outcomes == Outcome.DRAW, 0.5, outcomes == won)


def play_to_ends(
    players: tuple[Entrant, Entrant], decks: tuple[str, ...], start: int, n: int, seed: int, rules: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Last positions of games `start` to `start + n`, the first's seats, and seconds and turns of both."""
    found = tuple(map(find_deck, decks))
    further, asks = opponent_model_decks([(one.player.kind, one.player.options) for one in players], found)
    cards, records = cached_card_table((*found, *further), asks)
    numbers = np.arange(start, start + n)
    pair = numbers // 2 % len(decks) ** 2
    pairs = np.stack([pair // len(decks), pair % len(decks)], axis=1)
    keys = np.array([stream_key(seed, int(number) // 2) for number in numbers], np.uint64)
    streams = np.empty((n, 2), np.uint64)
    agent_keys(keys, streams)
    states, solved = np.zeros(n, STATE), np.zeros(n, TURNS)
    deal_games(cards.array, records, find_ruleset(rules).array, pairs, keys, states)
    asked = {"known": OpponentModelData(dealt_cards(states), cards, beliefs=np.zeros((n, 2), BELIEF))}
    seat, used = numbers % 2, np.zeros(4)
    places = [np.full((n, 2), -1, np.int64) for _ in players]
    places[0][np.arange(n), seat] = 0
    places[1][np.arange(n), 1 - seat] = 0
    batches: list[Callable[..., None]] = []
    for entrant in players:
        batch = find_kind(entrant.player.kind).play_batch(entrant.player.backend)
        assert batch is not None, f"{entrant.text} does not play compiled games"
        batches.append(batch)
    logs = begin_logs(keys)
    outcomes, _ = game_results(states)
    while (outcomes == Outcome.ONGOING).any():
        for who, entrant in enumerate(players):
            waits = (game_results(states)[0] == Outcome.ONGOING) & (
                places[who][np.arange(n), states["active"]] >= 0
            )
            began = time.process_time()
            rows = np.array([entrant.player.row], np.float64)
            more = asked if find_kind(entrant.player.kind).models_opponent else {}
            batches[who](cards.array, rows, places[who], states, streams, logs, solved, **more)
            used[2 * who] += time.process_time() - began
            used[2 * who + 1] += waits.sum()
        outcomes, _ = game_results(states)
    return states, seat, used


def main() -> None:
    """Measure the first entrant against each of the others."""
    parser = argparse.ArgumentParser(description="Paired games: Elo, and CPU time a turn.")
    parser.add_argument("entrant")
    parser.add_argument("others", nargs="+")
    parser.add_argument(
        "--decks", default="minions", help="minions, classes, or decks with commas between them"
    )
    parser.add_argument("--games", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ruleset", default="thesis")
    given = parser.parse_args()
    decks = DECKS.get(given.decks) or tuple(given.decks.split(","))
    one = find_entrant(given.entrant)
    found = [find_entrant(text) for text in given.others]
    compile_games([one.player, *(entrant.player for entrant in found)], list(map(find_deck, decks)))
    for other in found:
        play_chunk((one, other), decks, 0, 8, given.seed, given.ruleset)
        score = measure(one, other, decks, given.games, given.seed, given.ruleset)
        rating, low, high = score.elo
        print(
            f"{one.text} against {other.text}: {score.score:.1%} ({score.low:.1%} to {score.high:.1%}), "
            f"{rating:+.0f} Elo ({low:+.0f} to {high:+.0f}); {score.seconds[0] * 1e6:,.0f} and "
            f"{score.seconds[1] * 1e6:,.0f} us a turn; {given.games:,} games",
            flush=True,
        )


if __name__ == "__main__":
    main()
