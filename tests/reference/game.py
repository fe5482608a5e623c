"""Games with real cards: turns, legal actions, attacks, deaths. Written from docs/effects.md."""

from engine.codes import Purpose
from engine.streams import below
from tests.reference.characters import MOST, Grave, Minion, Side
from tests.reference.effects import Waiting, carry_out, fits
from tests.reference.plain import COIN, Game, derived


class RealGame(Game):
    """A game whose cards do what their texts say; `cards` are of `real_cards_of`.

    Attributes:
        births: minions that came into play.
        waiting: effects to be carried out, the next one first.
        outcomes: of the chance events of the last action.
        stream: of the game's chance.
    """

    side_type = Side

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.births, self.waiting, self.outcomes = 0, [], []
        self.stream, self.events = None, 0

    # Chance

    def chance(self, n):
        """One of 0, 1, ..., n - 1; a single possibility is no event."""
        if n <= 1:
            return 0
        key = derived(self.stream, Purpose.CHANCE, self.turn, self.active)
        self.outcomes.append(int(below(key, self.events, n)))
        self.events += 1
        return self.outcomes[-1]

    # Turns

    def begin_turn(self):
        side = self.sides[self.active]
        self.events = 0
        side.crystals = min(10, side.crystals + 1)
        side.locked, side.overload = min(side.overload, side.crystals), 0
        side.mana = side.crystals - side.locked
        side.power_used, side.made = False, 0
        side.count_attacks()
        for minion in side.board:
            minion.made, minion.arrived = 0, False
            if "hidden" in minion.traits:
                minion.keywords.discard("stealth")
                minion.traits.discard("hidden")
        if self.turn > 1 or self.first_draw:
            side.draw()

    def end_turn(self):
        side = self.sides[self.active]
        for minion in sorted(side.board, key=lambda one: one.born):
            if "silenced" not in minion.traits:
                self.queue(minion.facts, "turn_end", side, minion)
        self.resolve()
        if self.over():
            return
        for one in [side, *side.board]:
            if one.attacks > 0:
                one.traits.discard("frozen")
        for one in [*self.sides, *self.sides[0].board, *self.sides[1].board]:
            one.end_turn()
        side.locked = 0
        if self.active == 1:
            self.turn += 1
        self.active = 1 - self.active
        if self.turn <= self.cap:
            self.begin_turn()

    # What may be done

    def legal(self):
        if self.over():
            return set()
        side = self.sides[self.active]
        actions = {"end turn"}
        for place, card in enumerate(side.hand):
            if card == COIN:
                actions.add(f"play {place}")
            else:
                actions |= self.uses(self.cards[card], f"play {place}")
        if side.power is not None and not side.power_used:
            actions |= self.uses(self.cards[side.power], "power")
        for place, minion in enumerate(side.board):
            if minion.attack and minion.attacks and not minion.traits & {"frozen", "cant_attack"}:
                spares = minion.traits & {"spares_heroes", "spares_heroes_now"}
                rushes = minion.arrived and "charge" not in minion.keywords
                actions |= {f"attack {place} -> {one}" for one in self.attackable(not spares and not rushes)}
        if self.strength(side) and side.attacks > 0 and "frozen" not in side.traits:
            actions |= {f"attack hero -> {one}" for one in self.attackable(True)}
        return actions

    def strength(self, side):
        return side.attack + side.weapon_attack

    def attackable(self, heroes):
        enemies = self.sides[1 - self.active].board
        seen = [place for place, one in enumerate(enemies) if "stealth" not in one.keywords]
        walls = [place for place in seen if "taunt" in enemies[place].keywords]
        return walls or seen + (["hero"] if heroes else [])

    def uses(self, facts, text):
        """The actions that play a card or use a power, by its targets."""
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        if facts["cost"] > side.mana:
            return set()
        if facts["kind"] == "minion" and not side.room:
            return set()
        needed = {
            "room": side.room,
            "enemy_minion": len(enemy.board) >= 1,
            "two_enemy_minions": len(enemy.board) >= 2,
            "weapon": side.weapon is not None,
            "two_minions": len(side.board) + len(enemy.board) >= 2,
        }
        for need in facts["needs"]:
            if need == "new_minion":
                if not self.new_of(facts["rows"][0].card, side):
                    return set()
            elif not needed[need]:
                return set()
        aimed = [row for row in facts["rows"] if row.pick == "chosen"]
        if not aimed:
            return {text}
        targets = self.targets(facts, aimed[0])
        if not targets and facts["kind"] in ("minion", "weapon"):
            return {text}
        return {f"{text} -> {one}" for one in targets}

    def new_of(self, pool, side):
        """The cards of a pool of which the player has no minion."""
        here = {minion.facts["id"] for minion in side.board}
        return [number for number in pool if self.cards[number]["id"] not in here]

    def targets(self, facts, row):
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        found = []
        for name, one in self.characters():
            foe = one is enemy or (one.is_minion and one.side is enemy)
            if foe and ("stealth" in one.keywords or "immune" in one.traits):
                continue
            if "elusive" in one.traits and facts["kind"] in ("spell", "power"):
                continue
            if fits(row, one, side):
                found.append(name)
        return found

    def characters(self):
        """Every character as actions name it."""
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        return [
            *((str(place), one) for place, one in enumerate(enemy.board)),
            ("hero", enemy),
            *((f"own {place}", one) for place, one in enumerate(side.board)),
            ("own hero", side),
        ]

    # Doing it

    def act(self, text):
        """Carry out an action; who died by the blows of an attack: "attacker", "defender"."""
        assert text in self.legal(), text
        self.outcomes = []
        verb, _, target = text.partition(" -> ")
        words = verb.split()
        aim = dict(self.characters()).get(target)
        if words[0] == "end":
            self.end_turn()
        elif words[0] == "play":
            self.play_card(int(words[1]), aim)
        elif words[0] == "power":
            side = self.sides[self.active]
            side.mana -= self.cards[side.power]["cost"]
            side.power_used = True
            self.queue(self.cards[side.power], "play", side, None, aim)
            self.resolve()
        else:
            return self.fight(words[1], aim)
        return set()

    def play_card(self, index, aim):
        side = self.sides[self.active]
        card = side.hand.pop(index)
        if card == COIN:
            side.mana = min(10, side.mana + 1)
            return
        facts = self.cards[card]
        side.mana -= facts["cost"]
        side.overload = min(MOST, side.overload + facts["overload"])
        minion = None
        if facts["kind"] == "minion":
            minion = self.arrive(side, card, len(side.places))
        elif facts["kind"] == "weapon":
            self.equip(side, card)
        self.queue(facts, "play", side, minion, aim)
        self.resolve()

    def fight(self, name, target):
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        attacker = side if name == "hero" else side.board[int(name)]
        attacker.made += 1
        if attacker is side:
            side.count_attacks()
        blow, answer = self.blow_of(attacker), (0, set(), False)
        if target.is_minion:
            answer = self.blow_of(target)
        if attacker is not side:
            attacker.keywords.discard("stealth")
        for owner, victim, (damage, keywords, freezes) in ((side, target, blow), (enemy, attacker, answer)):
            if victim.hit(damage, keywords, freezes) and "lifesteal" in keywords:
                owner.heal(damage)
        fought = {"attacker": attacker, "defender": target}
        fallen = {word for word, one in fought.items() if one.is_minion and one.dying}
        if attacker is side and side.weapon is not None:
            side.durability -= 1
            if side.durability == 0:
                self.disarm(side)
        self.resolve()
        return fallen

    def blow_of(self, one):
        """Damage and keywords of a minion's blow, or of a hero's with its weapon, and whether it freezes."""
        if one.is_minion:
            return one.attack, set(one.keywords), "freezes" in one.traits
        if one.weapon is None:
            return one.attack, set(), False
        return self.strength(one), one.weapon["keywords"], "freezes" in one.weapon["traits"]

    # Coming and going

    def arrive(self, side, card, index):
        """A minion comes into play at a place of the board."""
        minion = Minion(self.cards, card, side, self.next_birth())
        side.places.insert(index, minion)
        return minion

    def next_birth(self):
        self.births += 1
        return self.births

    def equip(self, side, card):
        """A weapon takes the place of the one before, which is destroyed."""
        self.disarm(side)
        facts = self.cards[card]
        side.weapon, side.weapon_number = facts, card
        side.weapon_attack, side.durability = facts["attack"], facts["health"]
        if side is self.sides[self.active]:
            side.count_attacks()

    def disarm(self, side):
        """The weapon is destroyed, if there is one; its Deathrattle waits with the other effects."""
        if side.weapon is not None:
            self.queue(side.weapon, "deathrattle", side, None)
        side.weapon, side.weapon_attack, side.durability = None, 0, 0
        if side is self.sides[self.active]:
            side.count_attacks()

    def queue(self, facts, trigger, side, source, aim=None):
        for row in facts["rows"]:
            if row.trigger == trigger:
                self.waiting.append(Waiting(row, side, source, aim, facts))

    def resolve(self):
        """Carry out what waits; then the dead leave together, and their Deathrattles follow."""
        while True:
            while self.waiting:
                carry_out(self, self.waiting.pop(0))
            for side in self.sides:
                side.places = side.board
            dead = [one for side in self.sides for one in side.board if one.dying]
            for minion in sorted(dead, key=lambda one: one.born):
                minion.side.died += 1
                minion.grave = Grave()
                places = minion.side.places
                places[places.index(minion)] = minion.grave
                for row in minion.deathrattles:
                    self.waiting.append(Waiting(row, minion.side, minion, None, minion.facts))
            if not dead:
                return
