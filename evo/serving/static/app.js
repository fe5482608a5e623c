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

for (const part of document.querySelectorAll("[data-refresh][hx-get]")) {
  whileSeen(async () => { part.dispatchEvent(new Event("refresh")); });
}
