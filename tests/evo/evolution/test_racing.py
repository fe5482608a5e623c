"""Racing: who is left to the end has met the others who are as it would have without, to the game."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evo.config.run_config import RunConfig
from evo.evolution.fitness import Generation, find_opponents, play_generation
from evo.evolution.racing import STAGES, Group, beaten
from evo.evolution.records import new_strategy
from evo.play.pool import LocalPool
from evo.storage.run_folder import peek_run
from tests.evo.runs import TINY, run_new

GOOD, BAD = (0.1, 0.1, 0.1, 0.9, 0.9, 0.0, 0.0, 0.9), (0.0, 0.0, 0.9, 0.0, 0.0, 0.9, 0.9, 0.0)
BESIDE = {"population": 1.0, "fixed": {"ilp:aggro-face": 0.5, "aggro": 1.0}}


def config_of(racing: float, opponents: dict[str, object] | None = None, **values: object) -> RunConfig:
    decks = ["thesis-paladin", "thesis-warrior"]
    return TINY.changed(
        mu=2, games=24, decks=decks, racing=racing, opponents=opponents or {}, **{"lambda": 4}, **values
    )


def played(config: RunConfig) -> tuple[Generation, int]:
    """A generation of two good individuals, two copies of them with a little noise, and two bad ones."""
    strategy = new_strategy(config)
    strategy.tell(np.arange(len(strategy.ask()), dtype=float))
    asked = strategy.ask()
    for number, (one, weights) in enumerate(zip(asked, (GOOD, GOOD, GOOD, GOOD, BAD, BAD), strict=True)):
        one[:] = [abs(weight - 0.01 * (number % 3)) for weight in weights]
    games = 0
    with closing(LocalPool(2)) as pool:

        def play(roster, schedule):
            nonlocal games
            games += len(schedule)
            return pool.play(roster, schedule)

        fixed = list(find_opponents(config).values())
        return play_generation(config, strategy, asked, fixed, play), games


@pytest.mark.parametrize("deals", ["common", "own"])
@pytest.mark.parametrize("opponents", [None, BESIDE, {"population": 0.0, "fixed": {"aggro": 1.0}}])
def test_who_is_left_has_played_all_and_the_beaten_less(
    opponents: dict[str, object] | None, deals: str
) -> None:
    plain, all_games = played(config_of(0.0, opponents, deals=deals))
    raced, fewer = played(config_of(0.1, opponents, deals=deals))
    n, players = 6, 6 + len(plain.opponents)
    assert raced.tally.pairings.tolist() == plain.tally.pairings.tolist()
    assert len(set(map(tuple, raced.tally.pairings.tolist()))) == len(raced.tally.pairings)
    assert int(raced.tally.games.sum()) == fewer < all_games == int(plain.tally.games.sum())
    counts = raced.tally.played(players)[:n].sum((1, 2))
    left = counts == counts.max()
    assert left.tolist() == [True] * 4 + [False] * 2, "the bad ones are left out"
    inside = np.concatenate([left, np.ones(len(plain.opponents), bool)])[plain.tally.pairings].all(axis=1)
    for name in ("games", "wins", "draws", "turns"):
        ours, theirs = getattr(raced.tally, name), getattr(plain.tally, name)
        assert np.array_equal(ours[inside], theirs[inside]), "who is left has met each other as always"
        assert (ours[~inside] <= theirs[~inside]).all()
    assert raced.fitness[~left].max() < raced.fitness[left].min()
    if config_of(0.1, opponents).opponents.population == 0:
        assert raced.fitness[left] == pytest.approx(plain.fitness[left])


def test_without_doubt_nobody_is_left_out() -> None:
    plain, games = played(config_of(0.0))
    raced, same = played(config_of(1e-300))
    assert games == same
    for name in ("games", "wins", "draws", "turns"):
        assert np.array_equal(getattr(plain.tally, name), getattr(raced.tally, name))
    assert raced.fitness == pytest.approx(plain.fitness)
    assert dict(raced.tally.solved) == dict(plain.tally.solved)


def test_few_games_make_fewer_stages() -> None:
    shares = np.ones(2)
    for games, stages in ((2, 1), (4, 2), (6, 3), (8, 4), (20, 4)):
        bounds = Group(np.array([[0, 1]]), games, shares).bounds()
        assert len(bounds) == STAGES
        assert bounds[0][0] == 0
        assert bounds[-1][1] == games
        assert sum(end > start for start, end in bounds) == stages
        assert all(start % 2 == 0 for start, _ in bounds)


class Scores:
    """Scores by setup as a group's total has them."""

    share = 1.0

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores


def test_the_best_mu_are_left_out_no_more_often_than_promised() -> None:
    """The nearest races are lost by chance alone: of equal individuals hardly any is left out."""
    stream, racing = np.random.default_rng(3), np.ones(8, bool)
    left_out = [
        beaten([Scores(stream.normal(0.5, 0.2, (40, 8)))], racing, 4, 0.05 / 8).any() for _ in range(1_000)
    ]
    assert np.mean(left_out) < 0.05
    better = np.array([0.1, 0.1, 0.1, 0.1, 0, 0, 0, 0])
    found = [
        beaten([Scores(stream.normal(0.5, 0.1, (40, 8)) + better)], racing, 4, 0.05 / 8) for _ in range(200)
    ]
    assert not np.array(found)[:, :4].any()
    assert np.array(found)[:, 4:].mean() > 0.3
    assert not beaten([Scores(stream.random((40, 8)))], better > 0, 4, 0.4).any(), "mu are left"


def test_a_raced_run_has_the_same_bytes_with_any_workers(tmp_path: Path) -> None:
    config = config_of(0.2).changed(generations=2)
    alone = run_new(tmp_path / "one", config)
    with closing(LocalPool(3)) as pool:
        assert run_new(tmp_path / "three", config, pool) == alone
    assert run_new(tmp_path / "plain", config.changed(racing=0.0)) != alone


@pytest.mark.parametrize("seed", [1, 3])
def test_a_raced_run_with_hopeless_individuals_can_be_read_again(tmp_path: Path, seed: int) -> None:
    """Their estimated score would fall below 0, which no reader of a generation takes."""
    config = TINY.changed(
        agent="eva", strategy="cma", mu=5, games=60, generations=0, seed=seed, racing=0.05, **{"lambda": 20}
    )
    run_new(tmp_path / "run", config)
    (table,) = peek_run(tmp_path / "run").tables("generations")
    assert table["fitness"].min() == 0.0
    assert table["games"].min() < table["games"].max()
