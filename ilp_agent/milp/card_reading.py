"""Read a turn with card effects for the integer program, and reject turns outside its class A.

On an accepted turn the program has the same optimum as the search. Unaffordable cards are ignored. Of all
other cards `ilp_agent.milp.spell_sources` must support every effect row, and this module rejects combinations
of effects that the program does not model.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from engine import MinionSpec, Position
from engine.codes import (
    BOARD_SIZE,
    COIN,
    HAND_SIZE,
    HERO,
    MAX_MANA,
    OWN_TARGETS,
    ActionKind,
    Keyword,
)
from engine.effect_codes import ENEMY, HEROES, MINIONS, OWN, CardKind, Filter, Need, Op, Pick, Trait, Trigger
from engine.effects.legal_actions import NO_ATTACK_TRAITS, NO_HERO_ATTACK_TRAITS
from engine.minion import keyword_flags_of
from ilp_agent.milp.card_turn import (
    CardProblem,
    buff_targets,
    casts_at_own_characters,
    harmless_silence_target,
    hero_attack_options,
    max_own_hero_damage,
    may_attack,
    silenceable_taunts,
    spec_of,
    targets_of,
)
from ilp_agent.milp.spell_sources import (
    Cast,
    ConstantDeathrattle,
    SummonedEnemy,
    UnsupportedTurnError,
    read_cast,
    read_deathrattle,
    silence_changes,
    silence_may_help,
)
from ilp_agent.problem import TurnProblem
from ilp_agent.search.transposition import SIMPLE_FEATURES
from ilp_agent.turn import ANY_TARGET, OWN_HERO_SOURCE, PLAYED_THIS_TURN, Turn, attacks_on_arrival
from ilp_agent.weights import Weights

KNOWN_KEYWORDS = 2 * Keyword.STEALTH - 1
"""Bits of the keywords that the program supports."""

MAX_BUFFS = 2
"""Most cards with a buff: each doubles the sources of every attacker."""


OWN_HERO = -1 - OWN_TARGETS - HERO
"""`Exclusion.target` of the own hero."""


def check_heroes(position: Position, own: np.void, enemy: np.void) -> None:
    """Reject unsupported modifiers and weapons of the heroes, and unsupported cards of the game."""
    rows = position.table.array
    if int(rows[0]["game_features"]) & ~SIMPLE_FEATURES:
        raise UnsupportedTurnError("the game", "cards with triggers, auras or changed costs")
    for side, name in ((own, "the own hero"), (enemy, "the enemy hero")):
        if side["traits"] & Trait.IMMUNE:
            raise UnsupportedTurnError(name, "immune")
    if own["hero_attacks_left"] > 1:
        raise UnsupportedTurnError("the own hero", "two attacks")
    if own["durability"] > 0:
        _check_weapon(position, int(own["weapon"]))
    if enemy["durability"] > 0 and position.table.array[enemy["weapon"]]["n_effects"]:
        raise UnsupportedTurnError(position.card_name(int(enemy["weapon"])), "a weapon with card text")


def _check_weapon(position: Position, number: int) -> None:
    """Reject weapons with effects or keywords."""
    card = position.table.array[number]
    if card["n_effects"] or card["keywords"] or card["traits"]:
        raise UnsupportedTurnError(position.card_name(number), "a weapon with card text")


def _check_keywords(found: CardProblem) -> None:
    """Reject minions with an unsupported keyword."""
    problem, names = found.problem, [found.position.card_name(int(foe["card"])) for foe in found.foes]
    minions = (*problem.friendly, *problem.hand, *problem.enemy)
    for minion, label in zip(minions, (*found.labels, *names), strict=False):
        if minion.keywords & ~KNOWN_KEYWORDS:
            raise UnsupportedTurnError(label, "an unsupported keyword")


def _check_minions(found: CardProblem, w: Weights) -> None:
    """Reject minions with unsupported modifiers or effects that can matter this turn."""
    name = found.position.card_name
    problem = found.problem
    doubles = any(record["attacks"] == 2 for record in problem.record["friends"])
    for side, minions in ((0, found.own["board"]), (1, found.enemy["board"])):
        n = found.own["n_board"] if side == 0 else found.enemy["n_board"]
        for place in range(n):
            minion = minions[place]
            title, card = name(int(minion["card"])), found.cards[minion["card"]]
            if minion["turn_attack"]:
                raise UnsupportedTurnError(title, "temporary attack")
            if minion["traits"] & (Trait.IMMUNE | Trait.DOOMED):
                raise UnsupportedTurnError(title, "immune or doomed")
            if minion["keywords"] & Keyword.LIFESTEAL and minion["attack"] > 0:
                raise UnsupportedTurnError(title, "Lifesteal")
            if side == 1 and doubles and minion["traits"] & Trait.FREEZES:
                raise UnsupportedTurnError(title, "it may freeze a minion that attacks twice")
            if side == 0 and not minion["traits"] & Trait.SILENCED:
                _check_turn_end(title, card, w)
    for k, number in enumerate(found.numbers):
        title, card = name(number), found.cards[number]
        attacks = attacks_on_arrival(int(card["attack"]), int(card["keywords"]))
        if card["keywords"] & Keyword.LIFESTEAL and attacks:
            raise UnsupportedTurnError(title, "Lifesteal")
        if card["overload"]:
            raise UnsupportedTurnError(title, "a minion with Overload")
        if attacks and card["traits"] & (NO_ATTACK_TRAITS | NO_HERO_ATTACK_TRAITS):
            raise UnsupportedTurnError(title, "restricted attacks")
        _check_turn_end(title, card, w)
        assert problem.hand[k].attack == card["attack"]


def _check_turn_end(title: str, card: np.void, w: Weights) -> None:
    """Reject own minions with end-of-turn effects, except healing without weight."""
    for row in card["effects"][: card["n_effects"]]:
        healing = row["op"] == Op.HEAL and row["pick"] == Pick.ALL and row["side"] == OWN
        if row["trigger"] == Trigger.TURN_END and not (healing and row["kind"] == MINIONS and not w.body):
            raise UnsupportedTurnError(title, "an end-of-turn effect")


def _check_board_space(found: CardProblem) -> None:
    """Reject turns on which the own board may be full."""
    budget = int(found.own["mana"]) + found.problem.coin + sum(cast.mana for cast in found.casts)
    best = [0] * (budget + 1)
    items = [
        (card.cost, 1 + sum(len(cast.tokens) for cast in found.casts if cast.minion == k))
        for k, card in enumerate(found.problem.hand)
    ]
    items += [(cast.cost, len(cast.tokens)) for cast in found.casts if cast.minion < 0 and cast.tokens]
    for cost, n in items:
        for left in range(budget, cost - 1, -1):
            best[left] = max(best[left], best[left - cost] + n)
    best[budget] += sum(len(deathrattle.tokens) for deathrattle in found.deathrattles.values())
    if len(found.problem.friendly) + best[budget] > BOARD_SIZE:
        raise UnsupportedTurnError("the own board", "summoned minions may not all fit")


def _check_combinations(found: CardProblem, w: Weights) -> None:
    """Reject unsupported combinations of supported effects."""
    casts = found.casts
    bodies = [found.own["board"][i]["spell_damage"] for i in range(found.own["n_board"])]
    spells = [cast for cast in casts if cast.damage and not cast.power and cast.spell]
    if spells and (any(bodies) or any(found.cards[n]["spell_damage"] for n in found.numbers)):
        raise UnsupportedTurnError(spells[0].label, "together with Spell Damage")
    for cast in casts:
        _check_cast(found, cast, w)
    drawn = sum(cast.draws for cast in casts) + sum(
        deathrattle.draws for deathrattle in found.deathrattles.values()
    )
    if drawn:
        label = next((cast.label for cast in casts if cast.draws), "Deathrattle")
        if found.own["n_deck"] < drawn:
            raise UnsupportedTurnError(label, "fatigue")
        played = not any(cast.power for cast in casts if cast.draws)
        deathrattle_draws = any(deathrattle.draws for deathrattle in found.deathrattles.values())
        if w.draw and found.own["n_hand"] - (played and not deathrattle_draws) + drawn > HAND_SIZE:
            raise UnsupportedTurnError(label, "drawn cards may burn")
    crystals = sum(cast.crystals for cast in casts)
    if crystals and found.own["crystals"] + crystals > MAX_MANA:
        raise UnsupportedTurnError(
            next(cast.label for cast in casts if cast.crystals), "more than 10 mana crystals"
        )
    if sum(1 for cast in casts if cast.hero_attack) > 3:
        raise UnsupportedTurnError(
            next(c.label for c in casts if c.hero_attack), "more than three hero attack buffs"
        )
    _check_removals(found)
    _check_deathrattles(found)
    _check_silences(found, w)
    _check_heals(found, w)
    _check_buffs(found, w)


def _check_cast(found: CardProblem, cast: Cast, w: Weights) -> None:
    """Reject a cast that is unsupported on this turn."""
    if cast.weapon >= 0:
        _check_weapon(found.position, cast.weapon)
    for number in (*cast.tokens, *((cast.becomes,) if cast.becomes >= 0 else ())):
        _check_token(found, cast.label, number)
    if cast.minion >= 0 and (cast.destroys or (cast.target_filter and not cast.buff)):
        raise UnsupportedTurnError(cast.label, "a Battlecry with a target condition")
    if cast.minion >= 0 and cast.damage and not cast.fixed and cast.aim_kind & HEROES == 0:
        raise UnsupportedTurnError(cast.label, "a Battlecry that may lack a target")
    harmless = cast.aim_kind & HEROES and not w.hero and found.own_hero_safe
    barred = any(
        exclusion.source == cast.number and exclusion.target == OWN_HERO for exclusion in found.turn.barred
    )
    modelled = cast.destroys and not w.body and not any(other.buff or other.tokens for other in found.casts)
    if cast in casts_at_own_characters(found, w) and not modelled and (barred or not harmless):
        raise UnsupportedTurnError(cast.label, "its best target may be an own character")


def _check_token(found: CardProblem, label: str, number: int) -> None:
    """Reject summoned minions with effects, Spell Damage, Charge or Rush."""
    card = found.cards[number]
    if card["n_effects"] or card["spell_damage"] or card["keywords"] & (Keyword.CHARGE | Keyword.RUSH):
        raise UnsupportedTurnError(
            label, f"{found.position.card_name(number)} has effects, Spell Damage, Charge or Rush"
        )


def _check_deathrattles(found: CardProblem) -> None:
    """Reject Deathrattles and summoned enemies whose timing matters, or if an own death may be profitable."""
    name = found.position.card_name
    doubles = any(record["attacks"] == 2 for record in found.problem.record["friends"])
    for i, deathrattle in found.deathrattles.items():
        title = found.labels[i]
        for number in deathrattle.tokens:
            _check_token(found, title, number)
        if doubles and deathrattle.hero_damage:
            raise UnsupportedTurnError(title, "a Deathrattle together with a minion that attacks twice")
        if any(
            (cast.damage or (cast.destroys and not cast.spares)) and cast.aim_side & OWN
            for cast in found.casts
        ):
            raise UnsupportedTurnError(title, "a Deathrattle together with a card that may kill its minion")
        if deathrattle.tokens and any(cast.buff for cast in found.casts):
            raise UnsupportedTurnError(title, "a Deathrattle together with a buff")
    for j, deathrattle in found.enemy_deathrattles.items():
        title = name(int(found.foes[j]["card"]))
        for number in deathrattle.tokens:
            _check_token(found, title, number)
        if deathrattle.hero_damage and not found.own_hero_safe:
            raise UnsupportedTurnError(title, "a Deathrattle that may kill the own hero")
        if deathrattle.draws and found.enemy["n_deck"] < deathrattle.draws * len(found.enemy_deathrattles):
            raise UnsupportedTurnError(title, "fatigue of the opponent")
    if not found.summoned:
        return
    label = name(found.summoned[0].card)
    if doubles:
        raise UnsupportedTurnError(label, "it may be summoned on a turn with a minion that attacks twice")
    if any(cast.freezes_all for cast in found.casts):
        raise UnsupportedTurnError(label, "it may be summoned on a turn with a card that freezes all enemies")
    if sum(cast.becomes >= 0 for cast in found.casts) > 1:
        raise UnsupportedTurnError(label, "two cards that transform a minion")
    guards = [foe for foe in found.summoned if found.cards[foe.card]["keywords"] & Keyword.TAUNT]
    free = [foe for foe in guards if foe.dead < 0 or not found.foes[foe.dead]["keywords"] & Keyword.TAUNT]
    if len(free) > 1 or (len(guards) > 1 and any(foe.cast >= 0 for foe in guards)):
        raise UnsupportedTurnError(label, "several Taunt minions that may be summoned")


def _check_silences(found: CardProblem, w: Weights) -> None:
    """Reject silences except of Taunt minions and of minions on which silence has no effect."""
    silences = [cast for cast in found.casts if cast.silences]
    if not silences:
        return
    label = silences[0].label
    if found.summoned or any(cast.target_filter & Filter.TAUNT for cast in found.casts):
        raise UnsupportedTurnError(
            label, "silence together with summoned enemies or a card that targets Taunt"
        )
    if w.frozen and (found.freezers or any(cast.freezes or cast.freezes_all for cast in found.casts)):
        raise UnsupportedTurnError(label, "silence together with a freezing effect")
    if any(record["attacks"] == 2 for record in found.problem.record["friends"]):
        raise UnsupportedTurnError(label, "silence together with a minion that attacks twice")
    for cast in silences:
        if cast.target_filter:
            raise UnsupportedTurnError(cast.label, "a target condition")
        guards = silenceable_taunts(found, cast)
        for j in targets_of(found, cast):
            card = found.cards[found.foes[j]["card"]]
            if j not in guards and silence_changes(found.foes[j], card):
                raise UnsupportedTurnError(
                    cast.label, f"silence of {found.position.card_name(int(found.foes[j]['card']))}"
                )
        for i in range(found.own["n_board"] if cast.aim_side & OWN else 0):
            minion = found.own["board"][i]
            if silence_may_help(minion, found.cards[minion["card"]]):
                raise UnsupportedTurnError(cast.label, f"silence of {found.labels[i]}")
        harmless = harmless_silence_target(found, cast) is not None
        tokens = any(other.tokens for other in found.casts)
        own_targets_exist = cast.aim_side & OWN and (found.own["n_board"] or found.numbers or tokens)
        if not harmless and (own_targets_exist or cast.minion >= 0):
            raise UnsupportedTurnError(cast.label, "silence of an own minion")


def _check_removals(found: CardProblem) -> None:
    """Reject removals and conditional damage together with Windfury, where the timing matters."""
    removals = [cast for cast in found.casts if cast.destroys]
    conditional = [cast for cast in found.casts if cast.target_filter and cast.damage]
    doubles = any(record["attacks"] == 2 for record in found.problem.record["friends"])
    if doubles and (removals or conditional):
        raise UnsupportedTurnError(
            (removals or conditional)[0].label, "together with a minion that attacks twice"
        )


def _check_heals(found: CardProblem, w: Weights) -> None:
    """Reject heals whose timing or target matters."""
    heals = [cast for cast in found.casts if cast.heal or cast.heals_minions]
    if not heals:
        return
    label, harm = heals[0].label, max_own_hero_damage(found)
    if not found.own_hero_safe or (w.hero and harm):
        raise UnsupportedTurnError(label, "healing while the own hero may take damage")
    if any(cast.heals_minions for cast in heals) and w.body:
        raise UnsupportedTurnError(label, "healing of minions while weight 'body' is set")
    if not any(cast.heals_chosen for cast in heals):
        return
    records = found.problem.record["friends"]
    for i in range(found.own["n_board"]):
        minion = found.own["board"][i]
        weak = records[i]["attacks"] == 2 or minion["health"] < minion["max_health"]
        if records[i]["attacks"] and weak:
            raise UnsupportedTurnError(label, f"it may save {found.labels[i]}")
    if found.max_hero_damage >= found.problem.enemy_hero:
        raise UnsupportedTurnError(label, "healing of an enemy hero that may die")
    if found.problem.enemy and _max_hits(found) > 1 and (w.damage or w.frozen):
        raise UnsupportedTurnError(label, "healing of enemies that are hit")


def _check_buffs(found: CardProblem, w: Weights) -> None:
    """Reject buffs whose best target may be an enemy, and unsupported combinations with buffs."""
    buffs = [cast for cast in found.casts if cast.buff]
    if len(buffs) > MAX_BUFFS:
        raise UnsupportedTurnError(buffs[0].label, f"more than {MAX_BUFFS} buffs")
    friends = (*found.problem.friendly, *found.problem.hand)
    for cast in buffs:
        if any(friends[i].windfury and may_attack(found, i) for i in buff_targets(found, cast)):
            raise UnsupportedTurnError(cast.label, "together with a minion that attacks twice")
        if cast.spell and any(minion["traits"] & Trait.ELUSIVE for minion in found.own["board"]):
            raise UnsupportedTurnError(cast.label, "together with a minion that spells cannot target")
        if any(
            exclusion.source == cast.number and exclusion.target != ANY_TARGET
            for exclusion in found.turn.barred
        ):
            raise UnsupportedTurnError(cast.label, "an excluded target")
        idle = any(not friend.attacks_left for friend in found.problem.friendly)
        harmless = idle and not w.frozen and (not w.damage or _max_hits(found) <= 1)
        hidden = all(enemy.stealth for enemy in found.problem.enemy)
        if cast.aim_side & ENEMY and not hidden and not harmless:
            raise UnsupportedTurnError(cast.label, "its best target may be an enemy")


def _max_hits(found: CardProblem) -> int:
    """Upper bound of the number of hits on enemy minions."""
    hits = sum(int(record["attacks"]) for record in found.problem.record["friends"])
    return hits + sum(1 for c in found.casts if c.damage) + any(True for _ in hero_attack_options(found))


def check_turn(found: CardProblem, w: Weights) -> None:
    """Reject a turn that the program cannot model exactly.

    Raises:
        UnsupportedTurnError: the message names the card and the reason.
    """
    _check_keywords(found)
    _check_minions(found, w)
    _check_board_space(found)
    _check_combinations(found, w)


def read_card_turn(turn: Turn, weights: Weights) -> CardProblem:
    """Read a turn with card effects for the integer program.

    Raises:
        UnsupportedTurnError: the turn is outside class A; the message names the card and the reason.
    """
    position = turn.position
    state, cards = position.state, position.table.array
    own, enemy = (state["sides"][seat] for seat in (position.active, 1 - position.active))
    check_heroes(position, own, enemy)
    hand = _playable_cards(turn, own)
    coin = COIN in hand
    if hand.count(COIN) > 1:
        raise UnsupportedTurnError("The Coin", "two of them")
    given = sum(read_cast(cards[n], Cast(position.card_name(n), n)).mana for n in _mana_spells(hand, cards))
    most = min(int(own["mana"]) + coin + given, MAX_MANA)
    hand = [
        n for n in hand if n != COIN and cards[n]["cost"] <= most and _condition_possible(cards[n], enemy)
    ]
    friendly = tuple(_on_board(minion) for minion in own["board"][: own["n_board"]])
    enemies = tuple(_on_board(minion) for minion in enemy["board"][: enemy["n_board"]])
    numbers = tuple(n for n in hand if cards[n]["kind"] == CardKind.MINION)
    in_hand = tuple(spec_of(cards[n]) for n in numbers)
    titles = [position.card_name(int(minion["card"])) for minion in own["board"][: own["n_board"]]]
    labels = tuple(_unique_titles([*titles, *map(position.card_name, numbers)]))
    problem = TurnProblem(
        friendly,
        in_hand,
        enemies,
        int(own["mana"]),
        int(enemy["health"] + enemy["armour"]),
        coin,
        *_barred(turn, own, enemy, numbers, friendly),
    )
    casts = tuple(_casts(turn, own, enemy, hand, numbers, most))
    deathrattles, enemy_deathrattles = (
        _deathrattles(position, own, numbers),
        _deathrattles(position, enemy, ()),
    )
    summoned = tuple(_summoned_enemies(casts, enemy_deathrattles))
    if len(enemies) + len(summoned) > BOARD_SIZE:
        raise UnsupportedTurnError(
            "the enemy board", f"more than {BOARD_SIZE} minions, summoned ones included"
        )
    problem = replace(problem, enemy=(*enemies, *(spec_of(cards[foe.card]) for foe in summoned)))
    armed = own["hero_attacks_left"] > 0 and not own["traits"] & NO_ATTACK_TRAITS
    found = CardProblem(turn, problem, labels, numbers, casts, most, bool(armed), frozenset(), 0, True)
    found = replace(
        found, summoned=summoned, deathrattles=deathrattles, enemy_deathrattles=enemy_deathrattles
    )
    barred = [
        j for j in (*range(len(problem.enemy)), HERO) if found.excludes(ActionKind.ATTACK, OWN_HERO_SOURCE, j)
    ]
    found = replace(found, hero_barred=frozenset(barred))
    found = replace(
        found,
        max_hero_damage=_max_hero_damage(found),
        own_hero_safe=max_own_hero_damage(found) < own["health"] + own["armour"],
    )
    check_turn(found, weights)
    return found


def _deathrattles(
    position: Position, side: np.void, numbers: tuple[int, ...]
) -> dict[int, ConstantDeathrattle]:
    """Deathrattles of the minions on a board and then in hand, by index."""
    cards, found = position.table.array, {}
    for place in range(side["n_board"]):
        minion = side["board"][place]
        if not minion["traits"] & Trait.SILENCED:
            title = position.card_name(int(minion["card"]))
            found[place] = read_deathrattle(title, cards[minion["card"]], minion["granted_effects"])
    for place, number in enumerate(numbers, int(side["n_board"])):
        found[place] = read_deathrattle(position.card_name(number), cards[number])
    return {
        place: deathrattle for place, deathrattle in found.items() if deathrattle != ConstantDeathrattle()
    }


def _summoned_enemies(
    casts: tuple[Cast, ...], enemy_deathrattles: dict[int, ConstantDeathrattle]
) -> Iterator[SummonedEnemy]:
    """Enemies that may be summoned: by Deathrattles, or as the result of a transformation."""
    for j, deathrattle in enemy_deathrattles.items():
        for token in deathrattle.tokens:
            yield SummonedEnemy(token, dead=j)
    for n, cast in enumerate(casts):
        if cast.becomes >= 0:
            yield SummonedEnemy(cast.becomes, cast=n)


def _unique_titles(titles: list[str]) -> Iterator[str]:
    """Make titles unique by numbers: "Fireball", "Fireball 2"."""
    seen: dict[str, int] = {}
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        yield title if seen[title] == 1 else f"{title} {seen[title]}"


def _playable_cards(turn: Turn, own: np.void) -> list[int]:
    """Numbers of the cards in hand that are not excluded."""
    barred = {
        exclusion.source
        for exclusion in turn.barred
        if exclusion.kind == ActionKind.PLAY and exclusion.target == ANY_TARGET
    }
    return [n for n in own["hand"][: own["n_hand"]].tolist() if n not in barred]


def _mana_spells(hand: list[int], cards: np.ndarray) -> list[int]:
    """Spells in hand that only give mana."""
    found = []
    for n in hand:
        if n == COIN or cards[n]["kind"] != CardKind.SPELL:
            continue
        ops = cards[n]["effects"][: cards[n]["n_effects"]]
        if len(ops) and all(row["op"] == Op.MANA for row in ops):
            found.append(n)
    return found


def _condition_possible(card: np.void, enemy: np.void) -> bool:
    """Whether a card's play condition can be met this turn (enemy minions can only become fewer)."""
    needed = 2 if card["needs"] & Need.TWO_ENEMY_MINIONS else 1 if card["needs"] & Need.ENEMY_MINION else 0
    return bool(enemy["n_board"] >= needed)


def _on_board(minion: np.void) -> MinionSpec:
    """Convert a minion on board to a `MinionSpec`, with its attacks left."""
    flags = keyword_flags_of(int(minion["keywords"]))
    left = 0 if minion["traits"] & NO_ATTACK_TRAITS else int(minion["attacks_left"])
    return MinionSpec(int(minion["attack"]), int(minion["health"]), **flags, attacks_left=left)


def _barred(
    turn: Turn, own: np.void, enemy: np.void, numbers: tuple[int, ...], friendly: tuple[MinionSpec, ...]
) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Friendly minions that must not attack the hero, and excluded (friendly, enemy) pairs."""
    m = len(friendly)
    no_hero, pairs = set(), set()
    for i in range(m):
        minion = own["board"][i]
        arrived = minion["arrived"] and not minion["keywords"] & Keyword.CHARGE
        if arrived or minion["traits"] & NO_HERO_ATTACK_TRAITS:
            no_hero.add(i)
    sources = [int(own["board"][i]["entity_id"]) for i in range(m)] + [PLAYED_THIS_TURN - n for n in numbers]
    born = {int(enemy["board"][j]["entity_id"]): j for j in range(enemy["n_board"])}
    for exclusion in turn.barred:
        for i, source in enumerate(sources):
            if exclusion.kind == ActionKind.ATTACK and exclusion.source == source:
                if exclusion.target in (ANY_TARGET, -1 - HERO):
                    no_hero.add(i)
                pairs |= {(i, j) for birth, j in born.items() if exclusion.target in (ANY_TARGET, birth)}
    return frozenset(no_hero), frozenset(pairs)


def _casts(
    turn: Turn, own: np.void, enemy: np.void, hand: list[int], numbers: tuple[int, ...], most: int
) -> Iterator[Cast]:
    """Read spells, weapons, the hero power and Battlecries that can be played."""
    position = turn.position
    cards = position.table.array
    spells = [n for n in hand if cards[n]["kind"] != CardKind.MINION]
    power = int(own["power"]) - 1
    able = power >= 0 and not own["power_used"] and cards[power]["cost"] <= most
    barred = any(
        exclusion.kind == ActionKind.POWER and exclusion.target == ANY_TARGET for exclusion in turn.barred
    )
    if able and not barred and _condition_possible(cards[power], enemy):
        spells.append(power)
    cries = [(k, n) for k, n in enumerate(numbers) if _has_battlecry(cards[n])]
    each = [*((-1, n) for n in spells), *cries]
    for (k, n), label in zip(each, _unique_titles([position.card_name(n) for _, n in each]), strict=True):
        card = cards[n]
        cast = Cast(label, n, power=card["kind"] == CardKind.POWER, minion=k)
        if k < 0:
            cast = replace(
                cast,
                cost=int(card["cost"]),
                worth=0.0 if cast.power else float(card["value"]),
                overload=int(card["overload"]),
            )
        cast = read_cast(card, cast)
        if card["needs"] & ~(Need.ROOM | Need.ENEMY_MINION | Need.TWO_ENEMY_MINIONS):
            raise UnsupportedTurnError(label, "its play condition")
        yield cast


def _has_battlecry(card: np.void) -> bool:
    """Whether a minion has a Battlecry; Overload counts as one."""
    rows = card["effects"][: card["n_effects"]]
    return bool((rows["trigger"] == Trigger.PLAY).any())


def _max_hero_damage(found: CardProblem) -> int:
    """Upper bound of the damage to the enemy hero this turn."""
    problem, m = found.problem, len(found.problem.friendly)
    total = 0
    for i, friend in enumerate((*problem.friendly, *problem.hand)):
        record = problem.record["friends"][i]
        total += int(record["attacks"]) * friend.attack if record["hits_hero"] or i >= m else 0
    for cast in found.casts:
        total += cast.damage if HERO in targets_of(found, cast) else 0
    total += sum(cast.buff[0] for cast in found.casts if cast.buff)
    total += sum(deathrattle.hero_damage for deathrattle in found.deathrattles.values())
    return total + max((attack for _, _, attack in hero_attack_options(found)), default=0)
