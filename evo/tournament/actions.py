"""Actions of a tournament's games as a table: one row an action, in Parquet files beside the results.

The games note the actions; here they are played again, which takes a small part of the time of choosing them,
to write what each was and how the position stood before it. docs/tournament.md lists the columns.
"""

from typing import Any

import numpy as np
import pandas as pd

from engine import Action
from engine.batches import MAX_GAME_ACTIONS
from engine.bitfields import AIMED
from engine.codes import COIN, HERO, MAX_ACTIONS, OWN_TARGETS, ActionKind
from engine.decks import cached_card_table
from engine.effects.chance import draw_from_stream
from engine.jit import njit
from engine.rules import apply, decode, legal_actions
from engine.state import EVENTS
from evo.play.games import Roster, Schedule, deal_schedule
from evo.play.results import GameError
from evo.stats.ratings import points_of

NO_CARD, THE_COIN, A_HERO, OWN_HERO = -1, -2, -3, -4
"""Codes in place of card numbers in `ACTION`."""

SIDE_COLUMNS = (
    *("health", "armour", "mana", "hand", "deck", "weapon", "secrets"),
    *("board", "attack", "board_health"),
)
"""Columns of a player: of the one who acts, and with `enemy_` of the other."""

ACTION = np.dtype(
    [
        ("game", "i4"),
        ("number", "i2"),
        ("round", "i2"),
        ("seat", "i1"),
        ("action", "i4"),
        ("card", "i2"),
        ("target", "i2"),
        *((name, "i2") for name in SIDE_COLUMNS),
        *((f"enemy_{name}", "i2") for name in SIDE_COLUMNS),
    ]
)
"""An action: game, its number in the game, round, seat, code, card and target, and the position before it."""


@njit
def card_of_character(side: np.void, place: int, hero: int) -> int:
    """Card of a minion on a side's board, or the code `hero`."""
    return hero if place == HERO else int(side["board"][place]["card"])


@njit
def note_cards(state: np.void, action: int, row: np.void) -> None:
    """Write the card and the target of an action to `row`, modified in place."""
    kind, source, target = decode(action)
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    row["card"] = row["target"] = NO_CARD
    if kind == ActionKind.PLAY:
        card = own["hand"][source]
        row["card"] = THE_COIN if card == COIN else card
    elif kind == ActionKind.POWER:
        row["card"] = own["power"] - 1
    elif kind == ActionKind.CHOOSE:
        row["card"] = state["options"][source]
    elif kind == ActionKind.ATTACK:
        row["card"] = card_of_character(own, source, A_HERO)
        row["target"] = card_of_character(enemy, target, A_HERO)
    if kind in (ActionKind.PLAY, ActionKind.POWER) and action & AIMED:
        if target >= OWN_TARGETS:
            row["target"] = card_of_character(own, target - OWN_TARGETS, OWN_HERO)
        else:
            row["target"] = card_of_character(enemy, target, A_HERO)


@njit
def note_position(state: np.void, row: np.void) -> None:
    """Write how the position stands for both players to `row`, modified in place."""
    own, enemy = state["sides"][state["active"]], state["sides"][1 - state["active"]]
    row["round"], row["seat"] = state["turn"], state["active"]
    row["health"], row["enemy_health"] = own["health"], enemy["health"]
    row["armour"], row["enemy_armour"] = own["armour"], enemy["armour"]
    row["mana"], row["enemy_mana"] = own["mana"], enemy["crystals"]
    row["hand"], row["enemy_hand"] = own["n_hand"], enemy["n_hand"]
    row["deck"], row["enemy_deck"] = own["n_deck"], enemy["n_deck"]
    row["board"], row["enemy_board"] = own["n_board"], enemy["n_board"]
    row["weapon"], row["enemy_weapon"] = own["weapon_attack"], enemy["weapon_attack"]
    row["secrets"], row["enemy_secrets"] = own["n_secrets"], enemy["n_secrets"]
    row["attack"] = row["board_health"] = row["enemy_attack"] = row["enemy_board_health"] = 0
    for slot in range(own["n_board"]):
        row["attack"] += own["board"][slot]["attack"]
        row["board_health"] += own["board"][slot]["health"]
    for slot in range(enemy["n_board"]):
        row["enemy_attack"] += enemy["board"][slot]["attack"]
        row["enemy_board_health"] += enemy["board"][slot]["health"]


@njit
def replay_actions(
    cards: np.ndarray, states: np.ndarray, keys: np.ndarray, played: np.ndarray, rows: np.ndarray
) -> int:
    """Play games again and write a row for each action; returns the first game with an illegal one, or -1.

    Args:
        cards: the card table.
        states: the games as dealt, dtype `STATE`. Modified in place.
        keys: of their chance streams.
        played: dtype `evo.play.games.GAME_WITH_ACTIONS`, shape (games,).
        rows: dtype `ACTION`, shape (actions of all games,). Modified in place.
    """
    events, legal, place = np.zeros(1, EVENTS), np.zeros(MAX_ACTIONS, np.int64), 0
    for game in range(len(states)):
        draw_from_stream(events[0], states[game], keys[game])
        for number in range(played[game]["n_actions"]):
            action, row = played[game]["actions"][number], rows[place]
            row["game"], row["number"], row["action"] = game, number, action
            n_legal, is_legal = legal_actions(states[game], cards, legal), False
            for choice in range(n_legal):
                is_legal = is_legal or legal[choice] == action
            if not is_legal:
                return game
            note_position(states[game], row)
            note_cards(states[game], action, row)
            apply(states[game], cards, action, events[0])
            place += 1
    return -1


def action_table(roster: Roster, games: Schedule, played: np.ndarray, first: int) -> pd.DataFrame:
    """The actions of games as a table; games with more than `MAX_GAME_ACTIONS` are left out.

    Args:
        roster: players, decks and rules.
        games: the schedule.
        played: its results, dtype `evo.play.games.GAME_WITH_ACTIONS`.
        first: number of the first game.

    Raises:
        GameError: an action is not legal, so that the results are not those of the games.
    """
    known = np.flatnonzero(played["n_actions"] <= MAX_GAME_ACTIONS)
    games, played = games.select(known), played[known]
    table, decks = cached_card_table(roster.decks)
    states = deal_schedule(roster, games, (table, decks))
    rows = np.zeros(int(played["n_actions"].sum()), ACTION)
    wrong = replay_actions(table.array, states, games.keys, played, rows)
    if wrong >= 0:
        raise GameError(f"the actions of game {first + int(known[wrong])} are not legal; repeat the command")
    place = rows["game"]
    codes, texts = pd.factorize(rows["action"])
    names = [card.title for card in table.cards]
    coded = {NO_CARD: None, THE_COIN: "The Coin", A_HERO: "hero", OWN_HERO: "own hero"}
    words = [
        *names,
        *(coded[code] for code in range(OWN_HERO, 0)),
    ]  # codes count from the end
    columns: dict[str, Any] = {
        "game": first + known[place],
        "number": rows["number"],
        "round": rows["round"],
        "seat": rows["seat"],
        "action": pd.Categorical.from_codes(codes, [str(Action.from_code(int(code))) for code in texts]),
        "card": _named(rows["card"], words),
        "target": _named(rows["target"], words),
    }
    columns |= {name: rows[name] for name in ACTION.names or () if name not in (*columns, "game")}
    columns["score"] = points_of(played["outcome"][place], rows["seat"] == 0).astype(np.float32)
    return pd.DataFrame(columns)


def _named(codes: np.ndarray, words: list[str | None]) -> pd.Categorical:
    """Names of codes, indices into `words`, as a categorical column; empty where the name is None."""
    places, found = pd.factorize(codes)
    texts = [words[code] for code in found.tolist()]
    names = list(dict.fromkeys(text for text in texts if text is not None))
    number = np.array([-1 if text is None else names.index(text) for text in texts], np.int32)
    return pd.Categorical.from_codes(number[places] if len(number) else places, names)
