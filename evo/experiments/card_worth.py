"""What each card of a deck is worth: statistics of games, and games on the same deals without the card.

Statistics tell how a deck scores in games in which a card was in the opening hand, drawn or played; they are
no causes, since cards are played in games that go well. The worth of a card is one: all copies are replaced
by blanks of its cost, and the deck plays the same deals again, so that everything else is equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from engine import Deck, Ruleset, find_ruleset
from engine.batches import MAX_GAME_ACTIONS
from engine.cards import Card
from engine.codes import ActionKind
from engine.decks import cached_card_table, default_ruleset
from engine.effect_codes import CardKind
from engine.effects.chance import draw_from_stream
from engine.jit import njit
from engine.minion import MinionSpec
from engine.rules import apply, decode
from engine.state import EVENTS
from engine.streams import stream_key
from evo.experiments.folder import ExperimentOptionError
from evo.experiments.plots import plot_worth
from evo.figures.page import Section, html_table, image, interval_cells, make_page
from evo.figures.style import draw, draw_wide_and_narrow
from evo.play.entrants import find_entrant
from evo.play.games import Player, PlayFunction, Roster, Schedule, deal_schedule
from evo.play.results import points_of_deals
from evo.seeds import Stream
from evo.stats.ratings import points_of
from rivals import refuse_decks

MINION_PILOT, CARD_PILOT = "ilp:value-trading", "eva"
"""Default players of decks of minions and of decks with a class: fast ones."""

BLANK = "Blank"
"""Name of the card that replaces another: it costs the same and does nothing."""

MOST_NAMED = 6
"""Most cards that a sentence names."""

CONFIDENCE = 0.95
"""Probability that all intervals of a table together hold the true values."""


def blank_of(card: Card) -> Card:
    """The blank in place of a card: a spell of its cost without effect; in a deck of bodies a 0/1 minion."""
    spec = MinionSpec(0, 1, card.spec.cost)
    if not card.real:
        return Card("", BLANK, spec)
    return Card("BLANK", BLANK, spec, real=True, kind=CardKind.SPELL)


@dataclass(frozen=True)
class CardStudy:
    """Games of a deck against a field, with all its cards and without each of them.

    Attributes:
        deck: a list of cards.
        field: decks that it plays against.
        player: plays the deck.
        rival: plays the field.
        ruleset: of the games.
        games: per deck of the field, and as many without each card; even.
        seed: of the deals.
        pilot: entrant that plays the deck, as typed.
    """

    deck: Deck
    field: tuple[Deck, ...]
    player: Player
    rival: Player
    ruleset: Ruleset
    games: int
    seed: int
    pilot: str = ""

    @cached_property
    def cards(self) -> list[Card]:
        """The different cards of the deck, by cost and name."""
        return [card for card, _ in self.deck.counts()]

    @property
    def total(self) -> int:
        """Number of all games."""
        return (1 + len(self.cards)) * len(self.field) * self.games

    def without(self, card: Card) -> Deck:
        """The deck with a blank for every copy of a card, in the same places of the list."""
        return self.with_replaced(card, blank_of(card))

    def with_replaced(self, card: Card, other: Card) -> Deck:
        """The deck with another card for every copy of a card."""
        cards = tuple(other if one == card else one for one in self.deck.cards)
        return replace(self.deck, cards=cards, text="")

    def roster(self, deck: Deck, actions: bool = False) -> Roster:
        """The players, and the field's decks after `deck`."""
        return Roster((self.player, self.rival), (deck, *self.field), self.ruleset, actions=actions)

    def schedule(self) -> Schedule:
        """Games of the deck against each of the field: each deal twice, the seats exchanged."""
        n = self.games // 2
        keys = [
            stream_key(self.seed, Stream.EXPERIMENT, 6, rival, deal)
            for rival in range(len(self.field))
            for deal in range(n)
        ]
        others = 1 + np.repeat(np.arange(len(self.field)), n)
        decks = np.stack([np.zeros(len(keys)), others], axis=1)
        return Schedule.from_both_seats(np.array([0, 1]), decks, keys)


def make_study(
    deck: Deck,
    field: Sequence[Deck],
    player: str = "",
    rival: str = "",
    games: int = 1_000,
    ruleset: str = "",
    seed: int = 1,
) -> CardStudy:
    """Define a study by the names of its players and its ruleset.

    Args:
        deck: a list of cards.
        field: decks that it plays against.
        player: entrant that plays the deck; "": `CARD_PILOT` or `MINION_PILOT`, fast agents.
        rival: entrant that plays the field; "": as the deck.
        games: per deck of the field, and as many without each card; even.
        ruleset: its name; "" for the decks' default.
        seed: of the deals.

    Raises:
        ExperimentOptionError: the number of games is odd, the field is empty, or the deck has no list.
        EntrantError, UnknownNameError: an entrant or the ruleset is unknown.
        DeckError: an agent does not support card effects, which a deck needs.
    """
    if games % 2 or games < 2:
        raise ExperimentOptionError(f"--games must be even, since games come in pairs; got {games}")
    if not field:
        raise ExperimentOptionError("--field needs at least one deck")
    if deck.random:
        raise ExperimentOptionError(f"{deck.name} draws its cards for each game; choose a deck with a list")
    decks = (deck, *field)
    first = player or (CARD_PILOT if any(one.effects for one in decks) else MINION_PILOT)
    pilots = [find_entrant(text).player for text in (first, rival or first)]
    refuse_decks((pilot.kind_and_backend for pilot in pilots), decks)
    rules = find_ruleset(ruleset or default_ruleset(decks))
    return CardStudy(deck, tuple(field), pilots[0], pilots[1], rules, games, seed, first)


def measure_worth(study: CardStudy, play: PlayFunction) -> tuple[float, pd.DataFrame]:
    """Play the deck, and the deck without each card on the same deals.

    Args:
        study: deck, field and players.
        play: plays a schedule.

    Returns:
        The deck's score; and a row for each card: card, id, copies, cost, games (with it and without it),
        worth (score with the card minus score with blanks), low, high (intervals that hold for all cards
        together), sorted by worth; the index is the card's place in `CardStudy.cards`.
    """
    points = [points_with(study, study.deck, play)]
    points += [points_with(study, study.without(card), play) for card in study.cards]
    rows = []
    for card, own in zip(study.cards, points[1:], strict=True):
        worth, low, high = paired_difference(points[0], own, len(study.cards))
        copies = study.deck.cards.count(card)
        rows.append((card.title, card.id, copies, card.spec.cost, 2 * len(own), worth, low, high))
    columns = ["card", "id", "copies", "cost", "games", "worth", "low", "high"]
    table = pd.DataFrame(rows, columns=columns).sort_values("worth", ascending=False)
    return float(points[0].mean()), table


def points_with(study: CardStudy, deck: Deck, play: PlayFunction) -> np.ndarray:
    """Points of `deck` in place of the study's on each deal, over both seats; shape (deals,)."""
    roster, games = study.roster(deck), study.schedule()
    return points_of_deals(roster, games, play(roster, games))


def paired_difference(points: np.ndarray, other: np.ndarray, comparisons: int) -> tuple[float, float, float]:
    """Mean difference on the same deals, and an interval for all comparisons together (Bonferroni).

    Equal points on every deal are no difference: their interval is the point 0. Otherwise the standard
    deviation counts as at least half a game in a deal for the square root of the deals, since few deals can
    all differ alike by chance.
    """
    differences = points - other
    n, mean = len(differences), float(differences.mean())
    if n < 2 or not differences.any():
        return mean, mean if n > 1 else -1.0, mean if n > 1 else 1.0
    quantile = float(stdtrit(n - 1, 1 - (1 - CONFIDENCE) / (2 * comparisons)))
    half_width = quantile * max(float(differences.std(ddof=1)), 0.5 / n**0.5) / n**0.5
    return mean, mean - half_width, mean + half_width


@njit
def count_cards(held: np.ndarray, n: int, index: np.ndarray, sign: int, counts: np.ndarray) -> None:
    """Add the first `n` cards of a hand or deck to the counts of a deck's cards, modified in place.

    Args:
        held: card numbers; negative for other things.
        n: number of them.
        index: number among the deck's cards by card number; -1 for other cards.
        sign: 1, or -1 to subtract.
        counts: by number among the deck's cards.
    """
    for place in range(n):
        if held[place] >= 0 and index[held[place]] >= 0:
            counts[index[held[place]]] += sign


@njit
def watch_cards(
    cards: np.ndarray,
    states: np.ndarray,
    keys: np.ndarray,
    played: np.ndarray,
    seats: np.ndarray,
    index: np.ndarray,
    drawn: np.ndarray,
    rounds: np.ndarray,
) -> None:
    """Play games again and note what became of a deck's cards.

    Args:
        cards: the card table.
        states: the games as dealt, dtype `STATE`. Modified in place.
        keys: of their chance streams.
        played: dtype `evo.play.games.GAME_WITH_ACTIONS`, shape (games,).
        seats: of the deck, shape (games,).
        index: as of `count_cards`.
        drawn: copies that left the deck, shape (games, cards of the deck). Modified in place.
        rounds: round in which a card was first played, 0: never; shape (games, cards of the deck). Modified.
    """
    events = np.zeros(1, EVENTS)
    for game in range(len(states)):
        state, seat = states[game], seats[game]
        side = state["sides"][seat]
        count_cards(side["hand"], side["n_hand"], index, 1, drawn[game])
        count_cards(side["deck"], side["n_deck"], index, 1, drawn[game])
        draw_from_stream(events[0], state, keys[game])
        for number in range(played[game]["n_actions"]):
            action = played[game]["actions"][number]
            kind, source, _ = decode(action)
            if kind == ActionKind.PLAY and state["active"] == seat:
                card = side["hand"][source]
                if card >= 0 and index[card] >= 0 and rounds[game, index[card]] == 0:
                    rounds[game, index[card]] = state["turn"]
            apply(state, cards, action, events[0])
        count_cards(side["deck"], side["n_deck"], index, -1, drawn[game])
        for card in range(len(drawn[game])):
            if rounds[game, card]:  # played, and another copy shuffled into the deck
                drawn[game, card] = max(drawn[game, card], 1)


@njit
def count_opening(
    states: np.ndarray, seats: np.ndarray, opening: np.ndarray, index: np.ndarray, counts: np.ndarray
) -> None:
    """Count a deck's cards among the first `opening[seat]` cards of its hand.

    Arguments as of `watch_cards`; `counts`, by game and card, is modified in place.
    """
    for game in range(len(states)):
        side = states[game]["sides"][seats[game]]
        count_cards(side["hand"], min(side["n_hand"], opening[seats[game]]), index, 1, counts[game])


@njit
def count_kept(
    dealt: np.ndarray,
    states: np.ndarray,
    seats: np.ndarray,
    opening: np.ndarray,
    index: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Count the opening cards that the mulligan left in their place; as `count_opening`.

    `dealt` are the same games without a mulligan.
    """
    for game in range(len(states)):
        before, side = dealt[game]["sides"][seats[game]], states[game]["sides"][seats[game]]
        for place in range(min(side["n_hand"], opening[seats[game]])):
            card = side["hand"][place]
            if card >= 0 and card == before["hand"][place] and index[card] >= 0:
                counts[game, index[card]] += 1


def card_table(worth: pd.DataFrame, watched: pd.DataFrame) -> pd.DataFrame:
    """The tables of `measure_worth` and `watch_games` as one, by worth; cards may share a name."""
    return worth.join(watched.drop(columns="card")).reset_index(drop=True)


def watch_games(study: CardStudy, play: PlayFunction) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Play the deck's games and tell how it scores with each card in hand, drawn and played.

    Args:
        study: deck, field and players.
        play: plays a schedule with `Roster.actions`.

    Returns:
        Cards, in the order of `CardStudy.cards`: card, and for each of opening (in the opening hand after the
        mulligan), kept (dealt and not replaced), drawn (left the deck in the game) and played the columns
        `..._games` and `..._score`; round, the mean round in which it was first played. Rounds: card, round,
        games (in which it was first played in this round), score.
    """
    roster, games = study.roster(study.deck, actions=True), study.schedule()
    played = play(roster, games)
    whole = np.flatnonzero(played["n_actions"] <= MAX_GAME_ACTIONS)
    games, played = games.select(whole), played[whole]
    tables = cached_card_table(roster.decks)
    numbers = tables[0].number
    index = np.full(len(tables[0].cards), -1, np.int64)
    for number, card in enumerate(study.cards):
        index[numbers[card.key]] = number
    seats = (games.players[:, 0] != 0).astype(np.int64)
    shape = len(games), len(study.cards)
    opening_cards = np.array([study.ruleset.hand_first, study.ruleset.hand_second])
    kept, opening, drawn, rounds = (np.zeros(shape, np.int64) for _ in range(4))
    before = replace(roster, players=tuple(replace(player, keeps=()) for player in roster.players))
    before = replace(before, ruleset=replace(study.ruleset, mulligan_above=-1))
    dealt, states = deal_schedule(before, games, tables), deal_schedule(roster, games, tables)
    count_kept(dealt, states, seats, opening_cards, index, kept)
    count_opening(states, seats, opening_cards, index, opening)
    watch_cards(tables[0].array, states, games.keys, played, seats, index, drawn, rounds)
    points = points_of(played["outcome"], seats == 0)
    found = {
        "opening": opening > 0,
        "kept": kept > 0,
        "drawn": drawn > 0,
        "played": rounds > 0,
    }
    table = pd.DataFrame({"card": [card.title for card in study.cards]})
    for name, where in found.items():
        n = where.sum(axis=0)
        table[f"{name}_games"] = n
        table[f"{name}_score"] = np.divide(points @ where, n, where=n > 0, out=np.full(len(n), np.nan))
    n = (rounds > 0).sum(axis=0)
    table["round"] = np.divide(rounds.sum(axis=0), n, where=n > 0, out=np.full(len(n), np.nan))
    game, place = np.nonzero(rounds)
    long = pd.DataFrame({"place": place, "round": rounds[game, place], "score": points[game]})
    by_round = long.groupby(["place", "round"], sort=True)["score"].agg(["size", "mean"]).reset_index()
    names = table["card"].to_numpy()[by_round["place"].to_numpy(int)]
    rows = {"card": names, "round": by_round["round"], "games": by_round["size"], "score": by_round["mean"]}
    return table, pd.DataFrame(rows)


SHARES = dict.fromkeys(("worth", "score", "opening", "kept", "drawn", "played"), "{:.1%}")
FORMATS = SHARES | dict.fromkeys(("games", "in opening hand", "kept in", "drawn in", "played in"), "{:,}")


def worth_figure(worth: pd.DataFrame) -> bytes:
    """Figure of the worth of each card, a PNG file."""
    return draw(plot_worth, _in_points(worth), WORTH_LABEL, width=6.2, height=_height(worth)).png


WORTH_LABEL = "points in 100 games lost without the card"


def _in_points(worth: pd.DataFrame) -> pd.DataFrame:
    """The table as `plot_worth` takes it: name, and worth with interval in percentage points."""
    points = {"elo": 100 * worth["worth"], "low": 100 * worth["low"], "high": 100 * worth["high"]}
    return pd.DataFrame({"weight": worth["card"], **points})


def _height(worth: pd.DataFrame) -> float:
    return 1.0 + 0.28 * len(worth)


def worth_sentence(worth: pd.DataFrame) -> str:
    """What the table of worth says, in words: the card worth most, and those that are worth nothing."""
    sure, harmful = worth[worth["low"] > 0], worth[worth["high"] < 0]
    best, text = worth.iloc[0], "No card is surely worth more than a blank."
    if len(sure):
        text = (
            f"{best['card']} is worth most: without it the deck loses {100 * best['worth']:.1f} points in "
            f"100 games ({100 * best['low']:.1f} to {100 * best['high']:.1f})."
        )
    if len(sure) < len(worth):
        unsure = worth[(worth["low"] <= 0) & (worth["high"] >= 0)]["card"]
        names = ", ".join(unsure) if len(unsure) <= MOST_NAMED else f"{len(unsure)} of {len(worth)} cards"
        text += f" Not told from a blank: {names}." if len(unsure) else ""
    return text + (f" Worse than a blank: {', '.join(harmful['card'])}." if len(harmful) else "")


def cards_page(
    study: CardStudy,
    score: float,
    worth: pd.DataFrame,
    watched: pd.DataFrame,
    rounds: pd.DataFrame,
    command: str,
) -> bytes:
    """The page of a study, HTML.

    Args:
        study: deck, field and players.
        score: of the deck.
        worth: from `measure_worth`.
        watched: cards, from `watch_games`.
        rounds: rounds, from `watch_games`.
        command: command that repeats it.
    """
    field = ", ".join(deck.name for deck in study.field)
    said = worth_sentence(worth)
    shown = worth.assign(interval=interval_cells(100 * worth[["low", "high"]], "low", "high", "{:+.1f}"))
    shown = shown.drop(columns=["id", "low", "high"]).rename(columns={"interval": "interval, points"})
    drawn = draw_wide_and_narrow(plot_worth, _in_points(worth), WORTH_LABEL, height=_height(worth))
    table = pd.DataFrame({"card": watched["card"]})
    for name, title in (
        ("opening", "in opening hand"),
        ("kept", "kept in"),
        ("drawn", "drawn in"),
        ("played", "played in"),
    ):
        table[title], table[name] = watched[f"{name}_games"], watched[f"{name}_score"]
    table["mean round"] = watched["round"]
    sections = [
        Section(
            "What is each card worth?",
            said,
            [image(drawn, "points lost without each card"), html_table(shown, FORMATS, "Worth of each card")],
            f"{study.deck.name} against {field}, ruleset {study.ruleset.name}: it scores {score:.1%}. All "
            "copies of a card are replaced by blanks, which cost the same and do nothing, and the same deals "
            "are played again, both seats. The intervals hold for all cards together with 95% (Bonferroni).",
            said,
        ),
        Section(
            "How the deck scores with each card",
            "Scores of games with a card in the opening hand, kept, drawn or played. They are no causes: "
            "a card is played in games that go well, and late cards in games that last.",
            [html_table(table, FORMATS | {"mean round": "{:.1f}"}, "Cards in games")],
            "Drawn: it left the deck. Mean round: in which it was first played.",
        ),
        Section(
            "When it is played",
            "Score by the round in which a card was first played.",
            [html_table(rounds, FORMATS, "Cards by round")],
        ),
    ]
    return make_page(f"What the cards of {study.deck.name} are worth", sections, command)
