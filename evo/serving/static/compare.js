"use strict";
// A comparison: draws the scores and win rates of several runs over each other.

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#8c564b"];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const section = document.getElementById("curves");
let fetched = [];

async function numbersOf(name) {
  try {
    const answer = await fetch("/numbers/" + name, { cache: "no-store" });
    return await answer.json();
  } catch (error) {
    return { unreadable: String(error) };
  }
}

function curve(id, traces, title) {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = [style.getPropertyValue("--ink").trim(), style.getPropertyValue("--line").trim()];
  const axis = { gridcolor: line, zerolinecolor: line, automargin: true };
  document.getElementById(id + "-part").hidden = !traces.length;
  if (!traces.length) return;
  Plotly.react(document.getElementById(id), traces, {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 13 }, margin: { l: 50, r: 10, t: 10, b: 40 },
    legend: { orientation: "h", y: -0.3 }, hoverlabel: { namelength: -1 },
    xaxis: { ...axis, title: { text: "generation" }, tickformat: ",d" }, yaxis: { ...axis, title: { text: title }, tickformat: ".1%" },
  }, { responsive: true, displaylogo: false, displayModeBar: false });
}

function draw() {
  const shown = fetched.filter(([, numbers]) => numbers.weights);
  const look = (place) => ({ color: COLOURS[place % COLOURS.length], dash: DASHES[Math.floor(place / COLOURS.length) % 4] });
  section.hidden = !shown.length;
  const played = shown.map(([, numbers]) => numbers.benchmark);
  curve("scores", shown.flatMap(([name, numbers], place) => {
    const rows = numbers.validation.filter((row) => row.who === "best" && row.opponent === null);
    return rows.length ? [{
      x: rows.map((row) => row.generation), y: rows.map((row) => row.score), name: label(name), type: "scatter", mode: "lines+markers", line: look(place),
      error_y: { type: "data", symmetric: false, array: rows.map((row) => row.high - row.score), arrayminus: rows.map((row) => row.score - row.low), thickness: 1 },
      hovertemplate: "%{fullData.name} %{y:.1%}, generation %{x}<extra></extra>",
    }] : [];
  }), new Set(played).size === 1 ? "best against " + played[0] : "best against its benchmark");
  for (const weight of new Set(shown.flatMap(([, numbers]) => numbers.weights.names))) {
    const id = "weight-" + weight;
    if (!document.getElementById(id)) {
      const part = document.createElement("div");
      part.id = id + "-part";
      const title = document.createElement("h3");
      const box = document.createElement("div");
      [title.textContent, box.id, box.className] = [weight, id, "chart"];
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", weight + " by generation");
      part.append(title, box);
      document.getElementById("weight-curves").append(part);
    }
    curve(id, shown.flatMap(([name, numbers], place) => {
      const at = numbers.weights.names.indexOf(weight);
      return at < 0 ? [] : [{ x: numbers.generations_shown, y: numbers.weights.quartiles[at][2], name: label(name), type: "scatter", mode: "lines", line: look(place), hovertemplate: "%{fullData.name} %{y:.1%}, generation %{x}<extra></extra>" }];
    }), "median share");
  }
}

(async () => {
  const names = [...section.querySelectorAll("li")].map((one) => [one.dataset.name, one.dataset.address]);
  fetched = await Promise.all(names.map(async ([name, address]) => [name, await numbersOf(address)]));
  draw();
})();
document.addEventListener("recolour", draw);
