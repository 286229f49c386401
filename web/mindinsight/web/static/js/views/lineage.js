// Lineage: what runs were trained with and what came out; axes and table are one: a brush filters both.

import { button } from "../components/button.js";
import { checklist } from "../components/checklist.js";
import { dialog } from "../components/dialog.js";
import { empty } from "../components/empty.js";
import { check, select } from "../components/field.js";
import { h, replace } from "../core/dom.js";
import { drawAxes, kept } from "./lineage/axes.js";
import { readBrushes, writeBrushes } from "./lineage/brushes.js";
import { datasetDialog } from "./lineage/dataset.js";
import { differenceDialog } from "./lineage/difference.js";
import { scatter } from "./lineage/scatter.js";
import { tint } from "./lineage/tint.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./lineage/axes.js").Column} Column */
/** @typedef {import("./lineage/axes.js").Row} Row */

const HEIGHT = 300;
const MOST_AXES = 9;
const MANY = 12; // runs beyond which a colour for each says less than the objective's

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  const { t, url } = app;
  const state = { objective: url.get("o", ""), axes: url.all("axis"), logs: new Set(url.all("log")), sort: url.get("sort", ""), down: url.get("desc") === "1", x: url.get("px", ""), y: url.get("py", ""), tint: url.get("tint") };
  const brushes = readBrushes(url.all("brush"));
  /** Runs whose settings are to be compared. @type {Set<string>} */
  const picked = new Set();
  /** @type {{columns: Column[], rows: Row[], importance: {key: string, importance: number}[]}} */
  let data = { columns: [], rows: [], importance: [] };
  const head = h("div", null);
  const picture = h("div", { class: "panel scroll axes-panel" });
  const table = h("div", { class: "panel scroll" });
  const matters = h("div", { class: "panel" });
  const cloud = h("div", null);
  const body = h("div", { class: "stack" }, picture, h("div", { class: "lineage-row" }, matters, cloud), table);

  const load = async () => {
    const runs = app.selection.all().filter((run) => run.lineage).map((run) => run.id);
    const shown = runs.filter((run) => app.selection.has(run));
    const answer = shown.length ? await app.api.get("v2/lineage/table", { run: shown, objective: await objectiveOf(shown) }) : { columns: [], rows: [], importance: [] };
    data = { ...answer, columns: answer.columns.map((/** @type {any} */ column) => ({ ...column, label: labelOf(column.key) })) };
    state.objective = answer.objective ?? "";
    draw();
  };

  /** The objective asked for if these runs have it, else the first metric. @param {string[]} runs */
  const objectiveOf = async (runs) => {
    const plain = await app.api.get("v2/lineage/table", { run: runs });
    const numeric = plain.columns.filter((/** @type {any} */ column) => column.numeric).map((/** @type {any} */ column) => column.key);
    return numeric.includes(state.objective) ? state.objective : (numeric.filter((/** @type {string} */ key) => key.startsWith("metric:"))[0] ?? null);
  };

  /** "train:learning_rate" in words; a user's own names stay what they are. @param {string} key */
  const labelOf = (key) => {
    const [group, name] = [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
    return group === "train" || group === "data" ? t(`lineage.column.${name}`) : name;
  };

  /** Axes chosen, or those that vary: parameters first, the objective last. */
  const axes = () => {
    const chosen = state.axes.map((key) => data.columns.find((column) => column.key === key)).filter((column) => column !== undefined);
    if (chosen.length) return chosen;
    const vary = data.columns.filter((column) => column.key !== state.objective && new Set(data.rows.map((row) => String(row.values[column.key]))).size > 1);
    const objective = data.columns.filter((column) => column.key === state.objective);
    return [...vary.slice(0, MOST_AXES - 1), ...objective];
  };

  const keep = () => {
    url.set({ o: state.objective, axis: state.axes, log: [...state.logs], sort: state.sort, desc: state.down ? "1" : null, px: state.x, py: state.y, brush: writeBrushes(brushes), tint: state.tint });
  };

  const tinted = () => Boolean(state.objective) && (state.tint === null ? data.rows.length > MANY : state.tint === "1");

  /** An axis so many places to the right. @param {string} key @param {number} by */
  const move = (key, by) => {
    const keys = axes().map((column) => column.key);
    const to = Math.min(keys.length - 1, Math.max(0, keys.indexOf(key) + by));
    keys.splice(keys.indexOf(key), 1);
    keys.splice(to, 0, key);
    state.axes = keys;
    draw();
  };

  const plot = () => ({
    columns: axes(), rows: data.rows, logs: state.logs, brushes,
    colour: tinted() ? tint(app, data.rows, state.objective) : (/** @type {Row} */ row) => app.selection.colour(row.run),
    onhover: highlight, onpick: pick, onbrush: draw, onmove: move,
  });

  /** @param {string | null} run */
  const highlight = (run) => {
    for (const element of root.querySelectorAll("[data-run]")) {
      element.classList.toggle("lit", run !== null && element.getAttribute("data-run") === run);
    }
    picture.classList.toggle("focus", run !== null);
  };

  /** To the run's curves. @param {string} run */
  const pick = (run) => app.router.go(app.url.link("overview", { run }));

  const draw = () => {
    const focus = document.activeElement?.getAttribute("data-focus");
    keep();
    app.charts.removeAll(cloud);
    if (!data.rows.length) {
      replace(root, nothing());
      return;
    }
    replace(root, head, body);
    replace(head, toolbar());
    const shown = plot();
    replace(picture, drawAxes(app, shown, Math.max(320, picture.clientWidth - 32), HEIGHT));
    replace(matters, importance());
    const dots = scatter(app, { columns: data.columns, rows: () => data.rows.filter((row) => kept(shown, row)), objective: state.objective, x: state.x, y: state.y, onpick: pick, onchange: (x, y) => (Object.assign(state, { x, y }), draw()) });
    replace(cloud, dots.element);
    dots.draw();
    replace(table, rowsTable(shown));
    if (focus) /** @type {HTMLElement | null} */ (root.querySelector(`[data-focus="${CSS.escape(focus)}"]`))?.focus();
  };

  const toolbar = () => {
    const numeric = data.columns.filter((column) => column.numeric).map((column) => ({ value: column.key, label: column.label }));
    const objective = select({ label: t("lineage.objective"), options: numeric, value: state.objective, onchange: (value) => ((state.objective = value), load()) });
    objective.box.dataset.focus = "objective";
    const tints = check({ label: t("lineage.tint"), checked: tinted(), onchange: (on) => ((state.tint = on === data.rows.length > MANY ? null : on ? "1" : "0"), draw()) });
    tints.box.dataset.focus = "tint";
    const count = data.rows.filter((row) => kept(plot(), row)).length;
    return h("div", { class: "toolbar" }, objective, tints, button(t("lineage.choose"), chooseAxes), picked.size > 1 && button(t("lineage.difference"), () => differenceDialog(app, data.columns, data.rows.filter((row) => picked.has(row.run)))), brushes.size > 0 && button(t("lineage.clear"), () => (brushes.clear(), draw())),
      h("span", { class: "muted" }, t("lineage.count", { n: count, all: data.rows.length })));
  };

  const chooseAxes = () => {
    const checked = new Set(axes().map((column) => column.key));
    const items = data.columns.map((column) => ({ value: column.key, label: column.label }));
    const list = checklist({ label: t("lineage.choose"), filter: t("lineage.filter"), all: t("common.all"), none: t("common.none"), items, checked, onchange: () => {} });
    const logs = h("div", { class: "stack" }, data.columns.filter((column) => column.numeric).map((column) => {
      const box = h("input", { type: "checkbox", checked: state.logs.has(column.key), onchange: () => (box.checked ? state.logs.add(column.key) : state.logs.delete(column.key)) });
      return h("label", { class: "check" }, box, h("span", null, t("lineage.log", { axis: column.label })));
    }));
    const done = button(t("lineage.apply"), () => {
      state.axes = data.columns.map((column) => column.key).filter((key) => checked.has(key));
      box.close();
      draw();
    }, { class: "primary" });
    const box = dialog({ title: t("lineage.choose"), body: h("div", { class: "lineage-row" }, list, logs), actions: [done], close: t("common.close") });
  };

  const importance = () => {
    const bars = data.importance.slice(0, 12).map(({ key, importance }) =>
      h("tr", null, h("th", { scope: "row" }, labelOf(key)), h("td", { class: "bar" }, h("i", { style: { width: `${importance * 100}%` } })), h("td", { class: "number" }, importance.toFixed(2))),
    );
    const title = h("h2", { class: "panel-title" }, t("lineage.importance", { objective: state.objective ? labelOf(state.objective) : "–" }));
    return [title, bars.length ? h("table", { class: "importance" }, h("tbody", null, bars)) : h("p", { class: "muted" }, t("lineage.too_few"))];
  };

  /** @param {import("./lineage/axes.js").Plot} shown */
  const rowsTable = (shown) => {
    const columns = data.columns;
    const by = columns.find((column) => column.key === state.sort);
    const rows = data.rows.filter((row) => kept(shown, row));
    if (by) rows.sort((a, b) => compare(a.values[by.key], b.values[by.key]) * (state.down ? -1 : 1));
    const sort = (/** @type {string} */ key) => () => (Object.assign(state, { sort: key, down: state.sort === key && !state.down }), draw());
    const direction = (/** @type {string} */ key) => (state.sort !== key ? "none" : state.down ? "descending" : "ascending");
    const head = columns.map((column) => h("th", { scope: "col", "aria-sort": direction(column.key) }, button(column.label, sort(column.key), { class: "link", "data-focus": `sort:${column.key}` })));
    const body = rows.map((row) =>
      h("tr", { "data-run": row.run, onpointerenter: () => highlight(row.run), onpointerleave: () => highlight(null) },
        h("th", { scope: "row" }, pickBox(row.run), h("i", { class: "swatch", style: { background: app.selection.colour(row.run) } }), " ", h("a", { href: app.url.link("overview", { run: row.run }) }, app.selection.run(row.run)?.name ?? row.run)),
        columns.map((column) => h("td", { class: column.numeric ? "number" : "ellipsis-cell", title: String(row.values[column.key] ?? "") }, cell(row, column)))),
    );
    return h("table", { class: "table" }, h("thead", null, h("tr", null, h("th", { scope: "col" }, t("lineage.run")), head)), h("tbody", null, body));
  };

  /** @param {string} run */
  const pickBox = (run) => {
    const label = t("lineage.pick", { run: app.selection.run(run)?.name ?? run });
    const box = h("input", { type: "checkbox", checked: picked.has(run), "aria-label": label, title: label, onchange: () => (box.checked ? picked.add(run) : picked.delete(run), replace(head, toolbar())) });
    return box;
  };

  /** @param {Row} row @param {Column} column */
  const cell = (row, column) => {
    const value = row.values[column.key];
    if (column.key === "data:pipeline" && value) return button(String(value), () => datasetDialog(app, row.run), { class: "link" });
    return value === undefined ? "–" : typeof value === "number" ? app.format.number(value, 5) : String(value);
  };

  const nothing = () => {
    const any = app.selection.all().some((run) => run.lineage);
    return empty({ title: t(any ? "lineage.none_selected" : "lineage.none"), text: t(any ? "lineage.none_selected_how" : "lineage.none_how"), code: any ? undefined : "SummaryCollector(summary_dir, custom_lineage_data={\"dropout\": 0.1})" });
  };

  /** The runs with lineage that are shown. */
  const shown = () => app.selection.runs().filter((run) => run.lineage).map((run) => run.id).join();
  let known = shown();
  const off = app.selection.on(() => {
    if (known === shown()) return;
    known = shown();
    load();
  });
  const offTheme = app.theme.on(draw);
  await load();
  return {
    update(change) {
      if (Object.values(change.runs).some((kinds) => kinds.includes("lineage"))) load();
    },
    unmount() {
      off();
      offTheme();
    },
  };
}

/** Missing values last; numbers by size, texts by name. @param {any} a @param {any} b */
function compare(a, b) {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}
