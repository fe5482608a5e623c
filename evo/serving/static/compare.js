"use strict";
// A comparison: draws the scores and weights of several runs over each other.

const section = document.getElementById("curves");
let fetched = []; // name and numbers of each run

async function numbersOf(address) {
  try {
    const answer = await fetch("/numbers/" + address, { cache: "no-store" });
    return await answer.json();
  } catch (error) {
    return { unreadable: String(error) };
  }
}

/** Draws a chart by generation below the lines' legend, or hides it if it has no lines. */
function curve(id, traces, title, yaxis = {}) {
  document.getElementById(id + "-part").hidden = !traces.length;
  const last = Math.max(...fetched.map(([, numbers]) => numbers.generation || 0));
  if (traces.length) draw(id, traces, generationLayout(last, title, { tickformat: ".0%", ...yaxis }, { orientation: "h", y: isNarrow() ? -0.4 : -0.3 }));
}

/** Adds a heading and an empty chart for a weight. */
function addWeight(id, weight) {
  const [part, title, box] = ["div", "h3", "div"].map((name) => document.createElement(name));
  [part.id, title.textContent, box.id, box.className] = [id + "-part", weight, id, "chart"];
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", weight + " by generation");
  part.append(title, box);
  document.getElementById("weight-curves").append(part);
}

/** Tells which runs are not in the charts, and why. */
function tellLeftOut() {
  const told = fetched.filter(([, numbers]) => !numbers.weights).map(([name, numbers]) => name + ": " + (numbers.unreadable || "no generation yet"));
  const problem = document.getElementById("problem");
  problem.hidden = !told.length;
  problem.textContent = "Not in the charts: " + told.join("; ");
}

function drawAll() {
  const shown = fetched.filter(([, numbers]) => numbers.weights);
  tellLeftOut();
  section.hidden = !shown.length;
  const played = [...new Set(shown.map(([, numbers]) => numbers.benchmark))];
  curve("scores", shown.flatMap(([name, numbers], place) => {
    const rows = numbers.validation.filter((row) => row.who === "best" && row.opponent === null);
    return rows.length ? [scoreLine(rows, name, lineLook(place))] : [];
  }), played.length === 1 ? "best against " + played[0] : "best against its benchmark");
  const weights = [...new Set(shown.flatMap(([, numbers]) => numbers.weights.labels))];
  for (const weight of weights) if (!document.getElementById("weight-" + weight)) addWeight("weight-" + weight, weight);
  for (const weight of weights) { // when all charts have their places, and with these their widths
    const id = "weight-" + weight;
    const having = shown.filter(([, numbers]) => numbers.weights.labels.includes(weight));
    curve(id, shown.flatMap(([name, numbers], place) => {
      const at = numbers.weights.labels.indexOf(weight);
      return at < 0 ? [] : [{ x: numbers.generations_shown, y: numbers.weights.quartiles[at][2], name: label(name), type: "scatter", mode: "lines", line: lineLook(place), hovertemplate: "%{fullData.name} %{y:.1%}, generation %{x}<extra></extra>" }];
    }), "median " + [...new Set(having.map(([, numbers]) => numbers.weights.measure))].join(" or "), { rangemode: "tozero" });
  }
}

(async () => {
  const names = [...section.querySelectorAll("li")].map((one) => [one.dataset.name, one.dataset.address]);
  fetched = await Promise.all(names.map(async ([name, address]) => [name, await numbersOf(address)]));
  drawAll();
})();
document.addEventListener("recolour", drawAll);
