"use strict";
// A tournament's page: draws the ratings, and redraws them after each refresh.

function drawRatings() {
  const place = document.getElementById("ratings");
  if (!place || !place.dataset.chart) return;
  const { names, rating, low, high } = JSON.parse(place.dataset.chart);
  const link = pageColour("link");
  const ends = [...rating, ...low, ...high].filter((value) => value !== null);
  const edge = [Math.min(...ends), Math.max(...ends)];
  const room = 0.05 * (edge[1] - edge[0]) + 1;
  const short = (name) => (isNarrow() && name.length > 22 ? name.slice(0, 10) + "…" + name.slice(-10) : name);
  const text = names.map((name, place) => {
    const bounds = [low[place], high[place]].map((value) => (value === null ? "∞" : value.toFixed(1)));
    return label(name) + " " + rating[place].toFixed(1) + " (" + bounds.join(" to ") + ")";
  });
  place.style.height = 6 + 1.7 * names.length + "rem";
  draw("ratings", [{
    x: rating, y: names.map((_, number) => number), type: "scatter", mode: "markers", marker: { color: link, size: 9 }, text, hovertemplate: "%{text}<extra></extra>",
    error_x: { type: "data", symmetric: false, color: link, array: rating.map((value, place) => (high[place] === null ? edge[1] + 2 * room : high[place]) - value), arrayminus: rating.map((value, place) => value - (low[place] === null ? edge[0] - 2 * room : low[place])) },
  }], chartLayout(
    { title: { text: "rating, Elo" }, range: [edge[0] - room, edge[1] + room] },
    { autorange: "reversed", tickvals: names.map((_, number) => number), ticktext: names.map((name) => label(short(name))), fixedrange: true, zeroline: false },
    { margin: { l: 10, r: 20, t: 10, b: 50 }, showlegend: false },
  ));
}

document.addEventListener("htmx:afterSwap", drawRatings);
document.addEventListener("recolour", drawRatings);
drawRatings();
