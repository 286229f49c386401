// Legend of the colours that a dump gives to a graph, and the share of the dump that was found in it.

import { h } from "../../core/dom.js";
import { isNonFinite, SIGNS, symptomWord } from "./dump_marks.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").Colouring} Colouring of v2/graph/dump */

/**
 * Create the legend of the colours that a dump gives to a graph, with the share of the dump that was found in
 * it.
 * @param {App} app
 * @param {Colouring} coloured
 * @param {string} paint
 */
export function dumpLegend(app, coloured, paint) {
  return [
    ...(paint === "symptoms"
      ? symptoms(app, coloured)
      : [...(coloured.judged ? scale(app, coloured) : nothingJudged(app)), ...nonFiniteSigns(app, coloured)]),
    ...coverage(app, coloured),
  ];
}

/**
 * Return one sign per kind of anomaly. If there is none, return the statement that none was found, once
 * all tensors were measured, unless claims tell of others. Claims about norms contradict none.
 * @param {App} app
 * @param {Colouring} found
 */
function symptoms({ t }, { counts, done, judged, unjudged, claims }) {
  const entries = Object.entries(counts).map(([kind, n]) => sign(t, kind, Number(n), counts));
  const others = claims.some(({ key }) => key.startsWith("claim.graph."));
  if (entries.length || !done || (judged && others)) return entries;
  return [h("span", null, t(`graph.dump.${healthText(judged, unjudged)}`))];
}

/**
 * Return the key of the statement made when no anomaly was found. It covers only what is both in the dump and
 * in the graph.
 * @param {number} judged
 * @param {number} unjudged
 */
export function healthText(judged, unjudged) {
  if (!judged) return "unjudged";
  return unjudged ? "fine_here" : "fine";
}

/** Return the statement that nothing could be judged. @param {App} app */
function nothingJudged({ t }) {
  return [h("span", null, t("graph.dump.unjudged"))];
}

/**
 * Return a sign with its number of operators.
 * @param {App["t"]} t
 * @param {string} kind
 * @param {number} n
 * @param {Record<string, number>} counts of all kinds
 */
function sign(t, kind, n, counts) {
  return h(
    "span",
    null,
    h(
      "span",
      { class: `graph-sign ill ${kind}${isNonFinite(kind) ? " hatched" : ""}`, "aria-hidden": "true" },
      SIGNS[/** @type {keyof typeof SIGNS} */ (kind)],
    ),
    ` ${t(`graph.symptom.${symptomWord(kind, counts)}`, { n })}`,
  );
}

/**
 * Return the legend of non-finite values, which are hatched whatever the colour scale.
 * @param {App} app
 * @param {{counts?: Record<string, number>}} coloured
 */
export function nonFiniteSigns({ t }, { counts = {} }) {
  return Object.entries(counts)
    .filter(([kind]) => isNonFinite(kind))
    .map(([kind, n]) => sign(t, kind, n, counts));
}

/**
 * Return the colour scale with its ends.
 * @param {App} app
 * @param {{least?: number | null, most?: number | null}} found
 */
export function scale({ t, format }, { least = null, most = null }) {
  if (least === null || most === null) return [h("span", { class: "muted" }, t("graph.dump.nothing"))];
  return [
    h(
      "span",
      { class: "row graph-scale" },
      format.number(least),
      h("i", { "aria-hidden": "true" }),
      format.number(most),
      " ",
      h("span", { class: "muted" }, t("graph.dump.log")),
    ),
  ];
}

/**
 * Return the numbers of operators matched in renamed modules, by order or by module, of ambiguous operators,
 * and of those missing from the graph.
 * @param {Pick<Colouring, "dumped" | "found" | "by_order" | "by_module" | "renamed" | "ambiguous">} counts
 */
function wayCounts({ dumped, found, by_order, by_module, renamed, ambiguous }) {
  const nameless = found ? dumped - found - ambiguous : 0; // that none are here is said by itself
  return { renamed, by_order, by_module, ambiguous, nameless };
}

/** Return the keys of `wayCounts` whose number is above 0. @param {Parameters<typeof wayCounts>[0]} counts */
export function matchWays(counts) {
  const numbers = Object.entries(wayCounts(counts));
  return numbers
    .filter(([, n]) => n > 0)
    .map(([way]) => /** @type {keyof ReturnType<typeof wayCounts>} */ (way));
}

/**
 * Return whether a graph has none of the operator names in a dump. An ambiguous operator may be any of
 * several there.
 * @param {Pick<Colouring, "dumped" | "found" | "ambiguous">} counts
 */
export function namesNothing({ dumped, found, ambiguous }) {
  return dumped > 0 && found === 0 && ambiguous === 0;
}

/**
 * Return how many operators of the dump were found in the graph, and how.
 * @param {App} app
 * @param {Colouring} matched
 */
function coverage({ t }, { tensors, measured, done, ...counts }) {
  const { dumped, found: matched } = counts;
  const few = dumped > 0 && matched < dumped / 2;
  const text = t("graph.dump.found", { found: matched, n: dumped });
  const details = [
    few && matched > 0 && h("span", null, t("graph.dump.few")),
    ...matchWays(counts).map((way) =>
      h("span", { title: t(`graph.dump.${way}.why`) }, t(`graph.dump.${way}`, { n: wayCounts(counts)[way] })),
    ),
  ].filter(Boolean);
  const found = h("span", { class: matched === 0 && few ? "badge warn" : "muted" }, text);
  return [
    details.length
      ? h(
          "details",
          { class: "muted", open: counts.renamed > 0 },
          h("summary", null, found),
          h("div", { class: "row wrap" }, details),
        )
      : found,
    namesNothing(counts) && h("span", null, t("graph.dump.no_name")),
    !done && measured < tensors && h("span", { class: "muted" }, t("dump.counted", { n: measured })),
  ];
}
