// Controls of the checkpoint page: what is shown, filters, and links to the run, its loss and its dumps.

import { button, segments } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { check, select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { columnsOf, plain } from "./tables.js";
import { csv, LARGEST } from "./rows.js";
import { MODES, MOST } from "./state.js";

/** @typedef {import("../../core/answers.js").SavedRow} SavedRow */
/** @typedef {import("../checkpoint.js").Checkpoints} Checkpoints */

/**
 * Create the controls of the checkpoint page: files, filters, and links to the run.
 * @param {Checkpoints} view
 */
export function toolbar(view) {
  const { app, state } = view;
  const { t } = app;
  const timelines = view.listed.series.filter(({ checkpoints }) => checkpoints.length > 1);
  const modes = MODES.filter((mode) => mode !== "timeline" || timelines.length);
  return [
    h(
      "div",
      { class: "toolbar" },
      h("h1", null, t("nav.checkpoint")),
      h("span", { class: "grow" }),
      links(view),
    ),
    h(
      "div",
      { class: "toolbar" },
      segments({
        label: t("dump.view"),
        options: modes.map((value) => ({ value, label: t(`checkpoint.mode.${value}`) })),
        value: state.mode,
        onchange: (mode) => view.change({ mode: /** @type {import("./state.js").State["mode"]} */ (mode) }),
      }),
      choosers(view, timelines),
    ),
    filters(view),
  ];
}

/**
 * Create the choice of series or files.
 * @param {Checkpoints} view
 * @param {Checkpoints["listed"]["series"]} timelines
 */
function choosers(view, timelines) {
  const { app, state, listed } = view;
  const { t, format } = app;
  if (state.mode === "timeline") {
    const options = timelines.map(({ key, checkpoints }) => ({
      value: key,
      label: `${key.slice(2)} (${checkpoints.length})`,
    }));
    const series = select({
      label: t("checkpoint.series"),
      options,
      value: state.series,
      onchange: (key) => view.change({ series: key, part: "", tensor: "" }),
    });
    const [file, second] = [view.whole()[0]?.id ?? "", view.whole().at(-1)?.id ?? ""];
    const ends = button(t("checkpoint.ends"), () => view.change({ mode: "compare", file, second }));
    return [series, partChooser(view), ends];
  }
  const files = listed.checkpoints.map(({ id, size }) => ({
    value: id,
    label: `${id.slice(2)} (${format.bytes(size)})`,
  }));
  const first = select({
    label: t("dump.weights.file"),
    options: files,
    value: state.file,
    onchange: (file) => view.change({ file, at: file }),
  });
  if (state.mode !== "compare") return first;
  const second = select({
    label: t("dump.weights.second"),
    options: files,
    value: state.second,
    onchange: (file) => view.change({ second: file, at: file }),
  });
  return [first, second];
}

/** Create the choice of the part of a long series, or return null. @param {Checkpoints} view */
function partChooser(view) {
  const { app, state } = view;
  const all = view.whole();
  if (all.length <= MOST) return null;
  const starts = Array.from({ length: Math.ceil(all.length / MOST) }, (_, part) => part * MOST);
  const ends = (/** @type {number} */ start) => [all[start], all[Math.min(start + MOST, all.length) - 1]];
  return select({
    label: app.t("checkpoint.part"),
    options: [
      { value: "", label: app.t("checkpoint.part.all", { n: MOST, count: all.length }) },
      ...starts.map((start, part) => ({
        value: String(part),
        label: ends(start)
          .map(({ label }) => label)
          .join(" – "),
      })),
    ],
    value: state.part,
    onchange: (part) => view.change({ part, tensor: "" }),
  });
}

/** Create the filters. @param {Checkpoints} view */
function filters(view) {
  const { app, state } = view;
  const { t } = app;
  const words = view.search;
  if (document.activeElement !== words.box) words.box.value = state.q;
  const unchanged = check({
    label: t("checkpoint.unchanged"),
    checked: state.unchanged,
    onchange: (on) => view.change({ unchanged: on }),
  });
  const lost = check({
    label: t("checkpoint.lost"),
    checked: state.lost,
    onchange: (on) => view.change({ lost: on }),
  });
  return h(
    "div",
    { class: "toolbar" },
    words,
    state.mode !== "tensors" && unchanged,
    lost,
    state.mode === "compare" && stateChooser(view),
    state.mode === "timeline" && orderChooser(view),
    h("span", { class: "grow" }),
    button("CSV", () => save(view)),
  );
}

/** Create the choice of the state of the differences that are shown. @param {Checkpoints} view */
function stateChooser(view) {
  const { app, state, answer } = view;
  const { t } = app;
  const counts = { ...(state.only && { [state.only]: 0 }), ...answer?.counts };
  const shown = Object.entries(counts).filter(([name, n]) => n || name === state.only);
  const choice = select({
    label: t("dump.column.state"),
    options: [
      { value: "", label: t("dump.compare.only.all") },
      ...shown.map(([value, n]) => ({ value, label: t(`dump.weights.count.${value}`, { n }) })),
    ],
    value: state.only,
    onchange: (only) => view.change({ only }),
  });
  choice.box.dataset.focus = "state";
  return choice;
}

/** Create the choice of the order of a timeline's rows. @param {Checkpoints} view */
function orderChooser(view) {
  const { app, state } = view;
  const order = select({
    label: app.t("checkpoint.order"),
    options: ["", LARGEST].map((value) => ({ value, label: app.t(`checkpoint.order.${value || "saved"}`) })),
    value: state.sort,
    onchange: (sort) => view.change({ sort, descending: sort === LARGEST }),
  });
  order.box.dataset.focus = "order";
  return order;
}

/**
 * Create links to the loss of the files' run and to its dumps, or return null if the run is unknown.
 * @param {Checkpoints} view
 */
function links(view) {
  const { app } = view;
  const run = view.run();
  if (!run) return null;
  const link = (/** @type {string} */ href, /** @type {string} */ key) =>
    h("a", { class: "button", href }, app.t(key, { run: run.name }));
  return [
    run.kinds.scalar && link(app.selection.linkOnly("scalar", run.id), "checkpoint.to_loss"),
    run.dumps.length > 0 &&
      link(app.url.link("dump", { dump: run.dumps[0], step: stepOf(view) }), "checkpoint.to_dump"),
  ];
}

/** Return the step of the chosen checkpoint; null if it is unknown. @param {Checkpoints} view */
function stepOf({ listed, state }) {
  const looked = state.at || (state.mode === "timeline" ? "" : state.file);
  const saved = listed.series.flatMap(({ checkpoints }) => checkpoints).find(({ id }) => id === looked);
  return saved?.step ?? null;
}

/** Download the shown rows as CSV. @param {Checkpoints} view */
function save(view) {
  const { app, state } = view;
  const rows = view.shown();
  const saved = view.series();
  const { mode } = state;
  /** @type {unknown[][]} */
  let table;
  if (mode === "timeline") {
    const heads = saved.flatMap(({ label }) =>
      ["state", "relative_change", "non_finite"].map((key) => `${label} ${key}`),
    );
    const cells = (/** @type {SavedRow} */ { states = [], changes = [], non_finite: broken = [] }) =>
      saved.flatMap((_, at) => [states[at], changes[at], broken[at]]);
    table = [["name", ...heads], ...rows.map((row) => [row.name, ...cells(row)])];
  } else {
    const keys = columnsOf(mode).map(({ key }) => key);
    table = [keys, ...rows.map((row) => keys.map((key) => plain(app, row, key)))];
  }
  const address = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
  h("a", { href: address, download: `checkpoint-${mode}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Create the empty state for a file or series that does not exist.
 * @param {import("../checkpoint.js").Checkpoints} view
 * @param {string} file
 */
export function noFile(view, file) {
  const { t } = view.app;
  const proceed = () => view.change({ mode: undefined, series: "", file: "", second: "" });
  const action = button(t("checkpoint.others"), proceed, { class: "primary" });
  return [
    h("h1", null, t("nav.checkpoint")),
    empty({ title: t("error.unknown_checkpoint", { file }), action }),
  ];
}
