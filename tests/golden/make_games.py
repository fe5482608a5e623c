"""Rewrites games.json, only when RULES_VERSION changes. Run as `python -m tests.golden.make_games`."""

import json
from pathlib import Path

from engine import RandomAgent, find_deck, play

DECKS = ("thesis-paladin", "thesis-warrior"), ("hearthsim-basic", "random-minions")
RULESETS = ("thesis", "hearthsim", "hearthsim-nocoin", "standard")

if __name__ == "__main__":
    games = []
    for seed, (decks, ruleset) in enumerate((decks, ruleset) for decks in DECKS for ruleset in RULESETS):
        result = play(RandomAgent(), RandomAgent(), tuple(map(find_deck, decks)), seed, ruleset=ruleset)
        games.append(
            {
                "decks": decks,
                "seed": seed,
                "ruleset": ruleset,
                "outcome": result.outcome.name,
                "end": str(result.position),
                "actions": result.record.actions,
            }
        )
    Path(__file__).with_name("games.json").write_text(json.dumps(games, indent=1) + "\n")
