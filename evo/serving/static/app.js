"use strict";
// Refreshes what is marked with data-refresh, while the tab is seen; a hidden tab asks for nothing.

const EVERY = 2000;

/** Calls something now, then every two seconds while the page is seen, never twice at a time. */
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

// Paper is white: pages are printed in light colours, and their charts are drawn again for it.
function colour(printed) {
  document.documentElement.classList.toggle("printed", printed);
  document.dispatchEvent(new Event("recolour"));
}
addEventListener("beforeprint", () => colour(true));
addEventListener("afterprint", () => colour(false));

// Chosen runs stay chosen when the list is refreshed.
const compared = new Set();
document.addEventListener("change", (event) => {
  if (event.target.name !== "run") return;
  if (event.target.checked) compared.add(event.target.value); else compared.delete(event.target.value);
  tellCompared();
});

function tellCompared() {
  const button = document.getElementById("compare");
  if (button) button.disabled = compared.size < 2;
}

document.addEventListener("htmx:afterSwap", () => {
  for (const box of document.querySelectorAll('input[name="run"]')) box.checked = compared.has(box.value);
  tellCompared();
});
for (const box of document.querySelectorAll('input[name="run"]:checked')) compared.add(box.value);
tellCompared();
