"""Manaforge: evolve the weights of a card-playing optimiser, and play, rate and study agents.

Everything that most programs need, from the packages `evo` (runs, tournaments, reports), `rivals` (agents),
`ilp_agent` (the turn program) and `engine` (the game):

    import manaforge

    run = manaforge.evolve("quickstart", generations=5)
    print(run.weights)
    manaforge.play_tournament(f"ilp:{run.path}", "aggro", decks="thesis-paladin").ratings

`help(manaforge.evolve)` explains a function; docs/evolve.md has examples.
"""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported on first use
    from engine import (
        Action,
        Deck,
        Keyword,
        ManaforgeError,
        MatchResult,
        Outcome,
        PlayerView,
        Position,
        RandomAgent,
        deal,
        find_card,
        find_deck,
        find_ruleset,
        parse_action,
        parse_position,
        play,
        read_deck,
        shipped_decks,
    )
    from evo.api import (
        EvolvedRun,
        FoundPatches,
        Generation,
        PlayedTournament,
        WrittenReport,
        balance,
        card_worth,
        deck_verdict,
        evolve,
        make_agent,
        optimise,
        play_arena,
        play_tournament,
        read_run,
        win_rates,
        write_report,
    )
    from evo.config.files import read_config
    from evo.config.run_config import RunConfig
    from ilp_agent import IlpAgent, Profile, TurnProblem, Weights, explain, find_profile, solve
    from rivals import find_agent_profile, read_agent_profile
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Action",
    "Deck",
    "EvolvedRun",
    "FoundPatches",
    "Generation",
    "IlpAgent",
    "Keyword",
    "ManaforgeError",
    "MatchResult",
    "Outcome",
    "PlayedTournament",
    "PlayerView",
    "Position",
    "Profile",
    "RandomAgent",
    "RunConfig",
    "TurnProblem",
    "Weights",
    "WrittenReport",
    "balance",
    "card_worth",
    "deal",
    "deck_verdict",
    "evolve",
    "explain",
    "find_agent_profile",
    "find_card",
    "find_deck",
    "find_profile",
    "find_ruleset",
    "make_agent",
    "optimise",
    "parse_action",
    "parse_position",
    "play",
    "play_arena",
    "play_tournament",
    "read_agent_profile",
    "read_config",
    "read_deck",
    "read_run",
    "shipped_decks",
    "solve",
    "win_rates",
    "write_report",
]
