// Choice of the scalars that say most about a training, and tags of the pages of charts.

import { tagsOf } from "../../core/tags.js";

/** @typedef {import("../../core/types.js").App} App */

/** Kinds of quantities, the most telling first; a tag is of the first that fits. */
const QUANTITIES = [
  /loss|perplexity|ppl|nll|cross_?entropy/i,
  /acc|f1|auc|bleu|rouge|map\b|iou|psnr|reward|return|score|metric/i,
  /err|mae|mse|rmse/i,
  /grad.*norm|norm.*grad|gnorm/i,
  /(^|[/_.-])lr([/_.-]|$)|learning_?rate/i,
  /through|samples?_per|tokens?_per|speed|time|memory/i,
];
const VALIDATION = /val|eval|test/i;

/**
 * Return at most `most` tags: one of each quantity first, training before evaluation.
 * @param {string[]} tags
 * @param {number} most
 */
export function tellingTags(tags, most) {
  const ranked = tags
    .map((tag) => ({ tag, quantity: quantityOf(tag), later: VALIDATION.test(tag) }))
    .sort(
      (a, b) =>
        a.quantity - b.quantity ||
        Number(a.later) - Number(b.later) ||
        a.tag.split("/").length - b.tag.split("/").length ||
        a.tag.localeCompare(b.tag, undefined, { numeric: true }),
    );
  const met = new Set();
  const first = ranked.filter(
    ({ quantity }) => quantity < QUANTITIES.length && !met.has(quantity) && met.add(quantity),
  );
  const rest = ranked.filter((entry) => !first.includes(entry));
  const chosen = new Set([...first, ...rest].slice(0, most));
  return ranked.filter((entry) => chosen.has(entry)).map(({ tag }) => tag);
}

/** Return the index of a tag's quantity, most important first. @param {string} tag */
function quantityOf(tag) {
  const at = QUANTITIES.findIndex((pattern) => pattern.test(tag));
  return at < 0 ? QUANTITIES.length : at;
}

/** Return the tags of the shown runs. @param {App} app @param {AbortSignal} signal */
export function scalarTags(app, signal) {
  return tagsOf(app, "scalar", signal);
}

/**
 * Return the tags of machines, and the one that says most about the training, to be seen beside them.
 * @param {App} app
 * @param {AbortSignal} signal
 */
export async function systemTags(app, signal) {
  const tags = await tagsOf(app, "system", signal);
  const recording = new Set(tags.flatMap(({ runs }) => runs));
  const runs = app.selection.runs().filter(({ id }) => recording.has(id));
  const metrics = runs.length ? await tagsOf(app, "scalar", signal, runs) : [];
  const [telling] = tellingTags(
    metrics.map(({ tag }) => tag),
    1,
  );
  return [...metrics.filter(({ tag }) => tag === telling), ...tags];
}
