"""A compiled Hearthstone-like game engine with real cards.

    >>> from engine import RandomAgent, find_deck, play
    >>> decks = find_deck("thesis-paladin"), find_deck("thesis-warrior")
    >>> play(RandomAgent(), RandomAgent(), decks, seed=1).outcome.name
    'SECOND_WINS'

Kernels for millions of games are in `engine.rules` (`legal_actions`, `apply`, `outcome`) and
`engine.state` (`new_game`); this package exports the checked, readable interface to the same rules.
"""

from typing import TYPE_CHECKING

from engine.lazy import lazy_exports

if TYPE_CHECKING:  # imported at first use
    from engine.actions import Action
    from engine.cards import Card, find_card
    from engine.cards.table import CardTable
    from engine.codes import HERO, RULES_VERSION, ActionKind, Keyword, Outcome
    from engine.deck_files import find_deck, read_deck
    from engine.decks import Deck
    from engine.errors import (
        CardError,
        DeckError,
        IllegalActionError,
        ManaforgeError,
        NotationError,
        SeedError,
        UnknownNameError,
    )
    from engine.game_session import (
        Agent,
        AgentFaultError,
        GameRecord,
        MatchResult,
        PassAgent,
        RandomAgent,
        Reason,
        ScriptedAgent,
    )
    from engine.match import deal, play
    from engine.minion import MinionSpec
    from engine.notation import format_action, format_position, parse_action, parse_position
    from engine.perft_counter import perft
    from engine.position import Position
    from engine.ruleset import Ruleset, find_ruleset, rulesets
    from engine.shipped import shipped_decks
    from engine.view import MinionView, PlayerView, SideView
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "HERO",
    "RULES_VERSION",
    "Action",
    "ActionKind",
    "Agent",
    "AgentFaultError",
    "Card",
    "CardError",
    "CardTable",
    "Deck",
    "DeckError",
    "GameRecord",
    "IllegalActionError",
    "Keyword",
    "ManaforgeError",
    "MatchResult",
    "MinionSpec",
    "MinionView",
    "NotationError",
    "Outcome",
    "PassAgent",
    "PlayerView",
    "Position",
    "RandomAgent",
    "Reason",
    "Ruleset",
    "ScriptedAgent",
    "SeedError",
    "SideView",
    "UnknownNameError",
    "deal",
    "find_card",
    "find_deck",
    "find_ruleset",
    "format_action",
    "format_position",
    "parse_action",
    "parse_position",
    "perft",
    "play",
    "read_deck",
    "rulesets",
    "shipped_decks",
]
