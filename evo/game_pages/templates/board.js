"use strict";
// Draw a board: the player at the bottom, the opponent at the top. Texts are never interpreted as HTML.

/** A new element with classes, text and children. */
function make(name, classes, ...content) {
  const element = document.createElement(name);
  element.className = classes;
  for (const part of content) if (part !== null) element.append(part);
  return element;
}

/** A number in a corner of a card or minion. */
function badge(kind, value, meaning) {
  const found = make("span", "badge " + kind, String(value));
  found.title = meaning;
  return found;
}

/** A card in a hand; null for a hidden card. */
function drawCard(card) {
  if (card === null) {
    const back = make("span", "card back");
    back.setAttribute("role", "img");
    back.setAttribute("aria-label", "a hidden card");
    return back;
  }
  const words = card.keywords.join(", ");
  const face = make("span", "card kind-" + card.kind.replace(" ", "-"),
    badge("cost", card.cost, "mana"), make("span", "name", card.name),
    make("span", "words", words || (card.kind === "minion" ? "" : card.kind)));
  if ("attack" in card) {
    face.append(badge("attack", card.attack, "attack"));
    face.append(badge("health", card.health, card.kind === "weapon" ? "durability" : "health"));
  }
  return face;
}

/** A minion on the board. */
function drawMinion(minion) {
  const classes = (names) => names.map((name) => name.toLowerCase().replace(" ", "-"));
  const keywords = classes(minion.keywords);
  const traits = classes(minion.traits);
  const ready = minion.attacks_left > 0 && !traits.includes("frozen") ? "ready" : "";
  const told = [...minion.keywords, ...minion.traits, ...(minion.arrived ? ["arrived this turn"] : [])];
  if (minion.spell_damage) told.push("Spell Damage +" + minion.spell_damage);
  const face = make("span", ["minion", ...keywords, ...traits, ready].join(" "),
    make("span", "name", minion.name), make("span", "words", minion.keywords.join(", ")),
    badge("attack", minion.attack, "attack"),
    badge("health" + (minion.health < minion.max_health ? " hurt" : ""), minion.health, "health"));
  face.title = minion.name + (told.length ? ": " + told.join(", ") : "");
  return face;
}

/** The hero with health, armour, weapon, hero power, mana and deck. */
function drawHero(side, name, seat, active, hidden) {
  const attack = side.hero_attack + (side.weapon ? side.weapon.attack : 0);
  const hero = make("span", "hero" + (active ? " active" : "") + (side.traits.length ? " " + side.traits.join(" ") : ""),
    make("span", "name", name),
    attack > 0 ? badge("attack", attack, "attack of the hero") : null,
    badge("health", side.health, "health"),
    side.armour > 0 ? badge("armour", side.armour, "armour") : null);
  hero.title = [name, ...side.traits].join(", ");
  const around = make("span", "around");
  const gems = make("span", "mana", side.mana + "/" + side.crystals);
  gems.title = "mana left and crystals" + (side.locked ? ", " + side.locked + " locked" : "");
  around.append(gems);
  if (side.weapon) {
    const weapon = make("span", "weapon", side.weapon.name + " " + side.weapon.attack + "/" + side.weapon.durability);
    weapon.title = "weapon: attack and durability";
    around.append(weapon);
  }
  if (side.power) {
    const power = make("span", "power" + (side.power.used ? " used" : ""), side.power.name + " (" + side.power.cost + ")");
    power.title = "hero power" + (side.power.used ? ", used" : "");
    around.append(power);
  }
  for (const secret of side.secrets) around.append(make("span", "secret", (!hidden && secret.name) || "Secret"));
  const deck = make("span", "deck", side.deck + (side.deck === 1 ? " card" : " cards"));
  deck.title = "in the deck" + (side.fatigue ? "; the next draw from an empty deck deals " + (side.fatigue + 1) : "");
  around.append(deck);
  return [hero, around];
}

/**
 * Draw a position into an element.
 * state: a step of the page's data. bottom: seat at the bottom. hidden: seats whose hand is not shown.
 * names: of both players by seat. mark: called with every piece and its place, to add classes or handlers.
 */
function drawBoard(place, state, { bottom, hidden = [], names, mark = () => {} }) {
  const halves = [];
  for (const seat of [1 - bottom, bottom]) {
    const side = state.sides[seat];
    const own = seat === bottom ? "own" : "enemy";
    const hand = make("div", "hand");
    hand.setAttribute("aria-label", "hand of " + names[seat]);
    hand.setAttribute("role", "group");
    side.hand.forEach((card, number) => {
      const drawn = drawCard(hidden.includes(seat) ? null : card);
      mark(drawn, own, "hand", number, card);
      hand.append(drawn);
    });
    const row = make("div", "row");
    row.setAttribute("aria-label", "minions of " + names[seat]);
    row.setAttribute("role", "group");
    side.board.forEach((minion, number) => {
      const drawn = drawMinion(minion);
      mark(drawn, own, "board", number, minion);
      row.append(drawn);
    });
    const [hero, around] = drawHero(side, names[seat], seat, state.active === seat, hidden.includes(seat));
    mark(hero, own, "hero", 0, side);
    const power = around.querySelector(".power");
    if (power) mark(power, own, "power", 0, side.power);
    const parts = [hand, make("div", "centre", hero, around), row];
    halves.push(make("div", "half " + own, ...(own === "own" ? parts.reverse() : parts)));
  }
  if (state.offered.length && !hidden.includes(state.active)) {
    const offer = make("div", "hand offer", make("span", "label", "choose one:"));
    state.offered.forEach((card, number) => {
      const drawn = drawCard(card);
      mark(drawn, "own", "offer", number, card);
      offer.append(drawn);
    });
    halves.splice(1, 0, offer);
  }
  place.replaceChildren(...halves);
}

/** Source and target of an action in notation. */
function places(action) {
  const found = /^(play|attack|power|choose)(?: (\d+|hero))?(?: as \d+)?(?: at \d+)?(?: -> (own )?(\d+|hero))?/.exec(action || "");
  if (!found) return {};
  const [, kind, source, own, target] = found;
  const from = { play: "hand", attack: source === "hero" ? "hero" : "board", power: "power", choose: "offer" }[kind];
  const aimed = target === undefined ? null : { whose: own ? "own" : "enemy", zone: target === "hero" ? "hero" : "board", number: Number(target) || 0 };
  return { source: { zone: from, number: Number(source) || 0 }, target: aimed };
}
