"""The page of a tournament: tables of who played."""

from evo.tournament.report import _weights
from evo.tournament.run import create_tournament


def test_a_solver_is_told_where_one_can_be_chosen() -> None:
    entrants = ["ilp:keep-alive", "greedy-ilp:keep-alive", "hearthsim:standard", "random"]
    tables = _weights(create_tournament(entrants, ["hearthsim-basic"], "thesis", games=2))
    told = {
        table.split("<summary>")[1].split(",")[0]: ">solver<" in table
        for table in tables
        if "<summary>" in table
    }
    assert told == {"Weights of ilp": True, "Weights of hearthsim": False, "Without weights": False}
