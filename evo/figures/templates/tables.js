"use strict";
// Sorts tables by their columns: numbers by data-value, others by their text; empty cells stay last.
const words = new Intl.Collator("en", { numeric: true });

function sortKey(row, place) {
  const cell = row.cells[place];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
}

function compare([a], [b]) {
  return typeof a === "number" && typeof b === "number" ? a - b || 0 : words.compare(a, b);
}

function sortTable(table, place, falling) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [sortKey(row, place), row]);
  const full = rows.filter(([key]) => key !== "");
  full.sort((a, b) => (falling ? compare(b, a) : compare(a, b)));
  body.append(...[...full, ...rows.filter(([key]) => key === "")].map(([, row]) => row));
}

document.addEventListener("click", (event) => {
  const head = event.target.closest("th[aria-sort]");
  if (!head) return;
  const heads = [...head.parentElement.cells];
  const now = head.getAttribute("aria-sort");
  const falling = now === "none" ? head.classList.contains("number") : now === "ascending";
  for (const other of heads) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  sortTable(head.closest("table"), heads.indexOf(head), falling);
});

// A printed page shows its tables unfolded.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const table of folded) table.open = true;
});
addEventListener("afterprint", () => {
  for (const table of folded) table.open = false;
});
