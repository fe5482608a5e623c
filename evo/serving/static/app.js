"use strict";
// Refreshes elements with data-refresh while the tab is visible.

const EVERY = 2000;

/** Escapes a name for a chart label, in which tags and entities are markup. */
function label(name) {
  return String(name).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Calls a function now and every two seconds while the page is visible, never concurrently. */
function whileSeen(refresh) {
  let busy = false;
  const step = async () => {
    if (document.hidden || busy) return;
    busy = true;
    try { await refresh(); } finally { busy = false; }
  };
  setInterval(step, EVERY);
  document.addEventListener("visibilitychange", step);
  return step;
}

whileSeen(async () => {
  for (const part of document.querySelectorAll("[data-refresh][hx-get]")) part.dispatchEvent(new Event("refresh"));
});

// Print in light colours: redraw the charts for paper.
function colour(printed) {
  document.documentElement.classList.toggle("printed", printed);
  document.dispatchEvent(new Event("recolour"));
}
addEventListener("beforeprint", () => colour(true));
addEventListener("afterprint", () => colour(false));

// Keep chosen runs when the list is refreshed.
const compared = new Set();
document.addEventListener("change", (event) => {
  if (event.target.name !== "run") return;
  if (event.target.checked) compared.add(event.target.value); else compared.delete(event.target.value);
  tellCompared();
});

function tellCompared() {
  const button = document.getElementById("compare");
  if (button) button.disabled = document.querySelectorAll('input[name="run"]:checked:enabled').length < 2;
}

// Show only the rows of the list with a text and in a state. Chosen runs in hidden rows are not compared.
function filterRows() {
  const [text, state] = ["filter", "state"].map((id) => document.getElementById(id));
  if (!text || !state) return;
  const wanted = text.value.trim().toLowerCase();
  for (const row of document.querySelectorAll("#rows tbody tr")) {
    const own = row.querySelector(".state");
    row.hidden = !row.textContent.toLowerCase().includes(wanted) || (state.value !== "" && (!own || own.textContent !== state.value));
    const box = row.querySelector('input[name="run"]');
    if (box) box.disabled = row.hidden;
  }
  tellCompared();
}
for (const id of ["filter", "state"]) {
  const field = document.getElementById(id);
  if (field) field.addEventListener("input", filterRows);
}

// Keep focus, scroll position, unfolded tables and chosen runs of a refreshed part.
let kept = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const part = event.detail.target;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  kept = {
    focus: focused && (focused.getAttribute("href") || focused.value || focused.id || focused.textContent),
    scrolls: [...part.querySelectorAll(".scroll")].map((one) => one.scrollLeft),
    open: [...part.querySelectorAll("details")].map((one) => one.open),
  };
});
document.addEventListener("htmx:afterSwap", () => {
  for (const box of document.querySelectorAll('input[name="run"]')) box.checked = compared.has(box.value);
  filterRows();
  const part = document.getElementById("rows") || document.getElementById("standings");
  if (!kept || !part) return;
  [...part.querySelectorAll(".scroll")].forEach((one, place) => { one.scrollLeft = kept.scrolls[place] || 0; });
  [...part.querySelectorAll("details")].forEach((one, place) => { if (place in kept.open) one.open = kept.open[place]; });
  if (kept.focus) {
    const same = [...part.querySelectorAll("a, button, input, summary, [tabindex]")].find((one) => [one.getAttribute("href"), one.value, one.id, one.textContent].includes(kept.focus));
    if (same) same.focus({ preventScroll: true });
  }
});
for (const box of document.querySelectorAll('input[name="run"]:checked')) compared.add(box.value);
tellCompared();
filterRows();
