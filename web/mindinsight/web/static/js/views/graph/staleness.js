// Notice that a graph was written again after it was drawn.

import { button } from "../../components/button.js";

/**
 * what v2/graph/graphs answers
 * @typedef {Object} Graphs
 * @property {string[]} tags
 * @property {boolean} dataset
 * @property {Record<string, number[]>} newest
 * @property {import("../../core/claims.js").Claim[]} claims
 */

/**
 * Return whether a graph was written again.
 * @param {Graphs} before
 * @param {Graphs} now
 * @param {string} tag
 */
export function rewritten(before, now, tag) {
  return JSON.stringify(before.newest[tag]) !== JSON.stringify(now.newest[tag]);
}

/**
 * Create the button that loads the newer graph.
 * @param {import("../../core/types.js").App} app
 * @param {() => void} onclick
 */
export function lookAgain({ t }, onclick) {
  return button(t("graph.again"), onclick, { class: "link", title: t("graph.again.why") });
}
