"""Games with real cards: turns, legal actions, attacks, deaths. Written from docs/effects.md."""

from engine.codes import Purpose
from engine.streams import below
from tests.reference import choices
from tests.reference.characters import MOST, Grave, Held, Minion, Secret, Side
from tests.reference.circumstances import count, holds, is_about, kept_by
from tests.reference.effects import (
    NOT_STANDING,
    Waiting,
    candidates,
    carry_out,
    control,
    fits,
    neighbours,
)
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
        self.news, self.rest = [], []  # what has been heard during a row, and what is left of that row
        self.kept = kept_by(self.cards)
        self.pools = {}
        # The spell that is cast does nothing, or goes to another minion.
        self.decoy, self.told, self.beside = None, 0, []
        # Cards of which one has to be chosen; and what is chosen for: facts, place of the row, memo.
        self.options, self.choices = [], []
        self.foe = None  # whom a character attacks just now
        self.stream, self.events = None, 0
        self.note_begin()

    def note_begin(self):
        """Note what was there when an action began, for what waits for its end; nobody has died in it yet."""
        self.oldest_new = self.births + 1
        self.room = {id(side): side.room for side in self.sides}
        self.empty_handed = {id(side): not side.hand for side in self.sides}
        self.armed = {id(side): side.weapon is not None for side in self.sides}
        self.minions = {id(side): len(side.board) for side in self.sides}
        self.newly_armed, self.fallen, self.broken = [], [], {}

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
        self.look_at_auras()
        self.announce("turn_start", side, None, None)
        self.resolve()
        if not any(one.health <= 0 for one in self.sides) and (self.turn > 1 or self.first_draw):
            self.draw(side)
            self.resolve()

    def end_turn(self):
        side = self.sides[self.active]
        self.announce("turn_end", side, None, None)
        self.resolve()
        if self.over():
            return
        for one in list(side.board):
            if "stolen" in one.traits:
                if "hastened" in one.traits:
                    one.keywords.discard("charge")
                one.traits -= {"stolen", "hastened"}
                self.give_back(one)
        for one in [side, *side.board]:
            if one.attacks > 0:
                one.traits.discard("frozen")
        for one in [*self.sides, *self.sides[0].board, *self.sides[1].board]:
            one.end_turn()
        for one in self.sides:
            one.perished = one.hurt_now = 0
        side.locked = side.played = 0
        side.elementals, side.elementals_before = 0, side.elementals
        side.promises = [
            one
            for one in side.promises
            if not any(row.op == "cost" and row.trigger == "play" and row.until for row in one["rows"])
        ]
        if self.active == 1:
            self.turn += 1
        self.active = 1 - self.active
        if self.turn <= self.cap:
            self.begin_turn()

    def give_back(self, one):
        """A minion that was taken over for a turn goes back; to a full board it cannot."""
        control(self, Waiting(None, self.opponent(one.side), None, None, None), one)

    def opponent(self, side):
        return self.sides[1 - self.sides.index(side)]

    def keep(self, side, name, amount=1):
        """Count something, if a card of the game asks for it."""
        if name in self.kept:
            setattr(side, name, getattr(side, name) + amount)

    def draw(self, side):
        """Draw a card, or be hurt by an empty deck."""
        held = len(side.hand)
        if side.deck:
            side.draw()
        else:
            side.fatigue += 1
            self.hit(side, side.fatigue, frozenset(), freezes=False)
        if len(side.hand) > held:
            card = side.hand[-1]
            self.announce("drawn", side, None, self.cards[card] if card != COIN else None)

    # Events

    def announce(self, trigger, side, who, facts, amount=1, ends=False):
        """Something has happened: to whom, of whose side, about which card. What waits for it is put down.

        Oldest minions first, then weapons. What waits for the end of an action must have been there, with
        what it asks for, when the action began.
        """
        self.told += 1
        found = []
        listeners = sorted((one for half in self.sides for one in half.board), key=lambda one: one.born)
        for minion in listeners:
            for row, card in minion.rows(trigger):
                theirs = id(card) in minion.theirs
                found.append((row, card, self.opponent(minion.side) if theirs else minion.side, minion))
        for half in self.sides:
            if half.weapon is not None:
                found += [
                    (row, half.weapon, half, None) for row in half.weapon["rows"] if row.trigger == trigger
                ]
        for half in self.sides:
            for secret in (
                half.secrets if half is not self.sides[self.active] or trigger == "turn_start" else ()
            ):
                if secret.facts:
                    found += [
                        (row, secret.facts, half, secret)
                        for row in secret.facts["rows"]
                        if row.trigger == trigger
                    ]
        found.sort(key=lambda one: (1, 0) if one[3] is None else (0, one[3].born))
        for row, card, own, source in found:
            if ends and not self.could_wait(row, own, source):
                continue
            on = row.on
            if ("own" if side is own else "enemy") not in on.sides:
                continue
            if (on.itself and who is not source) or (on.others and who is source):
                continue
            if who is not None and not who.is_minion:
                fits = not on.kinds or "hero" in on.kinds
            else:
                paid = trigger in ("played", "cast", "after_cast", "after_played")
                fits = on.passes({**facts, "cost": amount} if facts and paid else facts)
            if fits:
                what = Waiting(row, own, source, who, card, self.foe, amount, about=facts, event=self.told)
                self.news.append(what)

    def could_wait(self, row, side, source):
        """Whether a row could already have waited for the end of an action when that began."""
        if side in self.newly_armed if source is None else source.born >= self.oldest_new:
            return False
        if isinstance(source, Secret) and row.op in ("summon", "copy") and not self.room[id(side)]:
            return False
        enemy = self.opponent(side)
        began = {
            "room": self.room[id(side)],
            "has_weapon": self.armed[id(side)],
            "empty_handed": self.empty_handed[id(side)],
            "enemy_minions": self.minions[id(enemy)] + 1 >= (row.condition_arg or 0),
        }
        return began.get(row.condition, True)

    def hit(self, victim, damage, keywords, freezes):
        """Damage to a minion or hero; whether any got through."""
        shield = "divine_shield" in victim.keywords
        if not victim.is_minion and damage > 0 and self.prevented(victim, damage):
            return False
        side = victim.side if victim.is_minion else victim
        facts = victim.facts if victim.is_minion else None
        through = victim.hit(damage, keywords, freezes)
        if through:
            if not victim.is_minion:
                self.keep(victim, "hurt_now", damage)
            self.announce("damaged", side, victim, facts, damage)
        elif shield and "divine_shield" not in victim.keywords:
            self.announce("shield_lost", side, victim, facts)
        return through

    def show(self, by, victim, damage, through):
        """A minion that hits someone, even a Divine Shield, is no longer hidden."""
        if through or (victim.is_minion and damage > 0 and "immune" not in victim.traits):
            by.keywords.discard("stealth")

    def prevented(self, side, damage):
        """Whether a Secret keeps damage from killing a hero."""
        fatal = damage >= side.health + side.armour
        if side is self.sides[self.active] or "immune" in side.traits or not fatal:
            return False
        for secret in side.secrets:
            if secret.facts and any(row.op == "prevent" for row in secret.facts["rows"]):
                self.reveal(secret, side, -1)
                side.traits.add("immune")
                return True
        return False

    def counters(self, side):
        """Whether a Secret of the opponent stops the spell that a player casts."""
        enemy = self.opponent(side)
        for secret in enemy.secrets:
            if secret.facts and any(row.op == "counter" for row in secret.facts["rows"]):
                self.reveal(secret, enemy, -1)
                return True
        return False

    def reveal(self, secret, side, event):
        """A Secret leaves play; its rows that wait for the same event are carried out all the same."""
        side.secrets.remove(secret)
        secret.revealed = event
        self.announce("secret_revealed", side, None, secret.facts)

    def hide(self, side, card):
        side.secrets.append(Secret(self.cards[card], self.next_birth()))

    def may_hide(self, side, card):
        return len(side.secrets) < 5 and all(one.facts is not self.cards[card] for one in side.secrets)

    def heal(self, one, amount):
        if one in self.fallen:
            return
        before = one.health
        one.heal(amount)
        if one.health > before:
            side, facts = (one.side, one.facts) if one.is_minion else (one, None)
            self.announce("healed", side, one, facts, one.health - before)

    def drain(self, side, amount):
        """Lifesteal: a hero is healed, or hurt where healing does harm."""
        if self.rules(side, "healing_harms"):
            self.hit(side, amount, set(), False)
        else:
            self.heal(side, amount)

    def pool(self, what):
        """The cards that a row draws random ones from."""
        return self.pool_of(what.row, what.side)

    def pool_of(self, row, side):
        classes = set()
        if "own_class" in row.of.tests:
            classes |= {side.hero_class, "neutral"}
        if "enemy_class" in row.of.tests:
            classes.add(self.opponent(side).hero_class)
        key = row.of.text, tuple(sorted(classes))
        if key not in self.pools:
            found = [
                card
                for card in self.cards
                if card["pooled"] and (not classes or card["class"] in classes) and row.of.passes(card)
            ]
            self.pools[key] = [card["number"] for card in sorted(found, key=lambda card: card["id"])]
        return list(self.pools[key])

    held = staticmethod(Held)

    # Auras and costs

    def look_at_auras(self):
        """Every minion and weapon has what auras give it now, also where that depends on others of them."""
        for _ in range(3):
            before = [
                (one.attack, one.max_health, set(one.keywords)) for side in self.sides for one in side.board
            ]
            self.give_auras()
            if before == [
                (one.attack, one.max_health, one.keywords) for side in self.sides for one in side.board
            ]:
                return

    def give_auras(self):
        given = {id(one): [0, 0, set()] for side in self.sides for one in side.board}
        weapons, equal = [0, 0], []
        for number, side in enumerate(self.sides):
            sources = [(row, one) for one in side.board for row, _ in one.rows("aura") if one.facts["rows"]]
            if side.weapon is not None:
                sources += [(row, None) for row in side.weapon["rows"] if row.trigger == "aura"]
            for row, one in sources:
                what = Waiting(row, side, one, None, None)
                if row.op == "set_attack_to_health":
                    equal.append(one)
                    continue
                if row.op not in ("buff", "weapon") or not holds(self, what):
                    continue
                times = count(self, what)
                if row.op == "weapon":
                    weapons[number] += times * row.amount
                    continue
                if row.pick == "self":
                    served = [one]
                elif row.pick == "next_to_self":
                    served = neighbours(one)
                else:
                    served = candidates(self, what)
                for other in served:
                    given[id(other)][0] += times * row.amount
                    given[id(other)][1] += times * row.amount2
                    given[id(other)][2] |= row.keywords
        for one in equal:
            given[id(one)][0] = one.health - one.own_attack
        for number, side in enumerate(self.sides):
            for one in side.board:
                one.take_aura(*given[id(one)])
            if side.weapon is not None:
                own = side.weapon_attack - side.weapon_aura
                side.weapon_attack = min(MOST, max(0, own + weapons[number]))
                side.weapon_aura = side.weapon_attack - own

    def cost(self, side, place):
        """What a card in hand costs."""
        card = side.hand[place]
        facts = None if card == COIN else self.cards[card]
        cost = (facts["cost"] if facts else 0) + getattr(card, "cost", 0)
        changes = []
        for one in sorted([*self.sides[0].board, *self.sides[1].board], key=lambda one: one.born):
            changes += [(row, one.side) for row, _ in one.rows("aura") if row.op == "cost"]
        changes += [(row, None) for card in side.promises for row in card["rows"] if row.op == "cost"]
        for row, half in changes:
            if half is not None and ("own" if half is side else "enemy") not in row.side:
                continue
            if row.trigger in ("aura", "play") and is_about(row, facts):
                cost = max(cost + row.amount, min(cost, row.amount2))
        for row in facts["rows"] if facts else ():
            what = Waiting(row, side, None, None, facts)
            if row.trigger == "cost" and holds(self, what):
                cost += row.amount * count(self, what)
        return max(0, cost)

    # What may be done

    def legal(self):
        if self.over():
            return set()
        if self.options:
            return {f"choose {n}" for n in range(len(self.options))}
        side = self.sides[self.active]
        actions = {"end turn"}
        for place, card in enumerate(side.hand):
            if card == COIN:
                actions |= {f"play {place}"} if self.cost(side, place) <= side.mana else set()
            else:
                actions |= self.plays(card, place)
        if side.power is not None and not side.power_used:
            actions |= self.uses(self.cards[side.power], "power", self.cards[side.power]["cost"])
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
        enemy = self.sides[1 - self.active]
        enemies = enemy.board
        hidden = [
            place for place, one in enumerate(enemies) if "stealth" in one.keywords or "immune" in one.traits
        ]
        seen = [place for place in range(len(enemies)) if place not in hidden]
        heroes = heroes and "immune" not in enemy.traits
        walls = [place for place in seen if "taunt" in enemies[place].keywords]
        return walls or seen + (["hero"] if heroes else [])

    def plays(self, card, place):
        """The ways to play a card: by what it is played as, and where it comes in."""
        side = self.sides[self.active]
        facts, cost = self.cards[card], self.cost(side, place)
        texts = [f"play {place}"]
        options = facts["options"]
        if facts["secret"] and not self.may_hide(side, card):
            return set()
        if options:
            texts = [f"{text} as {n}" for text in texts for n in (1, 2)]
        found = set()
        for n, text in enumerate(texts):
            played = self.cards[options[n]] if options else facts
            if options and not self.uses(facts | {"rows": []}, "", cost):
                continue
            for use in self.uses(
                facts | {"rows": played["rows"], "needs": played["needs"], "option": bool(options)},
                text,
                cost,
            ):
                found.add(use)
                if facts["kind"] == "minion" and self.beside_matters(facts, side):
                    start, arrow, target = use.partition(" -> ")
                    found |= {f"{start} at {at}{arrow}{target}" for at in range(len(side.board))}
        return found

    def beside_matters(self, facts, side):
        """Whether it matters where a minion comes in."""
        if any(row.pick == "next_to_self" for row in facts["rows"]):
            return True
        standing = [one.facts["rows"] for one in side.board if "silenced" not in one.traits]
        return any(
            row.pick == "next_to_self" and row.trigger not in NOT_STANDING
            for rows in standing
            for row in rows
        )

    def uses(self, facts, text, cost):
        """The actions that play a card or use a power, by its targets."""
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        if cost > side.mana:
            return set()
        if facts["kind"] == "minion" and not side.room:
            return set()
        needed = {
            "room": side.room,
            "enemy_minion": len(enemy.board) >= 1,
            "two_enemy_minions": len(enemy.board) >= 2,
            "weapon": side.weapon is not None,
            "two_minions": len(side.board) + len(enemy.board) >= 2,
            "secret_room": len(side.secrets) < 5,
        }
        for need in facts["needs"]:
            if need == "new_minion":
                if not self.new_of(facts["rows"][0].card, side):
                    return set()
            elif need == "dead":
                if not any(facts["rows"][0].of.passes(self.cards[one]) for one in side.graves):
                    return set()
            elif not needed[need]:
                return set()
        aimed = [row for row in facts["rows"] if row.pick == "chosen"]
        of_target = ("", "has_target", "target_dying", "target_race", "target_own", "target_frozen")
        unknown = [row for row in aimed if row.condition in of_target]
        asked = [Waiting(row, side, None, None, facts, playing=facts) for row in aimed]
        if not unknown and not any(holds(self, what) for what in asked):
            return {text}
        targets = self.targets(facts, aimed[0])
        if not targets and facts["kind"] in ("minion", "weapon") and not facts.get("option"):
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
        self.note_begin()
        verb, _, target = text.partition(" -> ")
        words = verb.split()
        aim = dict(self.characters()).get(target)
        if words[0] == "end":
            self.end_turn()
        elif words[0] == "play":
            said = dict(zip(words[2::2], words[3::2], strict=True))
            self.play_card(int(words[1]), aim, int(said.get("as", 0)), int(said.get("at", -1)))
        elif words[0] == "choose":
            choices.choose(self, int(words[1]))
        elif words[0] == "power":
            side = self.sides[self.active]
            side.mana -= self.cards[side.power]["cost"]
            side.power_used = True
            self.keep(side, "powers")
            self.queue(self.cards[side.power], "play", side, None, aim)
            self.resolve()
            self.announce("power_used", side, None, self.cards[side.power], ends=True)
            self.resolve()
        else:
            fallen = self.fight(words[1], aim)
            choices.offer(self)
            return fallen
        choices.offer(self)
        return set()

    def play_card(self, index, aim, option, at):
        side = self.sides[self.active]
        price = self.cost(side, index)
        card = side.hand.pop(index)
        facts, spell = (
            (None, True) if card == COIN else (self.cards[card], self.cards[card]["kind"] == "spell")
        )
        side.mana -= price
        minion = before = None
        side.promises = [
            one
            for one in side.promises
            if not any(
                row.op == "cost" and row.trigger == "play" and row.times and is_about(row, facts)
                for row in one["rows"]
            )
        ]
        if spell and self.counters(side):
            self.keep(side, "played")
            self.resolve()
            return
        if card == COIN:
            side.mana = min(10, side.mana + 1)
        else:
            side.overload = min(MOST, side.overload + facts["overload"])
            if facts["kind"] == "minion":
                minion = self.arrive(side, card, at if at >= 0 else len(side.places))
                minion.attack += getattr(card, "attack", 0)
                minion.max_health += getattr(card, "health", 0)
                minion.health += getattr(card, "health", 0)
        self.announce("played", side, minion, facts, price)
        if facts and facts["overload"]:
            self.keep(side, "overloaded", facts["overload"])
            self.announce("overloaded", side, None, facts, facts["overload"])
        if minion:
            self.announce("summoned", side, minion, facts)
        elif spell:
            self.announce("cast", side, None, facts, price)
            if facts and aim is not None and aim.is_minion:
                self.announce("targeted", side, aim, aim.facts)
        self.resolve()
        if facts and facts["kind"] == "weapon":
            before, side.weapon = side.weapon, None
            self.equip(side, card)
            side.weapon_attack += getattr(card, "attack", 0)
            side.durability += getattr(card, "health", 0)
            self.resolve()
        decoy, self.decoy = self.decoy, None
        if decoy is not None and aim is not None and aim.is_minion:
            aim = decoy
        if facts and facts["secret"]:
            self.hide(side, facts["number"])
            self.keep(side, "secrets_played")
        elif facts:
            self.beside = [(one, one.born) for one in neighbours(aim)]
            played = self.cards[facts["options"][option - 1]] if option else facts
            self.queue(played, "play", side, minion, aim)
            if not spell and not option and self.rules(side, "battlecries_twice"):
                again = [row for row in facts["rows"] if row.unless or row.condition != "combo"]
                self.queue({**facts, "rows": again}, "play", side, minion, aim)
        if before is not None:
            self.leave_behind(side, before)
        self.resolve()
        self.keep(side, "played")
        if facts:
            self.wake(side, facts)
        if spell:
            self.keep(side, "spells")
            self.announce("after_cast", side, None, facts, price, ends=True)
        if facts and facts["race"] in ("elemental", "all"):
            self.keep(side, "elementals")
        self.announce("after_played", side, minion, facts, price, ends=True)
        if minion:
            self.announce("after_summoned", side, minion, facts, ends=True)
        self.resolve()

    def wake(self, side, facts):
        """Cards of the deck that wait there for the card that was played come into play."""
        for card in side.deck[::-1]:
            if card == COIN:
                continue
            rows = [row for row in self.cards[card]["rows"] if row.trigger == "in_deck"]
            if rows and side.room and rows[0].on.passes(facts):
                side.deck.reverse()
                side.deck.remove(card)
                side.deck.reverse()
                minion = self.arrive(side, card, len(side.places))
                self.announce("summoned", side, minion, minion.facts)
                self.announce("after_summoned", side, minion, minion.facts)

    def rules(self, side, word, dead=()):
        """How many minions of a player change a rule, but those that are dead."""
        rows = [row for one in side.board if one not in dead for row, _ in one.rows("aura")]
        return sum(row.op == "rule" and word in row.traits for row in rows)

    def fight(self, name, target):
        side, enemy = self.sides[self.active], self.sides[1 - self.active]
        attacker = side if name == "hero" else side.board[int(name)]
        attacker.made += 1
        if attacker is side:
            side.count_attacks()
        else:
            attacker.keywords.discard("stealth")
        self.foe = target
        facts = attacker.facts if attacker is not side else None
        self.announce("attacks", side, attacker, facts)
        self.resolve()
        here = [side, enemy, *side.board, *enemy.board]
        target, self.decoy = self.foe, None
        if attacker not in here or target not in here or side.health <= 0 or enemy.health <= 0:
            self.foe = None
            return set()
        blow, answer = self.blow_of(attacker), (0, set(), False)
        if target.is_minion:
            answer = self.blow_of(target)
            if answer[0] > 0 and "immune" not in attacker.traits:
                target.keywords.discard("stealth")
        beside = neighbours(target) if attacker is not side and "cleaves" in attacker.traits else []
        for owner, victim, (damage, keywords, freezes) in (
            (side, target, blow),
            *((side, other, blow) for other in beside),
            (
                target.side if target.is_minion else enemy,
                attacker,
                answer,
            ),  # it may be redirected to the own side
        ):
            if self.hit(victim, damage, keywords, freezes) and "lifesteal" in keywords:
                self.drain(owner, damage)
        fought = {"attacker": attacker, "defender": target}
        fallen = {word for word, one in fought.items() if one.is_minion and one.dying}
        self.announce("after_attack", side, attacker, facts, ends=True)
        if attacker is side and side.weapon is not None:
            side.durability -= 1
            if side.durability == 0:
                self.wear_out(side)
        self.resolve()
        self.foe = None
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
        minion = Minion(self.cards, int(card), side, self.next_birth())
        side.places.insert(index, minion)
        if minion.is_of("totem"):
            self.keep(side, "totems")
        return minion

    def next_birth(self):
        self.births += 1
        return self.births

    def equip(self, side, card):
        """A weapon takes the place of the one before, which is destroyed."""
        self.disarm(side)
        facts = self.cards[card]
        side.weapon, side.weapon_number = facts, int(card)
        self.newly_armed.append(side)
        side.weapon_attack, side.durability = facts["attack"], facts["health"]
        if side is self.sides[self.active]:
            side.count_attacks()
        self.announce("equipped", side, None, facts)

    def disarm(self, side):
        """The weapon is destroyed, if there is one; its Deathrattle waits with the other effects."""
        if side.weapon is not None:
            self.leave_behind(side, side.weapon)
        self.lose_weapon(side)

    def wear_out(self, side):
        """The weapon is used up; its Deathrattle comes with those of the minions that die now."""
        self.broken[id(side)] = side.weapon
        self.lose_weapon(side)

    def lose_weapon(self, side):
        side.weapon, side.weapon_attack, side.durability, side.weapon_aura = None, 0, 0, 0
        if side is self.sides[self.active]:
            side.count_attacks()

    def leave_behind(self, side, weapon):
        """The Deathrattle of a weapon that was destroyed."""
        self.queue(weapon, "deathrattle", side, None)
        self.announce("weapon_destroyed", side, None, weapon)

    def queue(self, facts, trigger, side, source, aim=None):
        for row in facts["rows"]:
            if row.trigger == trigger:
                self.waiting.append(Waiting(row, side, source, aim, facts))

    def resolve(self):
        """Carry out what waits; then the dead leave together, and their Deathrattles follow."""
        while True:
            self.empty()
            self.look_at_auras()
            for side in self.sides:
                side.places = side.board
                if side.health <= 0:
                    self.fallen.append(side)
            dead = [one for side in self.sides for one in side.board if one.dying]
            if not dead and not self.broken:
                return
            dead.sort(key=lambda one: one.born)
            rattles = {minion: [] for minion in dead}
            twice = [self.rules(side, "deathrattles_twice", dead) > 0 for side in self.sides]
            for minion in dead:
                minion.side.died += 1
                if any(row.op == "resurrect" for card in self.cards for row in card["rows"]):
                    minion.side.graves = [*minion.side.graves, minion.number][-32:]
                self.keep(minion.side, "perished")
                minion.grave = Grave()
                places = minion.side.places
                places[places.index(minion)] = minion.grave
                for _ in range(1 + twice[self.sides.index(minion.side)]):
                    for row, facts in minion.rows("deathrattle"):
                        last = Waiting(row, minion.side, minion, None, facts, None, minion.attack)
                        rattles[minion].append(last)
            for minion in dead:
                self.announce("died", minion.side, minion, minion.facts)
                found = rattles[minion] + self.take_news()
                self.waiting += sorted(found, key=lambda what: what.source.born if what.source else -1)
                self.announce("after_death", minion.side, minion, minion.facts)
                self.waiting += self.take_news()
            for side in self.sides:
                if id(side) in self.broken:
                    self.leave_behind(side, self.broken.pop(id(side)))
            self.waiting += self.take_news()
            self.look_at_auras()

    def take_news(self):
        """What has been heard, which waits no longer to be put down."""
        found, self.news = self.news, []
        return found

    def empty(self):
        """Carry out one row after another; what is heard during a row comes before the rows that wait."""
        self.waiting = self.waiting + self.news if not self.waiting else self.news + self.waiting
        self.news = []
        while self.waiting:
            what = self.waiting.pop(0)
            self.rest = []
            if callable(what):
                what()
            else:
                carry_out(self, what)
            self.waiting = self.news + self.rest + self.waiting
            self.news = []
