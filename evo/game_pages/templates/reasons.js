// Explanation of a plan: its actions, and a table of its objective terms.

function reasonParts(reasons) {
  const parts = [make("p", "", make("strong", "", reasons.plan))];
  if (reasons.terms === undefined) return parts;
  parts.push(make("p", "", reasons.promise + " (" + reasons.status + ")."));
  if (reasons.alternative !== null) {
    parts.push(make("p", "", "Without “" + reasons.without + "”, the best plan is: " + reasons.alternative + "."));
    if (reasons.tie) parts.push(make("p", "", "A tie: both plans have the same value."));
  }
  const head = make("tr", "");
  const titles = reasons.alternative === null ? ["term", "plan"] : ["term", "plan", "without", "decides"];
  titles.forEach((text, place) => {
    const cell = make("th", place ? "number" : "", text);
    cell.scope = "col";
    head.append(cell);
  });
  const rows = reasons.terms.map(([name, meaning, plan, other]) => {
    const sum = name === "sum";
    const row = make("tr", sum ? "sum" : "", make("td", "", name));
    row.title = meaning;
    row.append(make("td", "number", signed(plan)));
    if (reasons.alternative !== null) {
      row.append(make("td", "number", signed(other)), make("td", "number", Math.abs(plan - other) < 0.005 ? "" : signed(plan - other)));
    }
    return sum || plan || other ? row : null;
  });
  return [...parts, make("div", "scroll", make("table", "", make("thead", "", head), make("tbody", "", ...rows)))];
}

function signed(number) {
  return (number < 0 ? "−" : "+") + Math.abs(number).toFixed(2);
}
