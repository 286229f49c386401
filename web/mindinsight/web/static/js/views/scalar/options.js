// Options of the scalars page in the address.

import { idOf } from "../../core/names.js";
import { SMOOTHING } from "../../core/preferences.js";
import { machineName } from "./machine.js";
import { joinFields, readSpans, splitFields, splitLast, writeSpans } from "../../core/arrangement.js";

/**
 * @typedef {Object} Options
 * @property {"curves" | "compare" | "ranks" | "groups" | "layers"} mode
 * @property {string} filter regular expression on tags
 * @property {string} x step | relative | wall | tag:<name>
 * @property {number} smooth weight, 0 to 0.99
 * @property {"debiased" | "ema" | "gaussian" | "mean"} smoothKind
 * @property {boolean} smoothAll also lines of few points: somebody chose the weight
 * @property {"linear" | "log" | "symlog"} y
 * @property {"linear" | "log" | "symlog"} logX
 * @property {boolean} clip leave outliers outside the picture
 * @property {boolean} overwritten draw the stretches that a restart recorded again
 * @property {[number, number] | null} zoom range of x, of all charts
 * @property {number | null} at place on x whose values are listed under every chart
 * @property {Map<string, [number, number]>} tall chart's key -> range of y
 * @property {"medium" | "small" | "large"} size of the cards
 * @property {"distance" | "value" | "name"} tip order of the rows of the tooltip
 * @property {boolean} legend all curves in the legends, not one row of them
 * @property {boolean} facts statistics of the range under each chart
 * @property {string[]} pins tags on top
 * @property {string[]} folds sections that are closed
 * @property {import("../../core/arrangement.js").ChartMove[]} moves charts that the user moved
 * @property {string[]} hidden charts that the user removed from the page
 * @property {Map<string, [number, number]>} spans chart's key -> columns and rows of its card
 * @property {Map<string, string>} names section -> name that the user gave
 * @property {string[]} own sections that the user added
 * @property {import("../../core/arrangement.js").Move[]} order sections that the user moved
 * @property {string[][]} mixes added charts: tags that share one, or a formula that begins with "="
 * @property {Map<string, string>} thresholds tag -> expression
 * @property {string} job job whose ranks are looked at
 * @property {string} group "hyper:<key>", "name:<pattern>" or "group:"
 * @property {"" | "each" | "decades" | "quarters"} bins of a numeric setting that groups runs; "" suits it
 * @property {"hold" | "drop" | "common"} ended how runs count in their group after their end
 * @property {string} baseline id of the baseline, "" for the default
 * @property {number} tolerance share of the baseline's value
 * @property {"percent" | "absolute"} difference unit of the differences in a comparison
 * @property {[string, string][]} pairs tag of the baseline, tag of the other runs
 */

/** Axes on which pages open. @type {Record<string, string>} */
const AXES = { scalar: "step", system: "wall" };
const FEW = 50; // points below which a curve is not smoothed by itself
const TOLERANCE = 0.001;
const FOLDS = 50; // closed sections in the address
const PLACES = 12; // digits of a number in the address: wall time has ten before its point

/**
 * Read the options from the address. Invalid ones become the defaults.
 * @param {import("../../core/url.js").Url} url
 * @param {number} [weight] of smoothing, where the address names none
 * @param {string} [kind] of the page: scalar, system
 * @returns {Options}
 */
export function readOptions(url, weight = SMOOTHING, kind = "scalar") {
  const share = Number(url.get("s", String(weight)));
  const tolerance = Number(url.get("tol", String(TOLERANCE)));
  return {
    mode: oneOf(url.get("m"), ["curves", "compare", "ranks", "groups", "layers"]),
    filter: url.get("q", ""),
    x: url.get("x", AXES[kind]),
    smooth: share >= 0 && share < 1 ? share : weight,
    smoothKind: oneOf(url.get("sk"), ["debiased", "ema", "gaussian", "mean"]),
    smoothAll: url.get("s") !== null,
    y: oneOf(url.get("y"), ["linear", "log", "symlog"]),
    logX: oneOf(url.get("lx"), ["linear", "log", "symlog"]),
    clip: url.get("clip") === "1",
    overwritten: url.get("old") === "1",
    zoom: readRange(url.get("z")),
    at: readNumber(url.get("at")),
    tall: readTall(url.all("zy")),
    size: oneOf(url.get("size"), ["medium", "small", "large"]),
    tip: oneOf(url.get("tip"), ["distance", "value", "name"]),
    facts: url.get("st") === "1",
    legend: url.get("legend") === "1",
    pins: url.all("pin"),
    folds: url.all("fold"),
    moves: splitFields(url.all("put"), 3).map(([chart, before, section]) => [chart, before, section]),
    hidden: url.all("hide"),
    spans: readSpans(url.all("span")),
    names: new Map(splitFields(url.all("name"), 2).map(([section, name]) => [section, name])),
    own: url.all("section"),
    order: splitFields(url.all("order"), 2).map(([section, before]) => [section, before]),
    mixes: url.all("mix").map((text) => text.split("|")),
    thresholds: new Map(url.all("th").map(splitLast)),
    job: url.get("job", ""),
    group: url.get("g", ""),
    bins: oneOf(url.get("bins"), ["", "each", "decades", "quarters"]),
    ended: oneOf(url.get("ended"), ["hold", "drop", "common"]),
    baseline: readRun(url.get("baseline", "")),
    tolerance: tolerance >= 0 ? tolerance : TOLERANCE,
    difference: oneOf(url.get("du"), ["percent", "absolute"]),
    pairs: url.all("pair").flatMap(readPair),
  };
}

/**
 * Write the options to the address, without defaults.
 * @param {import("../../core/url.js").Url} url
 * @param {Options} options
 * @param {string} [kind] of the page
 * @param {boolean} [entry] as a new entry of the browser's history
 */
export function writeOptions(url, options, kind = "scalar", entry = false) {
  const params = optionParams(options, kind);
  if (entry) url.step(params);
  else url.set(params);
}

/**
 * Return the options as parameters of the address; null, "" or [] for a default.
 * @param {Options} options
 * @param {string} kind of the page
 * @returns {Record<string, string | number | string[] | null>}
 */
function optionParams(options, kind) {
  const compares = options.mode === "compare"; // its link names all that the comparison depends on
  return {
    m: options.mode === "curves" ? null : options.mode,
    q: options.filter,
    x: options.x === AXES[kind] ? null : options.x,
    s: options.smoothAll ? options.smooth : null,
    sk: options.smoothKind === "debiased" ? null : options.smoothKind,
    y: options.y === "linear" ? null : options.y,
    lx: options.logX === "linear" ? null : options.logX,
    clip: options.clip ? "1" : null,
    old: options.overwritten ? "1" : null,
    z: options.zoom && writeRange(options.zoom),
    zy: [...options.tall].map(([key, range]) => `${key}:${writeRange(range)}`),
    at: options.at === null ? null : Number(options.at.toPrecision(PLACES)),
    size: options.size === "medium" ? null : options.size,
    tip: options.tip === "distance" ? null : options.tip,
    st: options.facts ? "1" : null,
    legend: options.legend ? "1" : null,
    pin: options.pins,
    fold: options.folds.slice(0, FOLDS),
    put: options.moves.map(joinFields),
    hide: options.hidden,
    span: writeSpans(options.spans),
    name: [...options.names].map(joinFields),
    section: options.own,
    order: options.order.map(joinFields),
    mix: options.mixes.map((tags) => tags.join("|")),
    th: [...options.thresholds].map(([tag, text]) => `${tag}:${text}`),
    job: options.job,
    g: options.group,
    bins: options.bins,
    ended: options.ended === "hold" ? null : options.ended,
    baseline:
      (compares || options.mode === "layers") && options.baseline ? options.baseline.slice(2) || "." : null,
    tol: compares || options.tolerance !== TOLERANCE ? options.tolerance : null,
    du: options.difference === "percent" ? null : options.difference,
    pair: options.pairs.map((tags) => tags.join("|")),
  };
}

/** What the name of a formula begins with, unlike a tag's. */
export const FORMULA = "=";

/** Return a tag, or a formula without its mark, as text. @param {string} tag */
export function tagText(tag) {
  return tag.startsWith(FORMULA) ? tag.slice(FORMULA.length) : tag;
}

/**
 * Return the title of a chart.
 * @param {import("../../core/types.js").Translate} t
 * @param {string[]} tags
 */
export function chartTitle(t, tags) {
  return tags.map((tag) => machineName(t, tag) ?? tagText(tag)).join(" + ");
}

/** Parameters of the settings in the panel of the toolbar. */
const SETTINGS = ["x", "lx", "sk", "clip", "st", "size", "tip", "old"];

/**
 * Return the parameters of the panel's settings that differ from the defaults.
 * @param {Options} options
 * @param {string} kind of the page
 */
export function changedSettings(options, kind) {
  const written = optionParams(options, kind);
  return SETTINGS.filter((key) => written[key] !== null);
}

/**
 * Return the request parameters of smoothing. Short curves are not smoothed unless the user has chosen.
 * @param {Options} options
 */
export function smoothing(options) {
  if (!options.smooth) return {};
  const { smooth, smoothKind: kind } = options;
  return { smooth, least: options.smoothAll ? null : FEW, ...(kind !== "debiased" && { kind }) };
}

/**
 * Return the text if it is a valid choice, otherwise the first choice.
 * @template {string} T
 * @param {string | null} text
 * @param {T[]} choices the first is the default
 * @returns {T}
 */
function oneOf(text, choices) {
  return choices.find((choice) => choice === text) ?? choices[0];
}

/**
 * Return the number, or null if it is missing or invalid.
 * @param {string | null} text
 * @returns {number | null}
 */
function readNumber(text) {
  const number = Number(text);
  return text && Number.isFinite(number) ? number : null;
}

/**
 * Parse a range "low,high"; null if it is invalid.
 * @param {string | null} text
 * @returns {[number, number] | null}
 */
function readRange(text) {
  const ends = (text ?? "").split(",").map(Number);
  return text && ends.length === 2 && ends[0] < ends[1] ? [ends[0], ends[1]] : null;
}

/** Return a run's id; "" for an empty text. @param {string} text */
function readRun(text) {
  return text && idOf(text);
}

/**
 * Parse a pair "loss/auto|train/loss"; [] if it is invalid.
 * @param {string} text
 * @returns {[string, string][]} none for anything else
 */
function readPair(text) {
  const tags = text.split("|");
  return tags.length === 2 && tags.every(Boolean) ? [[tags[0], tags[1]]] : [];
}

/** Parse the y ranges of charts: "loss:0.5,1.5". @param {string[]} texts */
function readTall(texts) {
  /** @type {Options["tall"]} */
  const tall = new Map();
  for (const [key, text] of texts.map(splitLast)) {
    const range = readRange(text);
    if (range) tall.set(key, range);
  }
  return tall;
}

/** Return a range as text. @param {[number, number]} range */
function writeRange(range) {
  return range.map((end) => Number(end.toPrecision(PLACES))).join(",");
}
