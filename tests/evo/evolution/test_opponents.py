"""Opponents beside the population: what counts in fitness, what is written, what is the same after a resume."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evo.analysis.tables import read_runs
from evo.config.run_config import ConfigError, RunConfig
from evo.evolution.champion import _pairings_of_final, _scores_of_final, play_final
from evo.evolution.fitness import (
    find_opponents,
    hall_opponents,
    nash_mixture,
    play_generation,
    select_opponents,
)
from evo.evolution.records import new_strategy
from evo.evolution.run import evolve, max_games_of_generation
from evo.evolution.session import begin_session, open_or_create
from evo.play.entrants import EntrantError, find_entrant
from evo.play.games import Roster, Schedule, play_schedule, roster_of
from evo.play.matchups import Matchups, make_pairings, play_matchups
from evo.play.opponents import read_opponents
from evo.play.pool import InterruptedRunError, LocalPool, WorkerPool
from evo.seeds import Stream
from evo.storage.run_folder import RunError, open_run
from ilp_agent.shipped import profiles_folder
from tests.evo.runs import TINY, Quiet, bytes_of

EVA, RANDOM = "eva", "random"
MET: dict[str, Any] = {
    "fixed": {EVA: 1.0, "hearthsim:balanced": 0.5},
    "hall": 0.5,
    "nash": 0.25,
    "members": 2,
}


def with_opponents(**values: Any) -> RunConfig:
    return TINY.changed(opponents=values)


WHOLE = {"kind": "eva", "weights": [1.0] * 21, "backend": "exact", "options": [], "keeps": []}


class Counting(Quiet):
    """Counts the games that a run says it has played."""

    def __init__(self) -> None:
        super().__init__()
        self.games = self.of_generations = 0

    def advance(self, games: int) -> None:
        self.games += games

    def stopped(self, stop: object) -> None:
        pass

    def final(self) -> None:
        self.of_generations = self.games


def run(path: Path, config: RunConfig, pool: WorkerPool | None = None, reporter: Quiet | None = None) -> Path:
    with open_or_create(path, config) as folder:
        own = pool or LocalPool(1)
        begin_session(folder, own)
        evolve(folder, own, reporter or Quiet())
    return path


def table(path: Path, kind: str, generation: int) -> pd.DataFrame:
    return pd.read_parquet(path / kind / f"{generation:04d}.parquet")


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("opponents") / "run", with_opponents(**MET))


def test_a_run_against_another_version_of_an_agent_is_not_continued(met: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(met, tmp_path / "earlier"))
    manifest = json.loads((copy / "manifest.json").read_text())
    assert manifest.pop("agents") == {"hearthsim": 2}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with open_run(copy) as folder, pytest.raises(RunError, match="was started with version 1 of hearthsim"):
        begin_session(folder, LocalPool(1))
    assert len(read_runs([copy]).individuals)
    (copy / "manifest.json").write_text("{")  # damaged: what it said of agents is lost, and the run goes on
    with open_run(copy) as folder:
        begin_session(folder, LocalPool(1))
        assert folder.manifest()["agents"] == {"hearthsim": 2}


def test_runs_of_the_turn_program_on_real_cards_have_its_version(tmp_path: Path) -> None:
    """Its version there alone: a run on minion decks has none, and one whose benchmark is not played either."""
    for name, changes, told in (
        ("cards", {"decks": ["basic-mage"], "ruleset": "standard"}, {"ilp": 2, "hearthsim": 2}),
        ("eva", {"decks": ["basic-mage"], "agent": "eva", "final": {"benchmark_games": 0}}, None),
        ("bodies", {}, None),
    ):
        config = TINY.changed(**({"validation": {"every": 0}} | changes))
        with open_or_create(tmp_path / name, config) as folder:
            begin_session(folder, LocalPool(1))
            assert folder.manifest().get("agents") == told
    manifest = tmp_path / "cards" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"agents": {"ilp": 1, "hearthsim": 2}}))
    with open_run(tmp_path / "cards") as folder, pytest.raises(RunError, match="version 1 of ilp, and this"):
        begin_session(folder, LocalPool(1))


def test_a_fixed_opponents_score_is_the_tournaments_on_the_same_games(met: Path) -> None:
    """Bit for bit: wins, draws and turns of every individual against it, by decks."""
    config = with_opponents(**MET)
    for generation in (0, 3):
        individuals, pairings = table(met, "generations", generation), table(met, "pairings", generation)
        weights = individuals[[name for name in individuals if name.startswith("weight_")]].to_numpy()
        others = [find_entrant(text).player for text in config.opponents.fixed]
        roster = roster_of(config, weights, others)
        n = len(individuals)
        for place, text in enumerate(config.opponents.fixed):
            own = pairings[pairings["entrant"] == text].set_index("individual")
            gauntlet = make_pairings(n + len(others), "round-robin", ())
            gauntlet = gauntlet[(gauntlet[:, 0] < n) & (gauntlet[:, 1] == n + place)]
            address = (Stream.SETUP, generation)
            matchups = Matchups(gauntlet, len(roster.decks), config.games, config.seed, address)
            names = [*map(str, individuals["individual"]), *config.opponents.fixed]
            games = play_matchups(roster, matchups, names, play_schedule)
            for number in individuals["individual"]:
                played = games[(games["first"] == str(number)) | (games["second"] == str(number))]
                first = played["first"] == str(number)
                won = played["outcome"] == np.where(first, "first", "second")
                assert own.loc[number, "games"] == len(played)
                assert own.loc[number, "wins"] == won.sum()
                assert own.loc[number, "draws"] == (played["outcome"] == "draw").sum()
                assert own.loc[number, "turns"] == played["turns"].sum()


def test_fitness_is_the_mean_of_scores_by_their_shares(met: Path) -> None:
    for generation in range(4):
        individuals = table(met, "generations", generation).set_index("individual")
        pairings = table(met, "pairings", generation)
        against = pairings[pairings["share"].notna()]
        assert (against["entrant"].isna() == against["opponent"].notna()).all()
        for number, row in individuals.iterrows():
            own = pairings[pairings["individual"] == number]
            beside = own[own["share"].isna()]
            turned = pairings[(pairings["opponent"] == number) & pairings["share"].isna()]
            games = beside["games"].sum() + turned["games"].sum()
            won = (beside["wins"] + beside["draws"] / 2).sum()
            won += (turned["games"] - turned["wins"] - turned["draws"] / 2).sum()
            scores, shares = [won / games], [1.0]
            for _, part in own[own["share"].notna()].groupby(["opponent", "entrant"], dropna=False):
                scores.append((part["wins"] + part["draws"] / 2).sum() / part["games"].sum())
                shares.append(part["share"].iloc[0])
                games += part["games"].sum()
            assert row["games"] == games
            assert row["fitness"] == pytest.approx(np.average(scores, weights=shares) * games)


def test_earlier_bests_are_met_that_are_no_individuals(met: Path) -> None:
    bests = set()
    for generation in range(4):
        individuals, pairings = table(met, "generations", generation), table(met, "pairings", generation)
        earlier = set(pairings[pairings["share"].notna()]["opponent"].dropna().astype(int))
        assert len(earlier) <= 2
        assert earlier <= bests - set(individuals["individual"])
        assert set(pairings[pairings["share"].isna()]["opponent"]) <= set(individuals["individual"])
        bests.add(int(individuals.loc[individuals["rank"] == 1, "individual"].iloc[0]))


def test_a_run_comes_to_the_same_bytes_after_any_stop(met: Path, tmp_path: Path) -> None:
    config, wanted = with_opponents(**MET), bytes_of(met)
    for stop_after in (3, 11):
        path = tmp_path / str(stop_after)
        with pytest.raises((KeyboardInterrupt, InterruptedRunError)):
            run(path, config, reporter=Quiet(stop_after))
        assert bytes_of(run(path, config, LocalPool(2))) == wanted


def test_games_are_counted_to_the_last(tmp_path: Path) -> None:
    config = with_opponents(**MET)
    counting = Counting()
    run(tmp_path / "run", config, reporter=counting)
    assert counting.of_generations == sum(max_games_of_generation(config, number) for number in range(4))


def test_without_the_population_games_grow_with_its_number(tmp_path: Path) -> None:
    config = with_opponents(population=0.0, fixed={EVA: 1.0}, games=4)
    assert max_games_of_generation(config, 1) == 6 * 4
    run(tmp_path / "run", config)
    individuals, pairings = table(tmp_path / "run", "generations", 1), table(tmp_path / "run", "pairings", 1)
    assert (individuals["games"] == 4).all()
    assert set(pairings["entrant"]) == {EVA}
    won = (pairings["wins"] + pairings["draws"] / 2).tolist()
    assert individuals["fitness"].tolist() == won


def test_a_run_against_itself_alone_is_written_as_ever() -> None:
    assert with_opponents().digest == TINY.digest
    assert with_opponents(hall=1.0).digest != TINY.digest
    assert TINY.max_opponents(9) == 0


def test_a_run_keeps_its_opponents(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text((profiles_folder() / "keep-alive.toml").read_text())
    config = with_opponents(fixed={f"ilp:{profile}": 1.0}).changed(generations=1)
    path = run(tmp_path / "run", config)
    before = read_opponents(path, config)
    profile.unlink()
    assert read_opponents(path, config) == before == [before[0]]
    with open_or_create(path, config.changed(generations=2)) as folder:
        begin_session(folder, LocalPool(1))
        evolve(folder, LocalPool(1), Quiet())
        assert folder.committed == 3


@pytest.mark.parametrize(
    "content",
    [
        *("[" * 10_000, "{}", '{"eva": 3}', "null", None),
        *(
            json.dumps({"eva": WHOLE | change})
            for change in (
                *({"kind": "evaa"}, {"backend": "gorubi"}, {"weights": [1.0]}, {"weights": [-1.0] * 21}),
                *({"options": [3]}, {"options": [10**9]}, {"keeps": [["deck", 0]]}, {"more": 1}),
            )
        ),
    ],
)
def test_damaged_opponents_are_refused(tmp_path: Path, content: str | None) -> None:
    config = with_opponents(fixed={EVA: 1.0}).changed(generations=1)
    path = run(tmp_path / "run", config)
    if content is None:
        (path / "opponents.json").unlink()
    else:
        (path / "opponents.json").write_text(content)
    with pytest.raises(RunError, match=r"opponents.json .*start a new run"):
        read_opponents(path, config)


def test_changed_opponents_are_refused(tmp_path: Path) -> None:
    config = with_opponents(fixed={EVA: 1.0}).changed(generations=1)
    path = run(tmp_path / "run", config)
    content = json.loads((path / "opponents.json").read_text())
    content[EVA]["weights"][0] += 0.5
    (path / "opponents.json").write_text(json.dumps(content))
    with (
        pytest.raises(RunError, match="opponents"),
        open_or_create(path, config.changed(generations=2)) as folder,
    ):
        begin_session(folder, LocalPool(1))


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="population = 0 needs agents in opponents.fixed"):
        with_opponents(population=0.0, hall=1.0)
    with pytest.raises(ConfigError, match="opponents"):
        with_opponents(fixed={EVA: 0.0})
    with pytest.raises(EntrantError, match="nearest: eva"):
        run(tmp_path / "run", with_opponents(fixed={"evaa": 1.0}))
    assert not (tmp_path / "run").exists()


# The mixture


def test_who_beats_all_is_the_mixture() -> None:
    config = with_opponents(nash=1.0, fixed={RANDOM: 1.0, "hearthsim:balanced": 1.0})
    fixed = list(find_opponents(config).values())
    mixture = nash_mixture(config, [], fixed, 0, play_schedule)
    assert mixture.sum() == pytest.approx(1)
    assert mixture[1] == pytest.approx(1, abs=0.01)
    strategy = new_strategy(config)
    found = select_opponents(config, strategy, strategy.ask(), fixed, play_schedule)
    assert [one.entrant for one in found] == [RANDOM, "hearthsim:balanced"]
    assert found[1].share == pytest.approx(2, abs=0.01)


def test_members_are_drawn_by_the_generation(met: Path) -> None:
    config = with_opponents(hall=1.0, members=2)
    strategy = new_strategy(config)
    for generation in range(4):
        asked = strategy.ask()
        chosen = [one.number for one in hall_opponents(strategy, asked, config)]
        assert chosen == [one.number for one in hall_opponents(strategy, asked, config)] == sorted(chosen)
        assert len(chosen) <= config.max_opponents(generation)
        strategy.tell(np.arange(len(asked), dtype=float))
    assert met.exists()


def test_each_pairing_may_have_deals_of_its_own(tmp_path: Path) -> None:
    """Twins of one individual then differ in what they meet, as they do not on common deals."""
    config = with_opponents(fixed={EVA: 1.0}).changed(deals="own", generations=1, games=20)
    path = run(tmp_path / "run", config)
    assert bytes_of(path) == bytes_of(run(tmp_path / "two", config, LocalPool(2)))
    strategy = new_strategy(config)
    asked = strategy.ask()
    clones = [asked[0]] * len(asked)
    fixed = list(find_opponents(config).values())
    own, common = (
        play_generation(one, strategy, clones, fixed, play_schedule).tally
        for one in (config, config.changed(deals="common"))
    )
    against_eva = own.pairings[:, 1] >= len(clones)
    assert len({table.tobytes() for table in common.turns[against_eva]}) == 1
    assert len({table.tobytes() for table in own.turns[against_eva]}) == len(clones)


def test_the_final_chooses_by_the_same_shares(tmp_path: Path) -> None:
    """Candidates meet fixed opponents; without the population they do not meet each other."""
    config = with_opponents(population=0.0, fixed={EVA: 3.0, RANDOM: 1.0})
    strategy = new_strategy(config)
    for _ in range(3):
        strategy.tell(np.arange(len(strategy.ask()), dtype=float))
    fixed, seen = list(find_opponents(config).values()), []

    def play(roster: Roster, games: Schedule) -> np.ndarray:
        seen.append((len(roster.players), games.players))
        return play_schedule(roster, games)

    table = play_final(
        strategy, config.changed(final={"games": 400, "benchmark_games": 0}), play, fixed
    ).table
    n = len(strategy.candidates())
    assert all((players.min(axis=1) < size - 2).all() for size, players in seen)
    assert all((players.max(axis=1) >= size - 2).all() for size, players in seen)
    assert seen[0][0] == n + 2
    assert len(table) == n
    assert table["score"].is_monotonic_decreasing
    assert ((table["low"] <= table["score"]) & (table["score"] <= table["high"])).all()
    # Beside eva, who beats random is no better for it than by a quarter of what it gains there.
    assert table["score"].max() < 0.95


def test_scores_of_the_final_are_means_by_shares() -> None:
    config = with_opponents(population=2.0, fixed={EVA: 1.0}, games=2).changed(games=2)
    roster = roster_of(config, new_strategy(config).ask(), find_opponents(config).values())
    pairings = _pairings_of_final(3, config)
    assert pairings.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    games = play_matchups(roster, Matchups(pairings, 1, 40, 5, (1,)), ["a", "b", "c", EVA], play_schedule)
    found = _scores_of_final(games, ["a", "b", "c"], config).set_index("entrant")
    for name in "abc":
        means = []
        for others in ({"a", "b", "c"} - {name}, {EVA}):
            points = [
                0.5 if row.outcome == "draw" else float((row.first == name) == (row.outcome == "first"))
                for row in games.itertuples()
                if name in (row.first, row.second) and others & {row.first, row.second}
            ]
            means.append(np.mean(points))
        assert found.loc[name, "score"] == pytest.approx((2 * means[0] + means[1]) / 3)
        assert found.loc[name, "games"] == 120
