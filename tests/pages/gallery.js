// Gallery of the components in their states: empty, loading, error, long names, one and a thousand items.
// `gallery.py` offers it as the page `gallery` to a browser that tests or takes pictures.

import { button, iconButton, segments } from "../../js/components/button.js";
import { card } from "../../js/components/card.js";
import { plotArea } from "../../js/components/chart_card.js";
import { checklist } from "../../js/components/checklist.js";
import { errorText } from "../../js/components/dump/failure.js";
import { damage } from "../../js/components/dump/header.js";
import { tensorFacts } from "../../js/components/dump/tensor_facts.js";
import { empty, loading } from "../../js/components/empty.js";
import { check, searchBox, select, slider } from "../../js/components/field.js";
import { longName } from "../../js/components/long_name.js";
import { markdown } from "../../js/components/markdown.js";
import { searchSelect } from "../../js/components/search_select.js";
import { factsTable, sliceTable } from "../../js/components/slice_table.js";
import { unreachablePage } from "../../js/components/unreachable.js";
import { virtualTable } from "../../js/components/virtual.js";
import { claimElement } from "../../js/core/claims.js";
import { h } from "../../js/core/dom.js";

const LONG = `encoder/${"layers/attention/self/".repeat(12)}query.weight`;
const SENTENCE = "Use these settings as the default of this page";
const ignore = () => {};
const named = (n, name = "run") =>
  Array.from({ length: n }, (_, i) => ({
    value: String(i),
    label: n === 1 ? LONG : `${name} ${i}`,
    count: i,
  }));
const statistics = {
  ...{ count: 64, zeros: null, negative: 30, positive: 31, nans: 2, positive_infs: 1, negative_infs: 0 },
  ...{ minimum: "-1e400", maximum: 4, mean: 0.1, absolute_mean: 1, std: 1, norm: 8 },
};
const facts = {
  count: 6,
  min: -2,
  max: 3,
  mean: 0.5,
  deviation: 1,
  norm: 4,
  zeros: 1,
  negative: 2,
  positive: 3,
};
const strange = { nan: 1, positive_infinity: 0, negative_infinity: 0 };
const slice = {
  ...{ window: [2, 3], top: 0, left: 0, rows: 2, columns: 3, values: [-2, 0, NaN, 1, 2, 3] },
  ...{ slice: { ...facts, ...strange }, whole: { ...facts, ...strange, count: 60 } },
};

/** Return the states of each component by the component's name. */
function states(app) {
  const list = (n) => {
    const made = checklist({
      ...{ label: "Runs", filter: "Filter", allLabel: "All", noneLabel: "None" },
      ...{ items: named(n), checked: new Set(["0"]), onchange: ignore },
    });
    Object.assign(made.lastElementChild.style, { height: "160px", overflow: "auto" }); // as in the sidebar
    return made;
  };
  const choice = (n) => select({ label: "Run", options: named(n), value: "0", onchange: ignore });
  const steps = (n) =>
    slider({
      label: "Step",
      values: Array.from({ length: n }, (_, i) => 10 * i),
      value: 0,
      onchange: ignore,
    });
  const group = (n) => segments({ label: "View", options: named(n, "view"), value: "0", onchange: ignore });
  const claim = (verdict) =>
    claimElement(app, { key: LONG, verdict, values: {}, evidence: [], missing: [] }, {});
  const file = { file: LONG, reason: "error.view", detail: "offset 12" };
  const tensor = { statistics, damage: null };
  return {
    button: [button("Save", ignore), button("Save", ignore, { disabled: true }), button(SENTENCE, ignore)],
    "icon button": [iconButton("search", "Search", ignore), iconButton("close", "Close", ignore)],
    segments: [group(2), group(3)],
    select: [choice(0), choice(1), choice(1000)],
    "search select": [0, 1, 1000].map((n) =>
      searchSelect({ label: "Dump", id: `found-${n}`, options: named(n), value: "0", onchange: ignore }),
    ),
    "check box": [true, false].map((checked) => check({ label: LONG, checked, onchange: ignore })),
    "search box": [searchBox({ label: "Tags", onchange: ignore }), broken()],
    slider: [steps(0), steps(1), steps(1000)],
    checklist: [list(0), list(1), list(1000)],
    "long name": [longName("loss"), longName(LONG)],
    "empty state": [empty({ title: "Nothing recorded" }), empty({ title: LONG, text: LONG, code: LONG })],
    loading: [loading(app.t("common.loading"))],
    error: [
      unreachablePage(app, { status: 500, key: "error.view" }),
      empty({ icon: "warning", title: errorText(app, { code: "unreadable", vars: { detail: LONG } }) }),
      damage({ app }, file),
    ],
    claim: ["found", "clear", "unknown", "note"].map(claim),
    card: [card({ title: "loss", body: h("p", null, "1") }), card({ title: LONG, body: h("p", null, LONG) })],
    chart: [0, 1, 1000].map((n) => chart(app, n)),
    markdown: [
      markdown([]),
      markdown([
        ["h2", {}, ["Title"]],
        ["p", {}, [LONG]],
      ]),
    ],
    "tensor facts": [tensorFacts(app, { statistics: null, damage: file }), tensorFacts(app, tensor)],
    "slice of a tensor": [
      sliceTable(app, slice, { digits: 3, scientific: false }).element,
      factsTable(app, slice),
    ],
    table: [0, 1, 1000].map(table),
  };
}

/** Create a search box whose text is not understood. */
function broken() {
  const box = searchBox({ label: "Tags", value: "(", onchange: ignore });
  box.invalid("Unterminated group");
  return box;
}

/** Create a card with a chart of some points. */
function chart(app, n) {
  const plot = plotArea(`${n} points`);
  const x = Array.from({ length: n }, (_, i) => i);
  const trace = {
    type: "scatter",
    mode: n === 1 ? "markers" : "lines",
    x,
    y: x.map((at) => Math.sin(at / 50)),
  };
  app.charts.draw(plot, () => ({ data: [trace], layout: app.theme.plotly() }));
  return card({ title: `${n} points`, body: plot });
}

/** Create a table of some rows. */
function table(n) {
  const made = virtualTable({
    label: `${n} rows`,
    row: (i) => h("tr", null, h("td", { class: "name" }, n === 1 ? LONG : `row ${i}`), h("td", null, i)),
  });
  requestAnimationFrame(() => made.update(n));
  made.element.style.height = "160px";
  return made.element;
}

/** Draw the gallery. */
export function mount(root, app) {
  root.append(
    h("h1", null, "Gallery"),
    ...Object.entries(states(app)).map(([name, elements]) =>
      h(
        "section",
        { class: "panel stack", "data-component": name },
        h("h2", null, name),
        elements.map((element) => h("div", { class: "gallery-state" }, element)),
      ),
    ),
  );
  return { unmount: () => app.charts.removeAll(root) };
}
