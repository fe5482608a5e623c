"""Chapter 7 of the turn-ILP thesis as its program seems to have played it, apart from the engine.

    python -m benchmarks.thesis_published --games 200 --out build/published.csv

Two heroes of 30 health, 4 cards each and no Coin; the Paladin deck goes first; a draw on every turn,
fatigue, ten cards in hand; turns are counted in rounds. The turn program is that of the thesis (sections 4.3
and 5.4.4, the code of 6.3), with S = 1 for every card. Three departures from the rules make the published
player; each can be left out or added:

charge      minions that are played attack without a limit in the program (x <= u for each target)
exact-hero  the program never deals the hero more than its health, so that lethal needs the exact sum; this
            is a guess, the other two are printed
blind       planned attacks are carried out without a look at Taunts, also on the dead, who strike back and
            leave at the end of the turn

Without `blind` an attack that the rules forbid by now is left out, Taunts are attacked first, and the dead
leave at once.
"""

import argparse
import csv
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from benchmarks.published.thesis_guesses import guess_decks
from engine import Keyword, ManaforgeError, find_deck
from engine.cards import Card
from ilp_agent import find_profile, find_solver
from ilp_agent.milp.program import Milp

PROFILES = (
    *("keep-alive", "board-clear", "aggro-face", "value-trading"),
    *("aggro-tempo", "true-balanced", "author-favorite"),
)
"""The seven in the order of the thesis."""

DEPARTURES = ("charge", "exact-hero", "blind")
DECKS = "thesis-paladin,thesis-warrior"
GUESS = "guess:"
HEALTH, OPENING, HAND, BOARD, MANA, MOST_ROUNDS = 30, 4, 10, 7, 10, 100


@dataclass(eq=False)
class Minion:
    """A card, and the minion that it becomes."""

    cost: int
    attack: int
    health: int
    charge: bool
    rush: bool
    taunt: bool


@dataclass
class Player:
    """A hero with deck, hand and board; cards are drawn from the deck's end."""

    weights: tuple[float, ...]
    deck: list[Minion]
    health: int = HEALTH
    mana: int = 0
    fatigue: int = 0
    hand: list[Minion] = field(default_factory=list)
    board: list[Minion] = field(default_factory=list)

    def draw(self) -> None:
        """Draw a card, or lose health by an empty deck."""
        if not self.deck:
            self.fatigue += 1
            self.health -= self.fatigue
        elif len(self.hand) < HAND:
            self.hand.append(self.deck.pop())
        else:
            self.deck.pop()


Plan = tuple[list[int], list[list[int]], list[bool]]
"""Cards played, by place in hand; for each minion of board and hand its targets in order, and if the hero."""


def plan_of(own: Player, enemy: Player, departures: Sequence[str], solver: object) -> Plan:
    """The optimal plan of the thesis's program."""
    friends, m, n = [*own.board, *own.hand], len(own.board), len(enemy.board)
    w1, w2, w3, w4, w5, w6, w7, w8 = own.weights
    milp = Milp()
    milp.offset = w1
    z_hero, c = milp.binary("z_hero", -w1), milp.binary("c", w2)
    z = [milp.binary(f"z{j}", -w4 * foe.attack) for j, foe in enumerate(enemy.board)]
    y = [milp.binary(f"y{i}", w5 * friend.health) for i, friend in enumerate(friends)]
    u = [milp.binary(f"u{k}", w8) for k in range(len(own.hand))]
    x = [
        [milp.binary(f"x{i},{j}", w6 * friend.attack - w7 * foe.attack) for j, foe in enumerate(enemy.board)]
        for i, friend in enumerate(friends)
    ]
    x_hero = [milp.binary(f"x{i},hero", w3 * friend.attack) for i, friend in enumerate(friends)]
    for i, friend in enumerate(friends):
        attacks = [(one, 1.0) for one in (*x[i], x_hero[i])]
        if i < m or "charge" not in departures:
            milp.add("attack limit", attacks, upper=1)
        if i >= m:
            milp.add("survives if played", [(y[i], 1.0), (u[i - m], -1.0)], upper=0)
            for one in x[i]:
                milp.add(
                    "Charge or Rush", [(one, 1.0), (u[i - m], -float(friend.charge or friend.rush))], upper=0
                )
            milp.add("Charge", [(x_hero[i], 1.0), (u[i - m], -float(friend.charge))], upper=0)
        else:
            lost = [
                (x[i][j], (foe.attack - friend.health + 1) / foe.attack)
                for j, foe in enumerate(enemy.board)
                if foe.attack
            ]
            milp.add("survival", [(y[i], 1.0), *lost], upper=1)
    for j, foe in enumerate(enemy.board):
        damage = [(x[i][j], friend.attack / foe.health) for i, friend in enumerate(friends)]
        milp.add("enemy survives", [(z[j], 1.0), *damage], lower=1)
        milp.add("clear", [(c, 1.0), (z[j], 1.0)], upper=1)
        if foe.taunt:
            others = [x[i][k] for i in range(len(friends)) for k in range(n) if not enemy.board[k].taunt]
            for one in (*x_hero, *others):
                milp.add("Taunt", [(z[j], 1.0), (one, 1.0)], upper=1)
    face = [(x_hero[i], friend.attack) for i, friend in enumerate(friends)]
    milp.add("lethal", [(z_hero, 1.0), *((one, attack / enemy.health) for one, attack in face)], lower=1)
    if "exact-hero" in departures:
        milp.add("no overkill", [(one, float(attack)) for one, attack in face], upper=enemy.health)
    milp.add("board", [(one, 1.0) for one in (*y[:m], *u)], upper=BOARD)
    milp.add("mana", [(one, float(card.cost)) for one, card in zip(u, own.hand, strict=True)], upper=own.mana)
    _, values = solver.run(milp)  # type: ignore[attr-defined]
    chosen = values > 0.5
    return (
        [k for k, one in enumerate(u) if chosen[one]],
        [[j for j, one in enumerate(row) if chosen[one]] for row in x],
        [bool(chosen[one]) for one in x_hero],
    )


def carry_out(own: Player, enemy: Player, plan: Plan, departures: Sequence[str]) -> None:
    """Play the cards, then attack by the order of attackers, each once."""
    plays, targets, at_hero = plan
    foes, attackers, cards = list(enemy.board), [*own.board], list(own.hand)
    attackers += [None] * len(cards)  # type: ignore[list-item]
    for k in plays:
        if len(own.board) < BOARD:
            own.mana -= cards[k].cost
            own.hand.remove(cards[k])
            own.board.append(cards[k])
            attackers[len(targets) - len(cards) + k] = cards[k]
    planned = [(i, j) for i, row in enumerate(targets) for j in (*row, *([-1] if at_hero[i] else []))]
    if "blind" not in departures:
        planned.sort(key=lambda pair: not (pair[1] >= 0 and foes[pair[1]].taunt))
    done = set[int]()
    for i, j in planned:
        attacker, foe = attackers[i], foes[j] if j >= 0 else None
        if attacker is None or i in done:
            continue
        if "blind" not in departures:
            guarded = any(one.taunt and one.health > 0 for one in foes)
            dead = attacker.health <= 0 or (foe is not None and foe.health <= 0)
            if dead or (guarded and (foe is None or not foe.taunt)):
                continue
        done.add(i)
        if foe is None:
            enemy.health -= attacker.attack
        else:
            foe.health -= attacker.attack
            attacker.health -= foe.attack
    for player in (own, enemy):
        player.board = [minion for minion in player.board if minion.health > 0]


@cache
def decks_of(decks: str) -> tuple[tuple[Card, ...], ...]:
    """The cards of both decks, by their names with a comma between, or of `guess:NUMBER`."""
    if decks.startswith(GUESS):
        return guess_decks(int(decks.removeprefix(GUESS)))
    return tuple(find_deck(deck).cards for deck in decks.split(","))


def play_game(
    pair: tuple[str, str], decks: str, draw: random.Random, departures: Sequence[str], solver: object
) -> tuple[int, int]:
    """A game; returns who won, 0 for who goes first and -1 for nobody, and its rounds."""
    players = []
    for name, deck in zip(pair, decks_of(decks), strict=True):
        cards = [
            Minion(
                card.spec.cost,
                card.spec.attack,
                card.spec.health,
                *(bool(card.spec.keywords & one) for one in (Keyword.CHARGE, Keyword.RUSH, Keyword.TAUNT)),
            )
            for card in deck
        ]
        draw.shuffle(cards)
        players.append(Player(tuple(find_profile(name).weights.array), cards))
        for _ in range(OPENING):
            players[-1].draw()
    for turn in range(2 * MOST_ROUNDS):
        own, enemy = players[turn % 2], players[1 - turn % 2]
        own.mana = min(turn // 2 + 1, MANA)
        own.draw()
        if own.health > 0:
            carry_out(own, enemy, plan_of(own, enemy, departures, solver), departures)
        if own.health <= 0 or enemy.health <= 0:
            return (turn % 2 if enemy.health <= 0 else 1 - turn % 2), turn // 2 + 1
    return -1, MOST_ROUNDS


def stream_of(seed: int, pair: tuple[str, str], departures: Sequence[str], number: int) -> random.Random:
    """Draws of a game, its own: no other game of any table shares its deal."""
    return random.Random(f"{seed} {'-'.join(pair)} {','.join(departures)} {number}")


def play_cell(job: tuple[tuple[str, str], str, int, int, tuple[str, ...], str]) -> tuple[int, float, int]:
    """All games of a pairing; returns the first's wins, the mean of rounds, and games that nobody won."""
    pair, decks, games, seed, departures, backend = job
    solver = find_solver(backend)
    played = [
        play_game(pair, decks, stream_of(seed, pair, departures, number), departures, solver)
        for number in range(games)
    ]
    wins, unended = (sum(winner == of for winner, _ in played) for of in (0, -1))
    return wins, sum(rounds for _, rounds in played) / games, unended


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200, help="games of each of the 49 pairings")
    parser.add_argument("--out", type=Path, required=True, help="a CSV file")
    parser.add_argument("--departures", default=",".join(DEPARTURES), help="of the three above; '' for none")
    parser.add_argument(
        "--decks", default=DECKS, help="of who goes first, and of the other; or guess:NUMBER, drawn at random"
    )
    parser.add_argument("--solver", default="gurobi", choices=("gurobi", "highs"), help="of the turn program")
    parser.add_argument("--seed", type=int, default=1, help="of the deals; another seed shares none")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    chosen = parser.parse_args()
    named = set(filter(None, chosen.departures.split(",")))
    departures = tuple(one for one in DEPARTURES if one in named)
    if unknown := named - set(DEPARTURES):
        parser.error(f"unknown departure {', '.join(sorted(unknown))}; known: {', '.join(DEPARTURES)}")
    if not re.fullmatch(rf"[^,]+,[^,]+|{GUESS}[0-9]{{1,6}}", chosen.decks):
        parser.error(
            "--decks takes two with a comma between, of who goes first and of the other, or guess:NUMBER; "
            "got "
            f"{chosen.decks}"
        )
    if min(chosen.games, chosen.workers) < 1:
        parser.error("--games and --workers are at least 1")
    try:
        decks_of(chosen.decks)
        find_solver(chosen.solver)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.open("a", encoding="utf-8").close()  # rather now than after the games
    except (ManaforgeError, OSError) as error:
        parser.error(str(error))
    began = time.perf_counter()
    pairs = [(first, second) for first in PROFILES for second in PROFILES]
    jobs = [(pair, chosen.decks, chosen.games, chosen.seed, departures, chosen.solver) for pair in pairs]
    with get_context("spawn").Pool(chosen.workers) as pool:
        results = pool.map(play_cell, jobs, chunksize=1)
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["first", "second", "games", "first_wins", "mean_turns"])
        for (first, second), (wins, rounds, _) in zip(pairs, results, strict=True):
            writer.writerow([first, second, chosen.games, wins, f"{rounds:.3f}"])
    unended = sum(of_cell for _, _, of_cell in results)
    print(
        f"{len(pairs) * chosen.games:,} games in {time.perf_counter() - began:.0f} s, {unended} of them "
        f"without a winner after {MOST_ROUNDS} rounds; written: {chosen.out}"
    )


if __name__ == "__main__":
    main()
