// Step through a game by buttons, keyboard, slider, list, and the page's address (#step-12).

const story = JSON.parse(document.getElementById("story").textContent);
const at = (name) => document.getElementById(name);
const last = story.steps.length - 1;
let shown = -1;

/** Numbers of the steps at which turns begin. */
const turns = story.steps.map((step, number) => number).filter((number) => {
  const [step, before] = [story.steps[number], story.steps[number - 1]];
  return number === 0 || step.turn !== before.turn || step.active !== before.active;
});

function seat(number) {
  return number === 0 ? "first" : "second";
}

function reasonsOf(number) {
  for (let step = number; step >= 0; step--) {
    if (story.steps[step].reasons) return [step, story.steps[step].reasons];
    if (turns.includes(step)) break;
  }
  return [number, null];
}

/** Whether a step is hidden from the player whose view is shown. */
function isHidden(number) {
  const seen = at("seen").value;
  return seen !== "all" && story.steps[number].active !== Number(seen);
}

/** Text of an action in the current view: secrets and chosen cards of the other player have no names. */
function wordsOf(number) {
  const step = story.steps[number];
  if (!isHidden(number)) return step.action;
  const after = story.steps[number + 1];
  const secret = after && after.sides[step.active].secrets.length > step.sides[step.active].secrets.length;
  return /^choose/.test(step.action) || (/^play/.test(step.action) && secret) ? step.action.replace(/ \(.*/, "") : step.action;
}

function drawReasons(number) {
  const [step, reasons] = reasonsOf(number);
  const panel = at("reasons");
  const title = make("h2", "", "The plan");
  if (number !== last && isHidden(number)) {
    panel.replaceChildren(title, make("p", "", "The other player's plan is hidden."));
    return;
  }
  if (!reasons) {
    const who = story.players[story.steps[number].active];
    panel.replaceChildren(title, make("p", "", number === last ? "The game is over." : who + " does not explain this turn."));
    return;
  }
  panel.replaceChildren(title, ...reasonParts(reasons), ...(step === number ? [] : [make("p", "", "(The plan at the beginning of the turn.)")]));
}

function show(number) {
  shown = Math.max(0, Math.min(last, number));
  const step = story.steps[shown];
  const seen = at("seen").value;
  const bottom = seen === "all" ? step.active : Number(seen);
  const { source, target } = places(step.action);
  drawBoard(at("board"), step, {
    bottom,
    hidden: seen === "all" ? [] : [1 - bottom],
    names: story.players,
    mark: (piece, whose, zone, place) => {
      const mine = (whose === "own") === (bottom === step.active);
      if (source && mine && source.zone === zone && (zone === "hero" || zone === "power" || source.number === place)) piece.classList.add("source");
      if (target && mine === (target.whose === "own") && target.zone === zone && (zone === "hero" || target.number === place)) piece.classList.add("target");
    },
  });
  const what = shown === last ? story.result : story.players[step.active] + ": " + wordsOf(shown);
  const chance = step.outcomes && step.outcomes.length ? make("span", "chance", " (decided by chance)") : "";
  at("now").replaceChildren("Round " + step.turn + ", " + seat(step.active) + " to move. ", what, chance);
  at("position").textContent = seen === "all" ? step.position : "The notation shows hidden cards. Choose “everyone” to see it.";
  at("place").value = String(shown);
  for (const [name, off] of [["first", shown === 0], ["back", shown === 0], ["turn-back", shown === 0], ["next", shown === last], ["turn-next", shown === last], ["last", shown === last]]) at(name).disabled = off;
  for (const link of at("log").querySelectorAll("a")) {
    const here = link.dataset.step === String(shown);
    if (here) {
      link.setAttribute("aria-current", "step");
      const log = at("log");
      if (link.offsetTop < log.scrollTop || link.offsetTop > log.scrollTop + log.clientHeight - 40) log.scrollTop = link.offsetTop - log.clientHeight / 2;
    } else link.removeAttribute("aria-current");
  }
  drawReasons(shown);
  history.replaceState(null, "", "#step-" + shown);
}

function turnFrom(step) {
  const before = turns.filter((number) => number < shown);
  return step > 0 ? turns.find((number) => number > shown) ?? last : before[before.length - 1] ?? 0;
}

function fillLog() {
  const items = [];
  story.steps.forEach((step, number) => {
    if (turns.includes(number)) items.push(make("li", "turn", "Round " + step.turn + ", " + story.players[step.active] + " (" + seat(step.active) + ")"));
    const link = make("a", "", number === last ? story.result : wordsOf(number));
    link.href = "#step-" + number;
    link.dataset.step = String(number);
    items.push(make("li", "", link));
  });
  at("log").replaceChildren(...items);
  at("log").tabIndex = 0;
  at("log").setAttribute("aria-label", "all actions");
}

function fromAddress() {
  const [, step] = /^#step-(\d+)$/.exec(location.hash) || [];
  const [, turn] = /^#turn-(\d+)$/.exec(location.hash) || [];
  if (turn !== undefined) return turns.find((number) => story.steps[number].turn >= Number(turn)) ?? last;
  return step === undefined ? 0 : Number(step);
}

const MOVES = {
  ArrowLeft: () => shown - 1, ArrowRight: () => shown + 1, Home: () => 0, End: () => last,
  PageUp: () => turnFrom(-1), PageDown: () => turnFrom(1),
};
const BUTTONS = { first: "Home", "turn-back": "PageUp", back: "ArrowLeft", next: "ArrowRight", "turn-next": "PageDown", last: "End" };

at("place").max = String(last);
fillLog();
for (const [name, key] of Object.entries(BUTTONS)) at(name).addEventListener("click", () => show(MOVES[key]()));
at("place").addEventListener("input", () => show(Number(at("place").value)));
at("seen").addEventListener("change", () => { fillLog(); show(shown); });
addEventListener("hashchange", () => show(fromAddress()));
addEventListener("keydown", (event) => {
  if (!(event.key in MOVES) || event.altKey || event.ctrlKey || event.metaKey) return;
  if (["SELECT", "INPUT"].includes(event.target.tagName)) return;
  event.preventDefault();
  show(MOVES[event.key]());
});
show(fromAddress());
