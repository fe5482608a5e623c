"""Choices in the reference game: Discover and its like."""

from tests.reference.plain import COIN

KINDS = ("discover", "choose_power", "track", "discover_from_deck", "create_potion")
BREWED = (9, 10, 10)
GANGS = {
    "kabal": ("mage", "priest", "warlock"),
    "lotus": ("druid", "rogue", "shaman"),
    "goons": ("hunter", "paladin", "warrior"),
}


def ask(game, what):
    """Let the active player choose later what a row asks for."""
    if what.side is game.sides[game.active] and len(game.choices) < 4:
        place = what.facts["rows"].index(what.row)
        game.choices.append([what.facts, place, 0])


def offer(game):
    """Offer the cards of the first choice that is open; one without any is left out."""
    while game.choices and not game.options:
        facts, place, memo = game.choices[0]
        game.options = offered(game, facts["rows"][place], memo)
        if not game.options:
            game.choices.pop(0)


def offered(game, row, memo):
    side = game.sides[game.active]
    if row.op == "track":
        found, side.deck = side.deck[:3], side.deck[3:]
        return found
    if row.op == "create_potion" and not memo:
        return list(row.card[:3])
    if row.op == "create_potion":
        cost, chosen = memo % 4 - 1, memo // 4 - 1
        first = 3 + sum(BREWED[:cost])
        pool = list(row.card[first : first + BREWED[cost]])
        if chosen >= 0:
            pool.pop(chosen)
    elif row.op == "discover_from_deck":
        deck = (side if "own" in row.side else game.opponent(side)).deck
        pool = list(
            dict.fromkeys(
                int(card) for card in deck[::-1] if card != COIN and row.of.passes(game.cards[card])
            )
        )
    elif row.card:
        pool = [card for card in row.card if row.op != "choose_power" or card != side.power]
    elif "gang" in row.of.tests:
        pool = game.pool_of(row, side)
        found = []
        for name in GANGS[row.of.tests["gang"]]:
            of_class = [card for card in pool if game.cards[card]["class"] == name]
            if of_class:
                found.append(of_class[game.chance(len(of_class))])
        return found
    else:
        pool = game.pool_of(row, side)
    found = []
    for _ in range(min(3, len(pool))):
        found.append(pool.pop(game.chance(len(pool))))
    return found


def choose(game, n):
    """Make the choice that is offered."""
    side = game.sides[game.active]
    facts, place, memo = game.choices[0]
    row, card = facts["rows"][place], game.options[n]
    game.options = []
    if row.op == "create_potion":
        if not memo:
            game.choices[0][2] = 1 + row.card.index(card)
            return
        cost, chosen = memo % 4 - 1, memo // 4 - 1
        first = 3 + sum(BREWED[:cost])
        this = row.card.index(card) - first
        if chosen < 0:
            game.choices[0][2] = memo + 4 * (1 + this)
            return
        pairs = [(one, other) for one in range(BREWED[cost]) for other in range(one + 1, BREWED[cost])]
        before = 3 + sum(BREWED) + sum(n * (n - 1) // 2 for n in BREWED[:cost])
        side.take(row.card[before + pairs.index((min(chosen, this), max(chosen, this)))])
    elif row.op == "choose_power":
        side.power, side.power_used = card, False
    elif row.amount2 and not row.card and len(side.hand) < 10:
        side.take(game.held(card, row.amount2))
    else:
        side.take(card)
    game.choices.pop(0)
