// Columns of the runs table: key in the address, heading, value to sort by, and cell.

import { NON_FINITE_BADGE } from "../hatching.js";
import { viewIcon } from "../icons.js";
import { claimText } from "../../core/claims.js";
import { h } from "../../core/dom.js";
import { isIncidental, SEED } from "../../core/run_traits.js";
import { directoryColumn } from "./bases.js";
import { titleOf } from "./joined.js";
import { sparkline } from "./sparkline.js";
import { durationText, startText } from "./recorded_times.js";
import { bestEnd, durationOf, isTorn, lastStep, startOf, stateOf, stateOrder } from "./values.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {ReturnType<typeof import("./values.js").createValues>} Values */
/** @typedef {typeof PARTS[number]} Part */
/**
 * @typedef {Object} TableColumn
 * @property {string} key
 * @property {string} label
 * @property {boolean} [number]
 * @property {string} [of] the scalar whose statistic it shows, written above its label
 * @property {"ascending" | "descending"} [first] how the first click sorts: the best on top
 * @property {(run: Run) => unknown} [value]
 * @property {(run: Run, state: {now: number}) => import("../../core/dom.js").Child} cell
 * @property {number} [width] px, if a person chose one
 * @property {number} [left] px at which it stays while the table scrolls
 */

const SETTINGS = 4; // hyper-parameters that vary and have a column by themselves

export const PARTS = /** @type {const} */ (["last", "min", "max", "best"]);

/**
 * Return whether a kind of column is a statistic of a scalar.
 * @param {string} kind
 * @returns {kind is Part}
 */
function isPart(kind) {
  return /** @type {readonly string[]} */ (PARTS).includes(kind);
}

/**
 * Return the keys of the columns before the user has chosen any: results, settings, then facts. The second
 * result is one whose best value is at the other end, such as an accuracy beside a loss. The kinds of data
 * have a column only where runs differ in them. Paths and times are no settings, and seeds come last.
 * @param {string[]} tags
 * @param {string[]} hypers
 * @param {Run[]} runs
 */
export function defaultColumns(tags, hypers, runs) {
  const kinds = new Set(runs.map((run) => Object.keys(run.kinds).sort().join()));
  const own = (/** @type {string} */ name) =>
    isIncidental(
      name,
      runs.map((run) => run.hyper?.[name]),
    );
  const settings = [...hypers.filter((name) => !own(name)), ...hypers.filter((name) => SEED.test(name))];
  const main = tags.slice(0, 1).flatMap((tag) => [`spark:${tag}`, `last:${tag}`, `best:${tag}`]);
  const others = tags.slice(1);
  const opposite = others.find((tag) => bestEnd(tag) && bestEnd(tag) !== bestEnd(tags[0])) ?? others[0];
  const second = (opposite ? [opposite] : []).flatMap((tag) => [`last:${tag}`, `best:${tag}`]);
  return [
    ...main,
    ...second,
    ...settings.slice(0, SETTINGS).map((name) => `hyper:${name}`),
    "state",
    "step",
    "updated",
    ...(runs.some((run) => run.group) ? ["group"] : []),
    ...(kinds.size > 1 || runs.length === 1 ? ["kinds"] : []),
  ];
}

/**
 * Return the columns in which a run has a value. Scalars whose values have not come keep their columns.
 * @param {TableColumn[]} columns
 * @param {Run[]} runs
 * @param {Pick<Values, "known" | "memberOf">} values
 */
export function filled(columns, runs, values) {
  const has = (/** @type {unknown} */ value) => value !== undefined && value !== null && value !== "";
  return columns.filter(({ key, of, value }) => {
    const name = key.slice(key.indexOf(":") + 1);
    if (!runs.length || (of !== undefined && !values.known(name))) return true;
    if (value) return runs.some((run) => has(value(run)));
    return !key.startsWith("spark:") || runs.some((run) => values.memberOf(run, name) !== undefined);
  });
}

/**
 * Return the columns of the given keys. Unknown keys are skipped.
 * @param {App} app
 * @param {Values} values
 * @param {(tag: string, run: string) => ArrayLike<number> | undefined} curve
 * @param {string[]} keys
 * @returns {TableColumn[]}
 */
export function columnsOf(app, values, curve, keys) {
  return keys.flatMap((key) => columnOf(app, values, curve, key) ?? []);
}

/**
 * Return the column of a key, or null if the key is unknown.
 * @param {App} app
 * @param {Values} values
 * @param {(tag: string, run: string) => ArrayLike<number> | undefined} curve
 * @param {string} key
 * @returns {TableColumn | null}
 */
function columnOf(app, values, curve, key) {
  const [kind, ...words] = key.split(":");
  const name = words.join(":");
  if (kind === "hyper") return hyperColumn(app, key, name);
  if (kind === "spark") {
    const known = values.order.members(name).some((tag) => values.tags().includes(tag));
    if (!known) return null;
    return {
      key,
      of: titleOf(name),
      label: app.t("runs.part.spark"),
      cell: (run) =>
        sparkline(
          curve(values.memberOf(run, name) ?? name, run.id),
          app.selection.has(run.id) ? app.selection.colour(run.id) : app.theme.colour("--line-strong"),
        ),
    };
  }
  if (isPart(kind)) {
    return scalarColumn(app, values, key, kind, name);
  }
  return factColumns(app)[key] ?? null;
}

/**
 * Return the column of a hyperparameter.
 * @param {App} app
 * @param {string} key
 * @param {string} name
 * @returns {TableColumn}
 */
function hyperColumn(app, key, name) {
  const value = (/** @type {Run} */ run) => run.hyper?.[name] ?? run.metrics?.[name];
  return {
    key,
    label: name,
    value,
    number: true,
    cell(run) {
      const of = value(run);
      return typeof of === "number" ? app.format.setting(of) : String(of ?? "");
    },
  };
}

/**
 * Return the column of a scalar's last, smallest, largest or best value.
 * @param {App} app
 * @param {Values} values
 * @param {string} key
 * @param {"last" | "min" | "max" | "best"} statistic
 * @param {string} tag
 * @returns {TableColumn}
 */
function scalarColumn(app, values, key, statistic, tag) {
  const value = (/** @type {Run} */ run) => values.scalar(run, tag, statistic);
  return {
    key,
    of: titleOf(tag),
    label: app.t(`runs.part.${statistic}`),
    number: true,
    first: bestEnd(tag) === "max" ? "descending" : "ascending",
    value,
    cell: (run) => numberCell(app, value(run)),
  };
}

/**
 * Return the content of a number's cell: "" if it is missing, a badge if it is not finite.
 * @param {App} app
 * @param {number | undefined} value
 */
function numberCell(app, value) {
  if (value === undefined) return "";
  return Number.isFinite(value)
    ? app.format.number(value)
    : h("span", { class: NON_FINITE_BADGE }, app.format.number(value));
}

/**
 * Return the columns of facts about runs by their keys.
 * @param {App} app
 * @returns {Record<string, TableColumn>}
 */
export function factColumns(app) {
  const columns = [
    ...stateColumns(app),
    ...directoryColumn(app),
    ...contentColumns(app),
    ...timeColumns(app),
    ...noteColumns(app),
  ];
  return Object.fromEntries(columns.map((column) => [column.key, column]));
}

/** Return the column of the run's state. @param {App} app @returns {TableColumn[]} */
function stateColumns(app) {
  return [
    {
      key: "state",
      label: app.t("runs.col.state"),
      value: (run) => stateOrder(run, app.selection.list().now),
      cell: (run, { now }) => stateMark(app, run, now),
    },
  ];
}

/** Return the columns of the last step and of the kinds of data. @param {App} app @returns {TableColumn[]} */
function contentColumns(app) {
  const { t, format } = app;
  return [
    {
      key: "step",
      label: t("common.step"),
      number: true,
      value: lastStep,
      cell: (run) => (lastStep(run) === undefined ? "" : format.step(lastStep(run))),
    },
    {
      key: "kinds",
      label: t("runs.col.kinds"),
      value: (run) => Object.keys(run.kinds).length,
      cell: (run) => kindLinks(app, run),
    },
  ];
}

/** Return the columns of times, duration and size. @param {App} app @returns {TableColumn[]} */
function timeColumns(app) {
  const { t, format } = app;
  return [
    {
      key: "updated",
      label: t("runs.col.last_event"),
      value: (run) => run.last_event,
      cell: (run, { now }) =>
        h(
          "span",
          { title: format.time(run.last_event), "data-wall": run.last_event },
          format.ago(now - run.last_event, t),
        ),
    },
    {
      key: "created",
      label: t("runs.col.created"),
      value: startOf,
      cell: (run) => startText(app, run),
    },
    {
      key: "duration",
      label: t("runs.col.duration"),
      number: true,
      value: durationOf,
      cell: (run) => durationText(app, run),
    },
    {
      key: "size",
      label: t("runs.col.size"),
      number: true,
      value: (run) => run.size,
      cell: (run) => format.bytes(run.size),
    },
  ];
}

/** Return the columns of notes, labels, groups and damage. @param {App} app @returns {TableColumn[]} */
function noteColumns({ t }) {
  return [
    {
      key: "labels",
      label: t("runs.col.labels"),
      value: (run) => run.labels.join(),
      cell: (run) => run.labels.map((label) => h("span", { class: "badge accent" }, label)),
    },
    { key: "group", label: t("runs.col.group"), value: (run) => run.group, cell: (run) => run.group },
    {
      key: "note",
      label: t("runs.col.note"),
      value: (run) => run.note,
      cell: (run) => h("span", { class: "ellipsis note", title: run.note }, run.note.split("\n")[0]),
    },
    {
      key: "damage",
      label: t("runs.col.damage"),
      number: true,
      value: (run) => run.damage,
      cell: (run) => run.damage || "",
    },
  ];
}

/** Return the translated word of each state. @param {App} app @returns {Record<string, string>} */
export function stateWords({ t }) {
  const names = ["running", "stopped", "finished", "failed", "unrecorded"].map((state) => [
    state,
    t(`runs.state.${state}`),
  ]);
  return { ...Object.fromEntries(names), quiet: t("runs.state.quiet.word") };
}

/** @type {("reading" | ReturnType<typeof stateOf>)[]} */
const WORST_FIRST = ["reading", "failed", "stopped", "quiet", "running", "unrecorded", "finished"];

/** Create the marks of a run's state. @param {App} app @param {Run} run @param {number} now */
export function stateMark(app, run, now) {
  return stateMarks(app, [run], now);
}

/**
 * Create the marks of the state of a run, or the worst state of the ranks of a job: its word and number of
 * ranks or the progress of reading, and badges, or null, for a loss that ends in NaN or infinity, for a dump
 * of a flight recorder and for an incomplete record.
 * @param {App} app
 * @param {Run[]} runs
 * @param {number} now
 */
export function stateMarks(app, runs, now) {
  const { t } = app;
  const states = runs.map((run) => (run.read < run.total ? "reading" : stateOf(run, now)));
  const state = WORST_FIRST.find((name) => states.includes(name)) ?? "finished";
  const those = runs.filter((_, row) => states[row] === state);
  const minutes = Math.floor((now - Math.max(...those.map((run) => run.last_event))) / 60);
  const word = t(`runs.state.${state}`, { n: minutes });
  const some = { n: those.length, count: runs.length, state: word };
  const text = those.length < runs.length ? t("runs.state.some", some) : word;
  const total = (/** @type {"read" | "total"} */ what) => runs.reduce((sum, run) => sum + run[what], 0);
  /** The claims of up to three runs, a line each. @param {"divergence" | "fault_dumps"} kind */
  const texts = (kind) =>
    runs
      .filter((run) => run[kind].length)
      .slice(0, 3)
      .map((run) => {
        const claims = run[kind].map((claim) => claimText(app, claim)).join(" ");
        return runs.length > 1 ? `${t("runs.rank", { rank: run.rank ?? run.name })}: ${claims}` : claims;
      })
      .join("\n");
  const [broken, dumped] = [texts("divergence"), texts("fault_dumps")];
  return [
    h(
      "span",
      { class: `state ${state}`, title: t(`runs.state.${state}.why`, { error: those[0].failure }) },
      state === "reading" ? `${Math.floor((100 * total("read")) / total("total"))} %` : text,
    ),
    broken ? h("span", { class: NON_FINITE_BADGE, title: broken }, t("runs.non_finite")) : null,
    dumped ? h("span", { class: "badge bad", title: dumped }, t("runs.recorder")) : null,
    runs.some((run) => isTorn(run, now))
      ? h("span", { class: "badge warn", title: t("damage.torn.why") }, t("damage.torn"))
      : null,
  ];
}

/** Create one link for each kind of data in a run. @param {App} app @param {Run} run */
function kindLinks(app, run) {
  /** @type {Record<string, number>} */
  const counts = { ...run.kinds, lineage: run.lineage ? 1 : 0, dump: run.dumps.length };
  const kinds = app.boot.views
    .filter(({ name, navigation }) => navigation && counts[name])
    .map(({ name }) => ({ kind: name, count: name === "lineage" ? 0 : counts[name] }));
  return h(
    "span",
    { class: "kinds" },
    kinds.map(({ kind, count }) => {
      const name = app.t("runs.kind", { kind: app.t(`nav.${kind}`), n: count });
      return h(
        "a",
        {
          href: app.selection.linkOnly(kind, run.id),
          title: count ? name : app.t(`nav.${kind}`),
          "aria-label": name,
          "data-focus": kind,
        },
        viewIcon(app, kind),
      );
    }),
  );
}
