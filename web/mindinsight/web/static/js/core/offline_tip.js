// Tooltip for charts of a saved page. The function's source is copied into the file, so it may not use
// anything from outside.

/** Show a table of the values under the pointer, highest first. @param {import("./types.js").Plot} plot */
export function offlineTip(plot) {
  const box = document.createElement("div");
  box.className = "tip";
  const cell = (/** @type {string} */ tag, /** @type {string} */ text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };
  const number = (/** @type {unknown} */ value) =>
    typeof value === "number" ? value.toPrecision(6) : String(value);
  plot.on("plotly_hover", (event) => {
    const points = event.points.filter((point) => point.data.hoverinfo === "none");
    if (!points.length) return;
    const table = document.createElement("table");
    table.createTHead().append(cell("th", ""), cell("th", String(points[0].x)));
    points.sort((a, b) => b.y - a.y);
    for (const point of points) {
      const row = table.insertRow();
      const swatch = document.createElement("i");
      swatch.className = "swatch";
      swatch.style.background = /** @type {{color?: string} | undefined} */ (point.data.line)?.color ?? "";
      const name = cell("th", ` ${point.data.name}`);
      name.prepend(swatch);
      name.setAttribute("scope", "row");
      row.append(name, cell("td", number(point.y)));
    }
    box.replaceChildren(table);
    document.body.append(box);
    const left = event.event.clientX + 16;
    box.style.left = `${left + box.offsetWidth > innerWidth ? left - 32 - box.offsetWidth : left}px`;
    const below = plot.getBoundingClientRect().bottom + 8;
    box.style.top = `${Math.min(below, innerHeight - box.offsetHeight - 8)}px`;
  });
  plot.on("plotly_unhover", () => box.remove());
}
