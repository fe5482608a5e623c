"use strict";
// A run's page: polls its numbers and draws the charts.

const part = document.getElementById("run");
const byId = (name) => document.getElementById(name);
let chosen = null; // names of the weights shown
let drawn = ""; // data drawn last, to skip equal redraws

function element(name, text, classes = "") {
  const found = document.createElement(name);
  if (text !== undefined) found.textContent = text;
  if (classes) found.className = classes;
  return found;
}

/** Formats a share in percent, ties to even as in other tables: 0.5625 is 56.2%. */
function percent(value) {
  if (value === null) return "";
  const found = 100 * value;
  return (Math.abs(4 * found) % 4 === 1 ? found - Math.sign(found) * 0.05 : found).toFixed(1) + "%";
}

function time(seconds) {
  if (!seconds) return "";
  if (seconds < 120) return Math.round(seconds) + " s";
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? minutes + " min" : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
}

function facts(numbers) {
  const champion = numbers.champion;
  const known = [
    ["state", numbers.state],
    ["generation", numbers.generation < 0 ? "none yet" : numbers.generation + " of " + numbers.generations],
    ["agent", numbers.agent], ["strategy", numbers.strategy], ["decks", numbers.deck_names.join(", ")],
    ["ruleset", numbers.ruleset], ["seed", numbers.seed],
    ["games per second", numbers.state === "running" && numbers.speed ? Math.round(numbers.speed).toLocaleString("en") : ""],
    ["time left", numbers.state === "running" ? time(numbers.seconds_left) : ""],
    ["champion", champion ? champion.candidate + (champion.win_rate === null ? "" : ", " + percent(champion.win_rate) + " against " + numbers.benchmark) : ""],
  ];
  byId("head").replaceChildren(...known.filter(([, value]) => value).map(([name, value]) => {
    const box = element("div");
    box.append(element("dt", name), element("dd", value));
    return box;
  }));
}

function chooseWeights(names, labels) {
  if (chosen !== null) return;
  chosen = new Set(names);
  names.forEach((name, place) => {
    const choice = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(name); else chosen.delete(name);
      drawn = "";
      refresh();
    });
    choice.append(box, " " + labels[place]);
    byId("choose").append(choice);
  });
}

function lines(numbers) {
  const at = numbers.generations_shown;
  const traces = [];
  numbers.weights.names.forEach((name, place) => {
    if (!chosen.has(name)) return;
    const [, low, middle, high] = numbers.weights.quartiles[place];
    const line = lineLook(place);
    const shown = label(numbers.weights.labels[place]);
    traces.push({ x: [...at, ...at.slice().reverse()], y: [...high, ...low.slice().reverse()], fill: "toself", fillcolor: line.color + "22", line: { width: 0 }, hoverinfo: "skip", showlegend: false, type: "scatter", mode: "lines" });
    traces.push({ x: at, y: middle, name: shown, line, type: "scatter", mode: "lines", hovertemplate: "%{fullData.name} %{y:.1%}, generation %{x}<extra></extra>" });
    traces.push({ x: at, y: numbers.weights.best[name], name: shown, line: { ...line, dash: "dot", width: 1 }, showlegend: false, type: "scatter", mode: "lines", hovertemplate: "best: %{fullData.name} %{y:.1%}, generation %{x}<extra></extra>" });
  });
  return traces;
}

function bands(name, [least, low, middle, high, most], at, form) {
  return [
    { x: [...at, ...at.slice().reverse()], y: [...most, ...least.slice().reverse()], fill: "toself", fillcolor: "#0072b218", line: { width: 0 }, hoverinfo: "skip", name: "all", type: "scatter", mode: "lines" },
    { x: [...at, ...at.slice().reverse()], y: [...high, ...low.slice().reverse()], fill: "toself", fillcolor: "#0072b240", line: { width: 0 }, hoverinfo: "skip", name: "interquartile range", type: "scatter", mode: "lines" },
    { x: at, y: middle, name: "median " + name, line: { color: "#0072b2" }, type: "scatter", mode: "lines", hovertemplate: "%{y:" + form + "}, generation %{x}<extra></extra>" },
  ];
}

function validation(rows) {
  const groups = new Map();
  for (const row of rows) {
    const name = row.who + (row.opponent === null ? " against all" : " against " + row.opponent);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return [...groups].map(([name, own], place) => ({
    ...scoreLine(own, name, { color: COLOURS[(own[0].opponent === null ? Number(place > 0) : 2 + place) % COLOURS.length] }),
    visible: own[0].opponent === null ? true : "legendonly",
  }));
}

function weightsTable(numbers) {
  const head = element("tr");
  const champion = numbers.weights.champion.some((share) => share !== null);
  for (const title of ["weight", ...(champion ? ["champion"] : []), "best", "minimum", "lower quartile", "median", "upper quartile", "maximum", "meaning"]) {
    const cell = element("th", title, title === "weight" || title === "meaning" ? "" : "number");
    cell.scope = "col";
    head.append(cell);
  }
  const rows = numbers.weights.names.map((name, place) => {
    const row = element("tr");
    const first = element("th", numbers.weights.labels[place]);
    first.scope = "row";
    row.append(first);
    if (champion) row.append(element("td", percent(numbers.weights.champion[place]), "number"));
    for (const values of [numbers.weights.best[name], ...numbers.weights.quartiles[place]]) row.append(element("td", percent(values[values.length - 1]), "number"));
    row.append(element("td", numbers.weights.meanings[place], "value"));
    return row;
  });
  const [top, body] = [element("thead"), element("tbody")];
  top.append(head);
  body.append(...rows);
  const caption = element("caption", "Weights of generation " + numbers.generation + ", " + numbers.weights.measure);
  byId("weights-table").replaceChildren(caption, top, body);
}

function decksTable({ names, scores }) {
  const mix = (score) => {
    const [from, part] = score < 0.5 ? [[0xe5, 0x77, 0x70], 1 - 2 * score] : [[0x62, 0xa3, 0xdc], 2 * score - 1];
    return "rgb(" + from.map((one) => Math.round(255 + (one - 255) * Math.min(1, part))).join(",") + ")";
  };
  const head = element("tr");
  head.append(element("th", "deck"), ...names.map((name) => { const cell = element("th", name); cell.scope = "col"; return cell; }));
  const rows = names.map((name, place) => {
    const row = element("tr");
    const first = element("th", name);
    first.scope = "row";
    row.append(first, ...scores[place].map((score) => {
      const cell = element("td", percent(score));
      if (score !== null) cell.style.background = mix(score);
      return cell;
    }));
    return row;
  });
  const [top, body] = [element("thead"), element("tbody")];
  top.append(head);
  body.append(...rows);
  byId("decks").replaceChildren(top, body);
}

function lineage(nodes) {
  const place = new Map(nodes.map((node, number) => [node.individual, number]));
  const [x, y] = [[], []];
  for (const node of nodes) {
    for (const parent of node.parents) {
      if (!place.has(parent)) continue;
      const other = nodes[place.get(parent)];
      x.push(other.birth, node.birth, null);
      y.push(place.get(parent), place.get(node.individual), null);
    }
  }
  const lives = nodes.flatMap((node, number) => [[node.birth, number], [node.last, number], [null, null]]);
  return [
    { x, y, type: "scatter", mode: "lines", line: { color: "#888", width: 1 }, hoverinfo: "skip", name: "parent" },
    { x: lives.map((one) => one[0]), y: lives.map((one) => one[1]), type: "scatter", mode: "lines", line: { color: "#56b4e9", width: 4 }, hoverinfo: "skip", name: "lived" },
    { x: nodes.map((node) => node.birth), y: nodes.map((_, number) => number), type: "scatter", mode: "markers", marker: { color: "#0072b2", size: 8 }, name: "born",
      text: nodes.map((node) => "individual " + node.individual + ", born in " + node.birth + ", lived to " + node.last), hovertemplate: "%{text}<extra></extra>" },
  ];
}

function drawAll(numbers) {
  const at = numbers.generations_shown;
  const layout = (title, yaxis) => generationLayout(numbers.generation, title, yaxis);
  byId("charts").hidden = false;
  chooseWeights(numbers.weights.names, numbers.weights.labels);
  draw("weights", lines(numbers), layout(numbers.weights.measure, { tickformat: ".0%", rangemode: "tozero" }));
  weightsTable(numbers);
  byId("validation-part").hidden = !numbers.validation.length;
  if (numbers.validation.length) draw("validation", validation(numbers.validation), layout("score", { tickformat: ".0%" }));
  draw("win-rate", bands("win rate", numbers.win_rate, at, ".1%"), layout("score per game", { tickformat: ".0%" }));
  const steps = Object.entries(numbers.steps);
  byId("steps-part").hidden = !steps.length;
  if (steps.length) {
    draw("steps", steps.map(([name, values], place) => ({ x: at, y: values, name: label(name), type: "scatter", mode: "lines", line: lineLook(place) })), layout("median step size", { type: "log" }));
  }
  draw("ages", [...bands("age", numbers.ages, at, ".1f"), { x: numbers.newcomers.generation, y: numbers.newcomers.value, name: "newcomers", type: "bar", marker: { color: "#d55e0088" } }], layout("generations, newcomers", { rangemode: "tozero" }));
  decksTable(numbers.decks);
  draw("lineage", lineage(numbers.lineage), layout("", { showticklabels: false }));
}

async function refresh() {
  let numbers;
  try {
    const answer = await fetch(part.dataset.numbers, { cache: "no-store" });
    numbers = await answer.json();
  } catch (error) {
    tell("The server does not answer; the numbers shown are its last ones.");
    return;
  }
  if (numbers.unreadable) {
    tell("This run cannot be read now: " + numbers.unreadable);
    return;
  }
  tell(numbers.problems.join("; "));
  facts(numbers);
  const seen = JSON.stringify([numbers.generation, numbers.champion, numbers.validation && numbers.validation.length, isNarrow()]);
  if (numbers.weights && seen !== drawn) {
    drawAll(numbers);
    drawn = seen;
  }
  part.dataset.generation = String(numbers.generation);
  window.manaforgeNumbers = numbers;
}

function tell(problem) {
  byId("problem").hidden = !problem;
  byId("problem").textContent = problem;
}

document.addEventListener("recolour", () => { if (window.manaforgeNumbers && window.manaforgeNumbers.weights) drawAll(window.manaforgeNumbers); });
whileSeen(refresh)();
