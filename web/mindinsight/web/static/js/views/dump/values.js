// One tensor: every statistic, its histogram, a slice as heat map or table, and the file.

import { segments } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { ramp } from "../../core/ramp.js";
import { sliceTable } from "../tensor/table.js";
import { inWords } from "./failure.js";
import { number, slotText } from "./rows.js";
import { STATISTICS, tensorPlace } from "./state.js";

const COUNTS = ["count", "zeros", "negative", "positive", "nans", "positive_infs", "negative_infs"];

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {import("../../core/types.js").App} App */

const WINDOW = 200;

/**
 * The view stays while statistics are counted: ``update`` takes the newer row, and what somebody is writing
 * stays.
 * @param {Page} page
 * @param {any} tensor a row of the server's answer
 */
export function tensorView(page, tensor) {
  const { app, state } = page;
  const { t } = app;
  const where = tensorPlace(state);
  const key = JSON.stringify(where);
  if (page.look?.key !== key) page.look = { key, mode: "histogram", dims: "", top: 0, left: 0 };
  const { look } = page; // kept when the panel is drawn anew
  const body = h("div", { class: "dump-values" });
  const requests = latest(body);
  const dims = h("input", {
    type: "text",
    class: "mono",
    "aria-label": t("tensor.dims"),
    title: t("tensor.dims_how"),
    onchange: () => move({ dims: dims.value.trim(), top: 0, left: 0 }),
  });
  const slice = h("label", { class: "field inline" }, h("span", { class: "label" }, t("tensor.dims")), dims);

  /** @param {Partial<typeof look>} some */
  const move = (some) => {
    Object.assign(look, some);
    draw();
  };

  const draw = () => {
    slice.hidden = look.mode === "histogram";
    app.charts.removeAll(body);
    const [read, show] = LOOKS[look.mode];
    const written = dims.value;
    requests.ask(
      read,
      (part) => {
        if (part.dims && dims.value === written) dims.value = part.dims;
        show(part);
      },
      (error) => replace(body, empty({ icon: "warning", title: inWords(app, error) })),
    );
  };

  /**
   * How each look is asked for, and how its answer is shown.
   * @type {Record<string, [() => Promise<any>, (part: any) => void]>}
   */
  const LOOKS = {
    histogram: [
      () => app.api.columns("v2/dump/histogram", where),
      (part) => chart(body, app, histogram(app, part), t("dump.values.histogram")),
    ],
    heat: [
      () => app.api.columns("v2/dump/heatmap", { ...where, dims: look.dims || null }),
      (part) => chart(body, app, heat(app, part), t("dump.values.heat")),
    ],
    table: [
      () =>
        app.api.columns("v2/dump/values", {
          ...where,
          dims: look.dims || null,
          top: look.top,
          left: look.left,
        }),
      (part) => {
        const shown = { ...part, slice: { min: part.minimum, max: part.maximum } };
        replace(
          body,
          h(
            "div",
            { class: "scroll tensor-scroll", tabindex: "0" },
            sliceTable(app, shown, { digits: 5, scientific: false }),
          ),
          pager(app, part, move),
        );
      },
    ],
  };

  const modes = ["histogram", "heat", "table"].map((value) => ({ value, label: t(`dump.values.${value}`) }));
  const choose = segments({
    label: t("dump.view"),
    options: modes,
    value: look.mode,
    onchange: (mode) => move({ mode }),
  });
  const file = h(
    "a",
    { class: "button", href: app.api.build("v2/dump/download", where), download: "" },
    t("dump.download"),
  );
  if (tensor.values) draw();
  const shown = tensor.values
    ? [h("div", { class: "toolbar" }, choose, slice, file), body]
    : h("p", { class: "muted" }, t("dump.only_statistics"));
  const known = h("div", null, facts(page, tensor));
  const element = h("section", { class: "dump-tensor" }, h("h3", null, slotText(app, tensor)), known, shown);
  return { element, update: (/** @type {any} */ newer) => replace(known, facts(page, newer)) };
}

/** @param {Page} page @param {any} tensor */
function facts({ app }, tensor) {
  const { t } = app;
  const found = tensor.statistics;
  if (!found) {
    return h(
      "p",
      { class: "muted" },
      tensor.damage ? `${t(tensor.damage.reason)} ${tensor.damage.detail}` : t("common.loading"),
    );
  }
  const said = tensor.said ?? {};
  const names = {
    minimum: "min",
    maximum: "max",
    mean: "mean",
    norm: "l2norm",
    zeros: "zero",
    negative: "negative",
    positive: "positive",
    nans: "nan",
    positive_infs: "positive_inf",
    negative_infs: "negative_inf",
  };
  const beside = (/** @type {string} */ name, /** @type {any} */ recorded) => {
    const wrong = tensor.disagrees.includes(name);
    return h(
      "span",
      { class: wrong ? "badge warn" : "muted", title: wrong ? t("dump.disagrees") : null },
      ` ${t("dump.recorded", { value: number(app, recorded) })}`,
    );
  };
  const row = (/** @type {string} */ key) => {
    const recorded = said[/** @type {any} */ (names)[key]];
    const loud = ["nans", "positive_infs", "negative_infs"].includes(key) && found[key] > 0;
    return [
      h("dt", null, t(`dump.statistic.${key}`)),
      h(
        "dd",
        { class: loud ? "strange" : null },
        found[key] === null && COUNTS.includes(key) ? t("dump.not_counted") : number(app, found[key]),
        recorded !== undefined && tensor.computed && beside(names[/** @type {"mean"} */ (key)], recorded),
      ),
    ];
  };
  return h(
    "dl",
    { class: "facts dump-facts" },
    h("dt", null, t("dump.statistic.count")),
    h("dd", null, number(app, found.count)),
    STATISTICS.map(row),
  );
}

/**
 * @param {HTMLElement} body
 * @param {App} app
 * @param {import("../../core/charts.js").Figure} figure
 * @param {string} label
 */
function chart(body, app, figure, label) {
  const plot = h("div", { class: "chart", role: "img", "aria-label": label });
  replace(body, plot);
  app.charts.draw(plot, () => figure);
}

/** @param {App} app @param {any} part */
function histogram(app, part) {
  const { edges, counts } = part;
  const x = Array.from(counts, (_, i) => (edges[i] + edges[i + 1]) / 2);
  const width = Array.from(counts, (_, i) => edges[i + 1] - edges[i]);
  const trace = {
    type: "bar",
    x,
    y: Array.from(counts),
    width,
    marker: { color: app.theme.colour("--accent") },
    hovertemplate: "%{x:.5g}: %{y}<extra></extra>",
  };
  return {
    data: [trace],
    layout: { ...app.theme.plotly(), bargap: 0, yaxis: app.theme.axis({ rangemode: "tozero" }) },
  };
}

/** @param {App} app @param {any} part */
function heat(app, part) {
  const [rows, columns] = part.window;
  const z = Array.from({ length: rows }, (_, row) =>
    Array.from(part.values.subarray(row * columns, (row + 1) * columns)),
  );
  const fold = (/** @type {number} */ whole, /** @type {number} */ shown) =>
    Array.from({ length: shown }, (_, i) => Math.floor((i * whole) / shown));
  const trace = {
    type: "heatmap",
    z,
    x: fold(part.columns, columns),
    y: fold(part.rows, rows),
    colorscale: ramp(app),
    colorbar: { thickness: 10, tickfont: { size: 10 } },
    hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>",
  };
  const bad = app.theme.colour("--bad");
  const lost = {
    type: "heatmap",
    z: z.map((line) => line.map((value) => (Number.isFinite(value) ? null : 1))),
    text: z.map((line) => line.map(String)),
    x: trace.x,
    y: trace.y,
    colorscale: [
      [0, bad],
      [1, bad],
    ],
    showscale: false,
    hoverongaps: false,
    hovertemplate: "[%{y}, %{x}] %{text}<extra></extra>",
  };
  return {
    data: [trace, lost],
    layout: { ...app.theme.plotly(), yaxis: app.theme.axis({ autorange: "reversed" }) },
  };
}

/** @param {App} app @param {any} part @param {(some: any) => void} move */
function pager(app, part, move) {
  const { t } = app;
  const [rows, columns] = part.window;
  const step = (/** @type {string} */ name, /** @type {any} */ some, /** @type {boolean} */ possible) =>
    h("button", { type: "button", disabled: !possible, onclick: () => move(some) }, t(`tensor.${name}`));
  const told = t("tensor.window", {
    top: part.top,
    bottom: part.top + rows - 1,
    rows: part.rows,
    left: part.left,
    right: part.left + columns - 1,
    columns: part.columns,
  });
  const all = rows === part.rows && columns === part.columns;
  const moves = !all && [
    step("up", { top: Math.max(0, part.top - WINDOW) }, part.top > 0),
    step("down", { top: part.top + WINDOW }, part.top + rows < part.rows),
    step("left", { left: Math.max(0, part.left - WINDOW) }, part.left > 0),
    step("right", { left: part.left + WINDOW }, part.left + columns < part.columns),
  ];
  return h("div", { class: "toolbar small" }, h("span", { class: "muted" }, told), moves);
}
