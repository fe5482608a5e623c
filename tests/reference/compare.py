"""Random games with real cards, played by the engine and by the reference side by side."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from engine import Deck, Outcome, Position, find_deck, find_ruleset, rulesets, shipped_decks
from engine.cards import Card
from engine.cards.patches import Patch, is_patchable, parse_patch, printed_numbers
from engine.cards.real import edition, hero_classes
from engine.codes import Death
from engine.decks import cached_card_table, cards_of_games
from engine.effect_codes import Op, Trigger
from engine.effects.chance import Chance
from engine.match import RULESET_MULLIGAN, MulliganPlans, deal_from_key
from engine.ruleset import Ruleset
from engine.streams import generator, stream_key
from tests.reference.cards import PATCHES, real_cards_of
from tests.reference.game import RealGame
from tests.reference.record import differences, record_of

EVA = ("pirate-warrior", "jade-shaman", "reno-mage")
"""The decks of EVA's experiment."""

KINDS = ("basic", "eva", "class", "mixed", "bodies")
"""Decks of games: Basic; EVA's; of a class; of cards of all classes; Basic against bodies."""

LIVELY = "lively"
"""Decks of cards of all classes that move minions about: not in every comparison, since few others are played."""

MOVING = {
    *(Op.SUMMON, Op.CONTROL, Op.BOUNCE, Op.TRIGGER, Op.GRANT_EFFECTS, Op.TRANSFORM, Op.DESTROY, Op.SILENCE),
    *(Op.SWAP, Op.MULTIPLY, Op.TRAIT, Op.ADD, Op.EQUIP, Op.WEAPON, Op.DISARM),
}

DEATHS = {"attacker": Death.ATTACKER, "defender": Death.DEFENDER}
RESULTS = {"first": Outcome.FIRST_WINS, "second": Outcome.SECOND_WINS, "draw": Outcome.DRAW}

MOST_ACTIONS = 3_000


class DisagreementError(AssertionError):
    """Engine and reference differ; the message says where, and after which action of which position."""


@lru_cache(maxsize=16)
def exact_cards(hero_class: str) -> list[Card]:
    """The exact cards of edition 2018-07 that a class plays; all of them for ""."""
    classes = ("NEUTRAL", hero_class.upper())
    return [card for card in edition().exact() if not hero_class or card.card_class in classes]


@lru_cache(maxsize=1)
def lively_cards() -> list[Card]:
    return [
        card
        for card in exact_cards("")
        if any(effect.trigger != Trigger.PLAY or effect.op in MOVING for effect in card.effects)
    ]


@lru_cache(maxsize=1)
def basic_decks() -> list[Deck]:
    return [find_deck(f"basic-{name}") for name in hero_classes()]


def some_deck(kind: str, pick: np.random.Generator) -> Deck:
    """A deck of a kind, at random."""
    if kind in ("basic", "bodies"):
        shipped = [find_deck(name) for name in shipped_decks()]
        decks = basic_decks() if kind == "basic" else [deck for deck in shipped if not deck.hero_class]
        return decks[int(pick.integers(len(decks)))]
    if kind == "eva":
        return find_deck(str(pick.choice(EVA)))
    hero_class = str(pick.choice(list(hero_classes())))
    cards: list[Card] = []
    pool = lively_cards() if kind == LIVELY else exact_cards("" if kind == "mixed" else hero_class)
    # As many cards of the class as neutral ones, about.
    shares = np.array([1.0 if card.card_class == "NEUTRAL" else 4.0 for card in pool])
    while len(cards) < 30:
        card = pool[int(pick.choice(len(pool), p=shares / shares.sum()))]
        if cards.count(card) < (1 if card.rarity == "LEGENDARY" else 2):
            cards.append(card)
    return Deck(f"{kind}-{hero_class}", tuple(cards), hero_class=hero_class, edition="2018-07")


def some_patch(decks: Sequence[Deck], pick: np.random.Generator) -> Patch:
    """A patch of some numbers, at random, of cards that games of these decks may have."""
    texts = []
    for card in cards_of_games(decks):
        some = card.id and is_patchable(card) and pick.random() < 0.3
        for number in printed_numbers(card) if some else ():
            op, _ = PATCHES.get(number.name.rstrip("0123456789"), ("", ""))
            of_row = number.row >= 0 and card.effects[number.row].op.name.lower() == op
            if of_row or (number.row < 0 and number.field in ("cost", "attack", "health")):
                value = int(np.clip(number.value + pick.integers(-2, 3), number.low, number.high))
                texts.append(f"{card.id} {number.name}={value}")
    return parse_patch(texts)


def play_both(number: int, kind: str, patched: bool = False) -> int:
    """Play random game `number` with decks of a kind in both; how many actions it had.

    Legal actions, the state's bytes, outcomes of chance, deaths and the result must be equal at every step.

    Raises:
        DisagreementError: they are not.
    """
    pick = generator(2018, (*KINDS, LIVELY).index(kind), number)
    decks = [some_deck(kind, pick), some_deck("basic" if kind == "bodies" else kind, pick)]
    if patched:
        patch = some_patch(decks, pick)
        decks = [deck.patched(patch) for deck in decks]
    if pick.random() < 0.5:
        decks.reverse()
    rules = find_ruleset(str(pick.choice(list(rulesets()))))
    if pick.random() < 0.25:
        rules = replace(rules, hero_health=int(pick.integers(1, 31)))
    key = stream_key(number)
    position, game = deal_from_key(tuple(decks), key, rules), start_game(decks, rules, number)
    chance = Chance.drawn(key, position.states)
    # A player who seldom ends the turn by chance makes fuller boards.
    eager = pick.random() < 0.7
    before, action = position.copy(), "deal"
    where = f"{kind} game {number}"
    played = 0
    while played < MOST_ACTIONS:
        found = problem(position, game)
        actions = position.legal_actions()
        texts = [str(one) for one in actions]
        legal = game.legal()
        if not found and (set(texts) != legal or len(legal) != len(texts)):
            found = f"legal in the reference {sorted(legal - set(texts))}, in the engine {sorted(set(texts) - legal)}"
        if found:
            raise DisagreementError(
                f"{where}: {found}; after {action!r} in {before}, which led to {position}"
            )
        if not actions:
            break
        n = len(actions)
        choice = int(pick.integers(n - 1 if eager and n > 1 else n))
        before, action = position.copy(), texts[choice]
        deaths, fallen = position.play(actions[choice], chance), game.act(action)
        played += 1
        ours = (tuple(game.outcomes), sum(DEATHS[word] for word in fallen))
        if ours != (chance.outcomes, deaths):
            raise DisagreementError(
                f"{where}: outcomes and deaths {ours} in the reference, {(chance.outcomes, deaths)} in the engine; "
                f"after {action!r} in {before}, which led to {position}"
            )
    assert not actions, f"{where} does not end"
    if RESULTS[game.result()] != position.outcome:
        raise DisagreementError(
            f"{where}: {game.result()} in the reference, {position.outcome.name} in the engine"
        )
    return played


def start_game(
    decks: Sequence[Deck], rules: Ruleset, seed: int, keeps: MulliganPlans = RULESET_MULLIGAN
) -> RealGame:
    """The deal of `seed` in the reference."""
    table, _ = cached_card_table(tuple(decks))
    powers = [deck.power.key if deck.power else None for deck in decks]
    dealt = {card.key for deck in decks for card in deck.cards} | set(powers) - {None}
    plain = [
        {
            "random": deck.random,
            "cards": [table.number[card.key] for card in deck.cards],
            "power": None if power is None else table.number[power],
        }
        for deck, power in zip(decks, powers, strict=True)
    ]
    cards = real_cards_of(table, len(dealt))
    asked = {word for card in cards for row in card["rows"] for word in row.of.tests}
    for deck, one in zip(decks, plain, strict=True):
        one["class"] = (
            deck.hero_class if asked & {"own_class", "enemy_class"} and deck.hero_class else "neutral"
        )
    chosen = [
        own if own is None else {n: own[c.id] for n, c in enumerate(table.cards) if c.id in own}
        for own in keeps
    ]
    game = RealGame.deal(cards, plain, rules, seed, chosen)
    game.stream = stream_key(seed)
    return game


def problem(position: Position, game: RealGame) -> str:
    """Where the two states differ; "" where every byte is equal."""
    record = record_of(game)
    if record.tobytes() == position.state.tobytes():
        return ""
    return f"{'; '.join(differences(record[0], position.state))} (reference, engine)"
