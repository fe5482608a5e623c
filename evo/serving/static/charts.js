"use strict";
// Parts of all charts: colours of lines, layout, drawing.

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#8c564b"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

/** Colour and dash of a line, by its place among the lines of a chart. */
function lineLook(place) {
  return { color: COLOURS[place % COLOURS.length], dash: DASHES[Math.floor(place / COLOURS.length) % DASHES.length] };
}

/** A colour of the page, which differs on paper: "ink", "line" or "link". */
function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/** Whether the window is as narrow as a telephone. */
function isNarrow() {
  return window.innerWidth < 700;
}

/** Layout of all charts, in the page's colours. */
function chartLayout(xaxis, yaxis, more) {
  const line = pageColour("line");
  const axis = { gridcolor: line, zerolinecolor: line, automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: pageColour("ink"), size: 13 },
    hovermode: "closest", hoverlabel: { namelength: -1 }, uirevision: "kept", ...more,
    xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis },
  };
}

/** Layout of a chart by generation; `last`: the last generation. */
function generationLayout(last, title, yaxis, legend = isNarrow() ? { orientation: "h", y: -0.4 } : {}) {
  const xaxis = { title: { text: "generation" }, tickformat: ",d", ...(last <= 10 ? { dtick: 1 } : {}) }; // no ticks between generations
  return chartLayout(xaxis, { title: { text: label(title) }, ...yaxis }, { margin: { l: 50, r: isNarrow() ? 8 : 20, t: 10, b: 40 }, legend });
}

/** Line of validation scores by generation, with intervals. */
function scoreLine(rows, name, line) {
  return {
    x: rows.map((row) => row.generation), y: rows.map((row) => row.score), name: label(name), type: "scatter", mode: "lines+markers", line,
    error_y: { type: "data", symmetric: false, array: rows.map((row) => row.high - row.score), arrayminus: rows.map((row) => row.score - row.low), thickness: 1 },
    hovertemplate: "%{fullData.name} %{y:.1%}, generation %{x}<extra></extra>",
  };
}

/** Fits charts to their elements, which also change when a scroll bar appears or a column is added. */
const fitted = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.isConnected && target.offsetWidth) Plotly.Plots.resize(target);
});

/** Draws a chart in an element, or redraws it. */
function draw(id, traces, settings) {
  const element = document.getElementById(id);
  Plotly.react(element, traces, settings, { displaylogo: false, displayModeBar: false });
  fitted.observe(element);
}
