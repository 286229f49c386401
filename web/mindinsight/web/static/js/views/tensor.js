// Tensors: any slice of any step as a table or heat map, and the spread of the values over the steps.

import { button, segments } from "../components/button.js";
import { empty } from "../components/empty.js";
import { check, select, slider } from "../components/field.js";
import { grownRuns } from "../core/changes.js";
import { h, replace, throttle } from "../core/dom.js";
import { tagsOf } from "../core/tags.js";
import { heat, ramp } from "./histogram/figures.js";
import { factsTable, sliceTable } from "./tensor/table.js";

/** @typedef {import("../core/types.js").App} App */

const WINDOW = 200;

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  const { t, url } = app;
  const state = {
    run: url.get("run", ""),
    tag: url.get("tag", ""),
    mode: url.get("m", "table"),
    dims: url.get("dims", ""),
    row: -1,
    held: false,
    top: 0,
    left: 0,
    digits: Number(url.get("d", "4")),
    scientific: url.get("e") === "1",
  };
  /** @type {import("../core/tags.js").Tag[]} */
  let tags = [];
  /** @type {any} */
  let steps = null;
  /** The tensor that the steps belong to: while those of another are on their way, they name no row of it. */
  let stepsOf = "";
  let turn = 0;
  const head = h("div", null);
  const saved = h("div", { class: "row" });
  const body = h("div", { class: "tensor-body" });
  replace(root, head, body);

  const keep = () =>
    url.set({ run: state.run, tag: state.tag, m: state.mode === "table" ? null : state.mode, dims: state.dims, d: state.digits === 4 ? null : state.digits, e: state.scientific ? "1" : null });

  /** @param {Partial<typeof state>} some */
  const change = async (some) => {
    if (stepsOf !== chosen() && !("tag" in some || "run" in some)) return;
    Object.assign(state, some);
    if ("tag" in some || "run" in some) {
      Object.assign(state, { dims: "", row: -1, held: false, top: 0, left: 0 });
      const runs = tags.find((one) => one.tag === state.tag)?.runs ?? [];
      if (!runs.includes(state.run)) state.run = runs[0];
      if (!(await readSteps())) return;
    }
    keep();
    if ("tag" in some || "run" in some || "mode" in some) replace(head, toolbar());
    else replace(saved, downloads());
    draw();
  };

  const readTags = async () => {
    tags = await tagsOf(app, "tensor");
    const known = tags.find((one) => one.tag === state.tag) ?? tags[0];
    state.tag = known?.tag ?? "";
    if (known && !known.runs.includes(state.run)) state.run = known.runs[0];
  };

  const chosen = () => JSON.stringify([state.run, state.tag]);

  /** Whether the steps at hand are those of the tensor that is chosen now. */
  const readSteps = async () => {
    const asked = chosen();
    const answer = state.tag ? await app.api.columns("v2/tensor/steps", { run: state.run, tag: state.tag }) : null;
    if (asked !== chosen()) return false;
    steps = answer;
    stepsOf = asked;
    if (steps && !state.held) state.row = steps.step.length - 1;
    if (steps && !state.dims) state.dims = steps.first;
    return true;
  };

  const toolbar = () => {
    if (!steps) return null;
    const runs = tags.find((one) => one.tag === state.tag)?.runs ?? [];
    const modes = ["table", "heat", "distribution"].map((value) => ({ value, label: t(`tensor.mode.${value}`) }));
    const move = slider({ label: t("tensor.step"), values: steps.step, value: steps.step[state.row], delay: 80, onchange: (step) => change({ row: steps.step.lastIndexOf(step), held: step !== steps.step.at(-1) }) });
    const dims = h("input", { type: "text", class: "mono", value: state.dims, "aria-label": t("tensor.dims"), title: t("tensor.dims_how"), onchange: () => change({ dims: dims.value.trim(), top: 0, left: 0 }) });
    const digits = slider({ label: t("tensor.digits"), min: 0, max: 12, step: 1, value: state.digits, onchange: (value) => change({ digits: value }) });
    return [
      h("div", { class: "toolbar" },
        segments({ label: t("tensor.mode"), options: modes, value: state.mode, onchange: (value) => change({ mode: value }) }),
        select({ label: t("tensor.tag"), options: tags.map((one) => ({ value: one.tag, label: one.tag })), value: state.tag, onchange: (value) => change({ tag: value }) }),
        select({ label: t("tensor.run"), options: runs.map((id) => ({ value: id, label: app.selection.run(id)?.name ?? id })), value: state.run, onchange: (value) => change({ run: value }) }),
        h("span", { class: "badge" }, `${steps.type} [${steps.shape.join(", ")}]`)),
      h("div", { class: "toolbar" }, state.mode !== "distribution" && [move, h("label", { class: "field inline" }, h("span", { class: "label" }, t("tensor.dims")), dims)],
        state.mode === "table" && [digits, check({ label: t("tensor.scientific"), checked: state.scientific, onchange: (on) => change({ scientific: on }) })],
        replace(saved, downloads())),
    ];
  };

  const downloads = () =>
    ["npy", "csv"].map((format) =>
      h("a", { class: "button", href: app.api.build("v2/tensor/download", { run: state.run, tag: state.tag, row: state.row, dims: format === "csv" ? state.dims : null, format }), download: "" }, format.toUpperCase()),
    );

  const draw = async () => {
    const mine = ++turn;
    app.charts.removeAll(body);
    if (!steps) {
      replace(body, empty({ title: t("tensor.none"), text: t("tensor.none_how"), code: 'record.add_value("tensor", "weight", weight)' }));
      return;
    }
    const params = { run: state.run, tag: state.tag };
    try {
      const spread = state.mode === "distribution";
      const answer = spread ? await app.api.columns("v2/tensor/distribution", params) : await app.api.columns("v2/tensor/slice", { ...params, row: state.row, dims: state.dims, top: state.top, left: state.left });
      if (mine !== turn) return; // something else was asked for meanwhile
      if (spread) drawDistribution(answer);
      else drawSlice(answer);
    } catch (/** @type {any} */ error) {
      if (mine !== turn) return;
      replace(body, empty({ icon: "warning", title: t(error.key ?? "error.view", error.vars) }));
    }
  };

  /** @param {any} part */
  const drawSlice = (part) => {
    const facts = h("div", { class: "tensor-facts" }, factsTable(app, part.slice, t("tensor.of_slice")), factsTable(app, part.whole, t("tensor.of_whole")));
    if (state.mode === "heat") {
      const plot = h("div", { class: "chart tensor-heat", role: "img", "aria-label": `${state.tag} ${part.dims}` });
      replace(body, h("div", { class: "panel grow" }, plot, pager(part)), facts);
      app.charts.draw(plot, () => sliceHeat(app, part));
      return;
    }
    replace(body, h("div", { class: "panel grow" }, h("div", { class: "scroll tensor-scroll", tabindex: "0" }, sliceTable(app, part, state)), pager(part)), facts);
  };

  /** @param {any} part */
  const pager = (part) => {
    const [rows, columns] = part.window;
    const step = (/** @type {"top" | "left"} */ side, /** @type {number} */ by) => change({ [side]: Math.max(0, state[side] + by * WINDOW) });
    const where = t("tensor.window", { top: part.top, bottom: part.top + rows - 1, rows: part.rows, left: part.left, right: part.left + columns - 1, columns: part.columns });
    return h("div", { class: "row small" }, h("span", { class: "grow" }, where),
      part.top > 0 && button("↑", () => step("top", -1), { "aria-label": t("tensor.up") }), part.top + rows < part.rows && button("↓", () => step("top", 1), { "aria-label": t("tensor.down") }),
      part.left > 0 && button("←", () => step("left", -1), { "aria-label": t("tensor.left") }), part.left + columns < part.columns && button("→", () => step("left", 1), { "aria-label": t("tensor.right") }));
  };

  /** @param {any} answer */
  const drawDistribution = (answer) => {
    const plot = h("div", { class: "chart tensor-heat", role: "img", "aria-label": state.tag });
    replace(body, h("div", { class: "panel grow" }, plot, h("p", { class: "small muted" }, t("tensor.distribution", { shown: answer.step.length, n: answer.count }))));
    const series = { ...answer, shown: answer.step.length };
    app.charts.draw(plot, () => heat(app, series, "step"));
  };

  const refresh = throttle(async () => {
    const held = tags.some((one) => one.tag === state.tag && one.runs.includes(state.run));
    await readTags();
    if (!(await readSteps())) return;
    if (!head.contains(document.activeElement)) replace(head, toolbar());
    if (!state.held || !held) draw();
  }, 1000);

  const start = async () => {
    await readTags();
    if (!(await readSteps())) return;
    replace(head, toolbar());
    await draw();
  };
  const off = app.selection.on((reason) => {
    const waits = !steps && app.selection.runs().some((run) => run.kinds.tensor);
    if (reason === "runs" || waits) start();
  });
  const offTheme = app.theme.on(() => state.mode !== "table" && draw());
  await start();
  return {
    update(change) {
      if (grownRuns(app, change, "tensor").length) refresh();
    },
    unmount() {
      off();
      offTheme();
    },
  };
}

/** @param {App} app @param {any} part */
function sliceHeat(app, part) {
  const [rows, columns] = part.window;
  const z = Array.from({ length: rows }, (_, row) => part.values.subarray(row * columns, (row + 1) * columns));
  const bar = { thickness: 10, outlinewidth: 0, nticks: 6 };
  const trace = { type: "heatmap", z, x0: part.left, y0: part.top, colorscale: ramp(app), colorbar: bar, hovertemplate: "[%{y}, %{x}] %{z:.6g}<extra></extra>", hoverongaps: false };
  return { data: [trace], layout: { ...app.theme.plotly(), yaxis: app.theme.axis({ autorange: "reversed", nticks: 8 }), xaxis: app.theme.axis({ nticks: 8 }) } };
}
