"""Bodies with keywords: the rules of docs/game.md.

It shares nothing with `engine.rules` and `engine.state` but the random shuffles, which are inputs of a
game. Minions are dictionaries, sides are objects with lists, actions are their texts.
"""

from copy import deepcopy

import numpy as np

from engine.codes import Purpose
from engine.streams import below, derive, shuffle, stream_key

COIN = "The Coin"

NUMBERS = ("health", "max_health", "armour", "mana", "crystals", "fatigue", "died", "burned")
"""Of a side, by the names that both have for them."""


class Side:
    def __init__(self):
        self.health, self.max_health, self.armour = 30, 30, 0
        self.mana, self.crystals, self.fatigue = 0, 0, 0
        self.hand, self.deck, self.board = [], [], []
        self.died, self.burned = 0, 0

    def take_seat(self, deck):
        """What else a deck brings; bodies bring nothing."""

    def hurt(self, damage):
        for _ in range(damage):
            if self.armour > 0:
                self.armour -= 1
            else:
                self.health -= 1

    def heal(self, amount):
        self.health = min(self.max_health, self.health + amount)

    def draw(self):
        if not self.deck:
            self.fatigue += 1
            self.hurt(self.fatigue)
        else:
            card = self.deck.pop(0)
            if len(self.hand) < 10:
                self.hand.append(card)
            else:
                self.burned += 1


class Game:
    """A game by the reference rules; cards are numbers into `cards`, a list of dictionaries."""

    side_type = Side

    def __init__(self, cards, turn=1, cap=100, active=0, first_draw=True):
        self.cards = cards
        self.turn, self.cap, self.active, self.first_draw = turn, cap, active, first_draw
        self.sides = [self.side_type(), self.side_type()]

    def clone(self):
        other = Game(self.cards, self.turn, self.cap, self.active, self.first_draw)
        other.sides = deepcopy(self.sides)
        return other

    # Setting up

    @classmethod
    def deal(cls, cards, decks, rules, seed, keeps=(None, None)):
        game = cls(cards, cap=rules.turn_cap, first_draw=rules.first_draw)
        for seat, (side, deck) in enumerate(zip(game.sides, decks, strict=True)):
            if deck["random"]:
                stream = below_key(seed, Purpose.DECK, seat)
                order = [
                    deck["cards"][below(stream, i, len(deck["cards"]))] for i in range(deck.get("size", 30))
                ]
            else:
                order = shuffled(deck["cards"], below_key(seed, Purpose.SHUFFLE, seat))
            side.deck = order[::-1]
            side.take_seat(deck)
            side.health = side.max_health = rules.hero_health
            for _ in range(min((rules.hand_first, rules.hand_second)[seat], len(side.deck))):
                side.draw()
            if rules.mulligan_above >= 0 and keeps[seat] is not None:
                # Counted from the bottom of the deck: the place that each card of the hand would go to.
                places = shuffled(range(len(side.deck)), below_key(seed, Purpose.MULLIGAN, seat))
                for place, card in list(enumerate(side.hand))[: len(side.deck)]:
                    if not keeps[seat].get(card, cards[card]["cost"] <= rules.mulligan_above):
                        there = len(side.deck) - 1 - places[place]
                        side.hand[place], side.deck[there] = side.deck[there], card
            elif rules.mulligan_above >= 0:
                dear = []
                for place, card in enumerate(side.hand):
                    if cards[card]["cost"] > rules.mulligan_above and side.deck:
                        dear.append(card)
                        side.hand[place] = side.deck.pop(0)
                if dear:
                    back = side.deck[::-1] + dear
                    side.deck = shuffled(back, below_key(seed, Purpose.MULLIGAN, seat))[::-1]
        if rules.coin:
            game.sides[1].hand.append(COIN)
        game.begin_turn()
        return game

    def begin_turn(self):
        side = self.sides[self.active]
        side.crystals = min(10, side.crystals + 1)
        side.mana = side.crystals
        for minion in side.board:
            minion["attacks"] = 2 if "windfury" in minion["keywords"] else 1
            minion["new"] = False
        if self.turn > 1 or self.first_draw:
            side.draw()

    # Playing

    def over(self):
        return any(side.health <= 0 for side in self.sides) or self.turn > self.cap

    def result(self):
        dead = [side.health <= 0 for side in self.sides]
        if dead == [True, False]:
            return "second"
        if dead == [False, True]:
            return "first"
        return "draw" if self.over() else None

    def targets(self, minion):
        enemies = self.sides[1 - self.active].board
        seen = [i for i, enemy in enumerate(enemies) if "stealth" not in enemy["keywords"]]
        walls = [i for i in seen if "taunt" in enemies[i]["keywords"]]
        if walls:
            return walls
        only_rush = minion["new"] and "charge" not in minion["keywords"]
        return seen + ([] if only_rush else ["hero"])

    def legal(self):
        if self.over():
            return set()
        side = self.sides[self.active]
        actions = {"end turn"}
        for i, card in enumerate(side.hand):
            if card == COIN or (len(side.board) < 7 and self.cards[card]["cost"] <= side.mana):
                actions.add(f"play {i}")
        for i, minion in enumerate(side.board):
            if minion["attacks"] and minion["attack"]:
                actions |= {f"attack {i} -> {target}" for target in self.targets(minion)}
        return actions

    def act(self, text):
        assert text in self.legal(), text
        words = text.split()
        if words[0] == "end":
            if self.active == 1:
                self.turn += 1
            self.active = 1 - self.active
            if self.turn <= self.cap:
                self.begin_turn()
        elif words[0] == "play":
            self.play_card(int(words[1]))
        else:
            self.fight(int(words[1]), words[3])

    def play_card(self, index):
        side = self.sides[self.active]
        card = side.hand.pop(index)
        if card == COIN:
            side.mana = min(10, side.mana + 1)
            return
        facts = self.cards[card]
        side.mana -= facts["cost"]
        quick = facts["keywords"] & {"charge", "rush"}
        swings = 2 if "windfury" in facts["keywords"] else 1
        side.board.append(
            {
                "card": card,
                "attack": facts["attack"],
                "health": facts["health"],
                "keywords": set(facts["keywords"]),
                "attacks": swings if quick else 0,
                "new": True,
            }
        )

    def fight(self, index, target):
        own, enemy = self.sides[self.active], self.sides[1 - self.active]
        attacker = own.board[index]
        attacker["attacks"] -= 1
        attacker["keywords"].discard("stealth")
        if target == "hero":
            enemy.hurt(attacker["attack"])
            if "lifesteal" in attacker["keywords"]:
                own.heal(attacker["attack"])
            return
        defender = enemy.board[int(target)]
        hits = [(own, attacker, defender), (enemy, defender, attacker)]
        real = [
            (side, source, victim)
            for side, source, victim in hits
            if source["attack"] > 0 and "divine_shield" not in victim["keywords"]
        ]
        for _, source, victim in hits:
            if source["attack"] > 0:
                victim["keywords"].discard("divine_shield")
        for side, source, victim in real:
            victim["health"] -= source["attack"]
            if "lifesteal" in source["keywords"]:
                side.heal(source["attack"])
        poisoned = [victim for _, source, victim in real if "poisonous" in source["keywords"]]
        for side in (own, enemy):
            living = [m for m in side.board if m["health"] > 0 and not any(m is p for p in poisoned)]
            side.died += len(side.board) - len(living)
            side.board = living

    def facts(self):
        """All of the position in plain values, for comparison with `facts_of`."""
        sides = []
        for side in self.sides:
            board = [
                (m["card"], m["attack"], m["health"], frozenset(m["keywords"]), m["attacks"], m["new"])
                for m in side.board
            ]
            numbers = tuple(getattr(side, name) for name in NUMBERS)
            sides.append((numbers, tuple(side.hand), tuple(side.deck), tuple(board)))
        return (self.turn, self.active, *sides)


def below_key(seed, *parts):
    """The key that a kernel derives from a game's key."""
    return derived(stream_key(seed), *parts)


def derived(key, *parts):
    """The key at an address below another one."""
    for part in parts:
        key = np.uint64(derive(key, int(part)))
    return key


def shuffled(cards, key):
    order = np.array(cards, np.int64)
    shuffle(order, len(order), key)
    return [int(card) for card in order]


KEYWORDS = ("charge", "rush", "taunt", "windfury", "divine_shield", "lifesteal", "poisonous", "stealth")


def names_of(bits):
    return {name for place, name in enumerate(KEYWORDS) if bits >> place & 1}


def cards_of(table):
    """The reference's cards from an engine card table."""
    return [
        {
            "cost": card.spec.cost,
            "attack": card.spec.attack,
            "health": card.spec.health,
            "keywords": {name for name in KEYWORDS if getattr(card.spec, name)},
        }
        for card in table.cards
    ]


def facts_of(position):
    """The same plain values from the engine's state."""
    state = position.state
    sides = []
    for side in state["sides"]:
        numbers = tuple(int(side[name]) for name in NUMBERS)
        hand = tuple(COIN if c == -1 else int(c) for c in side["hand"][: side["n_hand"]])
        deck = tuple(int(c) for c in side["deck"][: side["n_deck"]][::-1])
        board = tuple(
            (
                int(m["card"]),
                int(m["attack"]),
                int(m["health"]),
                frozenset(names_of(int(m["keywords"]))),
                int(m["attacks_left"]),
                bool(m["arrived"]),
            )
            for m in side["board"][: side["n_board"]]
        )
        sides.append((numbers, hand, deck, board))
    return (int(state["turn"]), int(state["active"]), *sides)


def game_of(position):
    """A reference game in the state of an engine position."""
    state = position.state
    game = Game(
        cards_of(position.table),
        int(state["turn"]),
        int(state["turn_cap"]),
        int(state["active"]),
        bool(state["first_draw"]),
    )
    for side, (numbers, hand, deck, board) in zip(game.sides, facts_of(position)[2:], strict=True):
        for name, value in zip(NUMBERS, numbers, strict=True):
            setattr(side, name, value)
        side.hand, side.deck = list(hand), list(deck)
        side.board = [
            {
                "card": card,
                "attack": attack,
                "health": health,
                "keywords": set(keywords),
                "attacks": n,
                "new": new,
            }
            for card, attack, health, keywords, n, new in board
        ]
    return game


def perft(game, depth):
    if depth == 0:
        return 1
    actions = game.legal()
    if depth == 1:
        return len(actions)
    total = 0
    for action in actions:
        after = game.clone()
        after.act(action)
        total += perft(after, depth - 1)
    return total
