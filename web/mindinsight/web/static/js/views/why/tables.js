// Tables of settings by their effect and of scalars by the step at which they diverge.

import { NON_FINITE_BADGE, valueClass } from "../../components/hatching.js";
import { longName } from "../../components/long_name.js";
import { onsetCells } from "../../components/onset_bar.js";
import { tableHead } from "../../components/table_head.js";
import { h } from "../../core/dom.js";
import { exactPattern } from "../../core/patterns.js";
import { plainText } from "../../core/format.js";
import { members } from "./groups.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").Setting} Setting */
/** @typedef {import("../../core/answers.js").Metric} Metric */

/**
 * @typedef {object} Whole
 * @property {number} last step of the longest run
 * @property {string} by scalar by which the runs were split, or ""
 */

const VALUES = 4; // values of a group that are written out

/** Return whether the groups differ in a scalar. @param {Metric} metric */
export const changes = ({ kind, since }) =>
  since !== null || ["not_finite", "parts", "interval", "apart"].includes(kind);

/** Return the step from which the groups differ, or null. @param {Metric} metric */
export const onsetOf = ({ onset, since, broken }) =>
  since && (broken === null || since.step < broken) ? since.step : onset;

/**
 * Create the table of settings by how much they separate good and bad runs.
 * @param {App} app
 * @param {Setting[]} settings
 * @param {number[]} runs numbers of good and bad runs
 */
export function settingsTable(app, settings, runs) {
  const { t } = app;
  const head = tableHead(
    [t("why.setting"), t("why.good"), t("why.bad"), t("why.effect"), t("why.chance")],
    [4],
  );
  const rows = settings.map(({ name, effect, chance, good, bad, recorded }) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, name),
      [good, bad].map((values, i) => valuesCell(valuesText(app, values, runs[i] - recorded[i]))),
      h(
        "td",
        null,
        effect === null ? "–" : meter(effect, t("why.effect.of", { percent: Math.round(100 * effect) })),
      ),
      h("td", { class: "number", title: t("why.chance.how") }, chance === null ? "–" : luck(chance)),
    ),
  );
  return h("table", { class: "table" }, head, h("tbody", null, rows));
}

/** Create the cell of a group's values. @param {string} text */
const valuesCell = (text) => h("td", { class: valueClass(text, "why-values") }, text);

/** Format a probability in percent. @param {number} share */
const luck = (share) => `${share < 0.01 ? "< 1" : Math.round(100 * share)}%`;

/** Create a bar for a share. @param {number} share @param {string} label */
function meter(share, label) {
  const bar = h("i", { style: { width: `${Math.round(100 * share)}%` } });
  return h(
    "span",
    { class: "row" },
    h("span", { class: "progress effect", "aria-hidden": "true" }, bar),
    label,
  );
}

/**
 * Return a group's values as text: a range of more than four numbers, otherwise at most four values.
 * @param {App} app
 * @param {unknown[]} values different ones
 * @param {number} [unset] runs without a value
 */
export function valuesText(app, values, unset = 0) {
  const { t, format } = app;
  const known = values.filter((value) => value !== null);
  const numbers = known.flatMap((value) =>
    typeof value === "number" && Number.isFinite(value) ? [value] : [],
  );
  const missing = unset ? [known.length ? t("why.unset_in", { n: unset }) : t("why.unset")] : [];
  if (known.length > VALUES && numbers.length === known.length) {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)].map((value) => format.setting(value));
    return [t("why.range", { low, high, n: known.length }), ...missing].join(", ");
  }
  const sorted = numbers.length === known.length ? numbers.sort((a, b) => a - b) : known;
  const text = (/** @type {unknown} */ value) =>
    typeof value === "number" ? format.setting(value) : plainText(value);
  const more = known.length > VALUES ? ` ${t("why.more", { n: known.length - VALUES })}` : "";
  return [...(known.length ? [sorted.slice(0, VALUES).map(text).join(", ") + more] : []), ...missing].join(
    ", ",
  );
}

/**
 * Create the table of scalars by the step at which good and bad runs diverge.
 * @param {App} app
 * @param {Metric[]} metrics
 * @param {Map<string, import("./groups.js").Group>} groups
 * @param {Whole} whole
 */
export function metricsTable(app, metrics, groups, whole) {
  const { t } = app;
  const head = tableHead(
    [
      t("scalar.compare.tag"),
      t("why.what"),
      t("why.from"),
      t("why.course"),
      h("span", { title: t("why.ends") }, t("why.shift")),
      t("why.look"),
    ],
    [2, 4],
  );
  const rows = metrics.map((metric) => metricRow(app, metric, groups, whole));
  return h("table", { class: "table" }, head, h("tbody", null, rows));
}

/**
 * Create the row of a scalar.
 * @param {App} app
 * @param {Metric} metric
 * @param {Map<string, import("./groups.js").Group>} groups
 * @param {Whole} whole
 */
function metricRow(app, metric, groups, { last, by }) {
  const { t, format } = app;
  const { tag, kind, broken, runs, from_start: fromStart, since } = metric;
  const onset = onsetOf(metric);
  const classes = {
    not_finite: NON_FINITE_BADGE,
    parts: "badge warn",
    interval: "badge warn",
    since: "badge warn",
  };
  const later = broken !== null && onset !== null && onset < broken;
  const shown = since && kind === "too_few" ? "since" : kind;
  const split = tag === by;
  const what = h(
    "span",
    { class: /** @type {Record<string, string>} */ (classes)[shown] ?? "badge" },
    t(`why.kind.${later ? (runs || since ? "differs_then" : "grows_then") : shown}`),
  );
  // that the means of two groups agree at each step does not show that the split is without effect
  const kindShown = split && !changes(metric) ? null : what;
  const ends = split || changes(metric) ? (since ?? metric.at_end) : null;
  const share = ends?.good ? (ends.bad - ends.good) / Math.abs(ends.good) : null;
  const bothSides = metric.rise !== null && metric.fall !== null;
  const sides = bothSides ? [metric.rise, metric.fall] : [share];
  const percent = sides
    .flatMap((side) => (side === null ? [] : `${signed(format.number(100 * side, 3))} %`))
    .join(" / ");
  const exact = since !== null || kind === "apart" || fromStart || onset === broken;
  return h(
    "tr",
    { class: changes(metric) ? null : "muted" },
    h("th", { scope: "row" }, longName(tag)),
    h("td", null, kindShown, split ? h("span", { class: "muted small" }, ` ${t("why.by")}`) : null),
    ...onsetCells(app, onset, exact, last),
    h("td", { class: "number", title: t(bothSides ? "why.sides" : "why.ends") }, percent),
    h("td", { class: "look" }, links(app, tag, groups)),
  );
}

/** Return a number's text with its sign. @param {string} text */
const signed = (text) => (text.startsWith("−") ? text : `+${text}`);

/**
 * Create links to the curves of both groups, and to histograms and dumps if a run has some.
 * @param {App} app
 * @param {string} tag
 * @param {Map<string, import("./groups.js").Group>} groups
 */
function links(app, tag, groups) {
  const ids = [...members(groups, "good"), ...members(groups, "bad")];
  const runs = ids.map((id) => app.selection.run(id)).filter((run) => run !== undefined && run !== null);
  const list = ids.map((id) => id.slice(2).replaceAll("%", "%25").replaceAll(",", "%2C") || ".").join(",");
  const link = (/** @type {string} */ view, /** @type {Record<string, unknown>} */ more) =>
    h("a", { href: app.url.link(view, { runs: list, ...more }) }, app.t(`nav.${view}`));
  return [
    link("scalar", { q: exactPattern(tag) }),
    runs.some((run) => run?.kinds.histogram) ? link("histogram", { m: "heat" }) : null,
    runs.some((run) => run?.dumps.length) ? link("dump", { m: "" }) : null,
  ];
}
