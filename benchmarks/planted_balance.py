"""Does `manaforge balance` find a planted imbalance, and which patches survive when pilots adapt?

Three decks have the same five bodies under different names, so that the field is fair. Then three cards of
the first deck get 3 more attack or health. For each seed it prints the measured patches: within, of three
matchups, and the mean distance from 50%, by every player. Repeating the command continues it.

    python -m benchmarks.planted_balance OUT --seeds 5
"""

import argparse
from pathlib import Path

from evo.experiments.balance import BalanceConfig
from evo.play.pools import PoolSettings
from evo.sessions.balance import run_balance
from evo.sessions.progress import output_console

NAMES = (
    ("Bloodfen Raptor", "River Crocolisk", "Chillwind Yeti", "Boulderfist Ogre", "Core Hound"),
    ("Magma Rager", "Oasis Snapjaw", "War Golem", "Spider Tank", "Salty Dog"),
    ("Murloc Raider", "Ice Rager", "Silverback Patriarch", "Booty Bay Bodyguard", "Lord of the Arena"),
)
"""Cards of each deck, six copies of each."""

BODIES = ((1, 2, 1), (2, 3, 2), (3, 3, 3), (4, 5, 4), (5, 5, 5))
"""Attack, health and cost of each deck's cards."""

PLANTED = ((3, 0), (0, 3), (3, 0), (0, 0), (0, 0))
"""More attack and health of the first deck's cards."""

PILOT = "ilp:true-balanced"


def write_field(folder: Path) -> list[str]:
    """Write the deck files; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for side, names in enumerate(NAMES):
        lines = ["schema = 1", f'name = "side {side}"', "copies = 6"]
        for name, (attack, health, cost), (more, tougher) in zip(names, BODIES, PLANTED, strict=True):
            up, on = (more, tougher) if side == 0 else (0, 0)
            lines += ["[[cards]]", f'name = "{name}"', "count = 6", "keywords = []", f"cost = {cost}"]
            lines += [f"attack = {attack + up}", f"health = {health + on}"]
        file = folder / f"side{side}.toml"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        files.append(str(file))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder of the decks and of a search for each seed")
    parser.add_argument("--seeds", type=int, default=5, help="number of searches")
    parser.add_argument("--adapt-games", type=int, default=10_000, help="games in which pilots adapt")
    options = parser.parse_args()
    decks, adapt = write_field(options.out / "decks"), options.adapt_games
    measure = [
        {"entrant": PILOT, "games": 2_000, "adapt_games": adapt},
        {"entrant": "greedy-ilp:true-balanced", "games": 2_000, "adapt_games": adapt},
        {"entrant": "hearthsim:balanced", "games": 2_000},
    ]
    console = output_console()
    for seed in range(1, options.seeds + 1):
        content = {
            **{"seed": seed, "decks": decks, "pilot": PILOT, "games": 400, "population": 16},
            **{"generations": 15, "most_edits": 3, "most_measured": 3, "measure": measure},
            "edits": [{"card": "*", "numbers": ["attack", "health"], "by": 3}],
        }
        config = BalanceConfig.model_validate(content)
        place, folder = PoolSettings("local", config.workers, ""), options.out / f"seed{seed}"
        found = run_balance(
            config, f"python -m benchmarks.planted_balance {options.out}", folder, place, console
        )
        for row in found.patches.itertuples():
            console.print(f"{seed} {row.patch} {row.edits}: {row.player} {row.within}, {row.distance:.1%}")


if __name__ == "__main__":
    main()
