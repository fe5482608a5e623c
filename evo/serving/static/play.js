"use strict";
// The game table: shows the state and sends the clicked action. The server lists the legal actions.

const game = document.getElementById("game");
const at = (name) => document.getElementById(name);
const STEP = window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 600; // milliseconds per step of the opponent

let state = null; // last state from the server
let seen = 0; // number of actions shown so far
let chosen = null; // first click: "hand 2"
let busy = false;

async function call(what, fields) {
  const options = fields === undefined ? { cache: "no-store" } : { method: "POST", body: new URLSearchParams(fields) };
  const answer = await fetch(game.dataset.game + what, options);
  const told = await answer.json().catch(() => ({ problem: "the server's answer is invalid" }));
  if (!answer.ok) throw new Error(told.problem || "the server refused");
  return told;
}

/** Waits for the server; the page is blocked meanwhile. */
async function wait(what) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  for (const button of document.querySelectorAll(".game button")) button.disabled = true;
  let problem = "";
  try { await what(); } catch (error) { problem = "That failed: " + error.message + "."; }
  busy = false;
  document.body.removeAttribute("aria-busy");
  draw();
  if (problem) say(problem);
}

function say(text) {
  at("now").textContent = text;
}

/** Applies a state from the server, and polls while the opponent acts. */
async function take(told) {
  for (;;) {
    if (told.board) await show(told);
    if (!told.thinking && !told.board) throw new Error(told.over); // aborted before the deal
    if (!told.thinking) return;
    if (told.board) say(told.names[1 - told.seat] + " thinks …");
    await new Promise((done) => setTimeout(done, 150));
    told = await call("/state");
  }
}

/** Shows the new actions step by step. */
async function show(told) {
  const frames = told.frames.slice(Math.max(0, told.frames.length - (told.number - seen)));
  state = told;
  chosen = null;
  seen = told.number;
  log(told.log);
  for (const frame of frames.filter((one) => one.by !== told.seat)) {
    say(told.names[frame.by] + ": " + frame.said);
    drawBoard(at("board"), frame.board, { bottom: told.seat, names: told.names });
    if (STEP) await new Promise((done) => setTimeout(done, STEP));
  }
}

function log(lines) {
  at("log").replaceChildren(...lines.map((line) => make("li", line.by === state.seat ? "mine" : "", "Round " + line.turn + ", " + state.names[line.by] + ": " + line.said)));
  at("log").scrollTop = at("log").scrollHeight;
}

/** Legal actions with the pieces that they name. */
function actions() {
  return state.legal.map((one) => ({ ...one, ...places(one.text) }));
}

const named = (zone, number) => (zone === "hero" || zone === "power" ? zone : zone + " " + number);
const sourceOf = (action) => (action.source ? named(action.source.zone, action.source.number) : "");
const targetOf = (action) => (action.target ? action.target.whose + " " + named(action.target.zone, action.target.number) : "");

/** Effect of a click on a piece: "source", "target", or nothing. */
function does(whose, zone, number) {
  const all = actions();
  if (chosen !== null && all.some((one) => sourceOf(one) === chosen && targetOf(one) === whose + " " + named(zone, number))) return "target";
  if (whose === "own" && all.some((one) => sourceOf(one) === named(zone, number))) return "source";
  return "";
}

function click(whose, zone, number) {
  const what = does(whose, zone, number);
  if (what === "source") {
    chosen = chosen === named(zone, number) ? null : named(zone, number);
    const own = actions().filter((one) => sourceOf(one) === chosen);
    if (own.length === 1 && !own[0].target) act(own[0].text);
    else draw();
  } else if (what === "target") {
    const meant = actions().filter((one) => sourceOf(one) === chosen && targetOf(one) === whose + " " + named(zone, number));
    if (meant.length === 1) act(meant[0].text);
    else showChoices(meant);
  }
}

/** Offers the remaining actions as buttons if clicks leave more than one. */
function showChoices(list) {
  at("choices").hidden = list.length === 0;
  at("choices").replaceChildren(...list.map(actionButton));
}

function actionButton(one) {
  const button = make("button", "", one.words);
  button.type = "button";
  button.dataset.action = one.text;
  button.addEventListener("click", () => act(one.text));
  return button;
}

function act(text) {
  return post("/act", { number: state.number, action: text });
}

function draw() {
  if (!state) return; // no deal yet
  const yours = state.over === null;
  drawBoard(at("board"), state.board, {
    bottom: state.seat,
    names: state.names,
    mark: (piece, whose, zone, number) => {
      const what = does(whose, zone, number);
      if (!what) return;
      piece.classList.add(what === "target" ? "aim" : "may");
      if (what === "source" && chosen === named(zone, number)) piece.classList.add("chosen");
      piece.dataset.does = what;
      piece.dataset.piece = whose + " " + named(zone, number);
      piece.tabIndex = 0;
      piece.setAttribute("role", "button");
      piece.addEventListener("click", () => click(whose, zone, number));
      piece.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        click(whose, zone, number);
      });
    },
  });
  showChoices(chosen === null ? [] : actions().filter((one) => sourceOf(one) === chosen && !one.target));
  at("legal").replaceChildren(...state.legal.map(actionButton));
  at("end").disabled = !state.legal.some((one) => one.text === "end turn");
  at("cancel").disabled = chosen === null;
  at("ask").disabled = at("concede").disabled = !yours;
  at("after").hidden = yours;
  for (const button of at("after").querySelectorAll("button")) button.disabled = false;
  if (yours) say("Round " + state.board.turn + ", your turn. " + (chosen === null ? "Choose a card, a minion or your hero." : "Choose a target, or an action below."));
  else say(state.over + "." + (state.error ? " " + state.error : ""));
  game.dataset.number = String(state.number);
  game.dataset.over = state.over === null ? "" : state.over;
}

/** Posts a request; on failure fetches the state, which may have changed. */
function post(what, fields) {
  return wait(async () => {
    try { await take(await call(what, fields)); } catch (error) { await take(await call("/state")); throw error; }
  });
}

at("end").addEventListener("click", () => act("end turn"));
at("cancel").addEventListener("click", () => { chosen = null; draw(); });
at("concede").addEventListener("click", () => post("/concede", {}));
at("ask").addEventListener("click", () => wait(async () => {
  const told = await call("/advice");
  const parts = told.problem ? [make("p", "", "No answer: " + told.problem + ".")] : reasonParts(told);
  at("reasons").replaceChildren(make("h2", "", at("reasons").dataset.title), ...parts);
}));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen !== null) { chosen = null; draw(); }
});

wait(async () => take(await call("/state")));
