"""Games of a schedule: the same compiled or in Python and in any order, with points that add up."""

import numpy as np
import pytest

from engine import Outcome, find_deck, find_ruleset, play
from evo.config.run_config import RunConfig
from evo.evolution.fitness import all_pairings
from evo.play.entrants import find_entrant
from evo.play.games import GAME, Player, Roster, Schedule, play_schedule, roster_of
from evo.play.matchups import make_schedule, make_setups
from evo.play.results import GameError, raise_on_faults
from evo.stats.ratings import OUTCOME_WORDS, outcome_codes, points_of, points_of_first
from ilp_agent.weights import N_WEIGHTS

NAMES = ("ilp:keep-alive", "hearthsim", "eva", "aggro", "random")


def some(n_games: int = 4) -> tuple[Roster, Schedule]:
    """Every agent kind on two decks, some games compiled and some not."""
    decks = (find_deck("thesis-paladin"), find_deck("random-minions"))
    roster = Roster(tuple(find_entrant(name).player for name in NAMES), decks, find_ruleset("hearthsim"))
    return roster, make_schedule(all_pairings(len(NAMES)), make_setups(2, n_games, 7))


def test_a_game_depends_on_nothing_but_itself() -> None:
    roster, games = some()
    whole = play_schedule(roster, games)
    assert whole.dtype == GAME
    order = np.random.default_rng(1).permutation(len(games))[:60]
    assert (play_schedule(roster, games.select(order)) == whole[order]).all()
    for number in order[:10]:
        assert play_schedule(roster, games.select(slice(number, number + 1)))[0] == whole[number]


def test_compiled_games_are_those_of_agents_in_python() -> None:
    roster, games = some()
    compiled = np.flatnonzero(roster.compiled(games))
    assert 0 < len(compiled) < len(games)
    played = play_schedule(roster, games)
    for number in compiled[::29]:
        agents = [roster.players[place].agent() for place in games.players[number]]
        decks = tuple(roster.decks[place] for place in games.decks[number])
        from engine.match import deal_from_key, play_from

        streams = [np.random.default_rng(seat) for seat in (0, 1)]
        result = play_from(tuple(agents), deal_from_key(decks, games.keys[number], roster.ruleset), streams)
        assert (result.outcome, result.turns) == (played["outcome"][number], played["turns"][number])


def test_a_roster_of_a_run_has_its_agent_solver_decks_and_rules() -> None:
    config = RunConfig(agent="eva", decks=("hearthsim-basic",), ruleset="hearthsim")
    other = Player(kind="aggro")
    roster = roster_of(config, np.full((2, 21), 0.5), [other])
    assert [player.kind for player in roster.players] == ["eva", "eva", "aggro"]
    assert roster.players[0].weights == (0.5,) * 21
    assert [deck.name for deck in roster.decks] == ["hearthsim-basic"]
    assert roster.ruleset == find_ruleset("hearthsim")
    solved = roster_of(RunConfig(backend="highs"), [[1.0] * N_WEIGHTS])
    assert solved.players[0].backend == "highs"
    assert (
        roster_of(RunConfig(backend="highs"), [[1.0] * N_WEIGHTS], backend="exact").players[0].backend
        == "exact"
    )


def test_a_fault_is_refused_with_what_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    roster, games = some()
    played = play_schedule(roster, games)
    raise_on_faults(roster, games, played)

    class Broken:
        name = "broken"

        def act(self, view: object, rng: object) -> object:
            raise RuntimeError("out of ideas")

    monkeypatch.setattr(Player, "agent", lambda self, *_: Broken())
    monkeypatch.setattr(Player, "compiled", False)
    played = play_schedule(roster, games.select(slice(0, 2)))
    assert played["fault"].tolist() == [2, 2]
    with pytest.raises(GameError, match="could not be played: RuntimeError: out of ideas"):
        raise_on_faults(roster, games, played)


def test_points_of_both_sides_sum_to_one() -> None:
    roster, games = some()
    outcomes = play_schedule(roster, games)["outcome"]
    first = points_of_first(outcomes)
    assert set(first) <= {0.0, 0.5, 1.0}
    assert (points_of(outcomes, np.ones(len(games), bool)) == first).all()
    assert (points_of(outcomes, np.zeros(len(games), bool)) == 1 - first).all()
    by_hand = [Outcome.FIRST_WINS, Outcome.SECOND_WINS, Outcome.DRAW]
    assert points_of_first(np.array(by_hand)).tolist() == [1.0, 0.0, 0.5]
    words = np.array([OUTCOME_WORDS[one] for one in by_hand], object)
    assert outcome_codes(words).tolist() == by_hand


def test_a_stream_of_an_agent_is_its_games_alone() -> None:
    """Two random agents: in the twin of a game, with the agents exchanged, each seat gets the same draws."""
    decks = (find_deck("hearthsim-basic"),)
    roster = Roster((Player(kind="random"), Player(kind="random")), decks, find_ruleset("thesis"))
    games = make_schedule(all_pairings(2), make_setups(1, 6, 3))
    played = play_schedule(roster, games)
    assert (played[0::2] == played[1::2]).all()
    assert len(np.unique(played["turns"])) > 1
    assert play(roster.players[0].agent(), roster.players[1].agent(), (decks[0], decks[0]), 1).turns > 0
