// Edits that lead from the left graph to the right one. Equal edits are grouped: LayerNorm → RMSNorm × 46.

import { claimElement, claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./differences.js").Entry} Entry */
/**
 * @typedef {Object} Edit
 * @property {string} kind
 * @property {string} subject
 * @property {string} before
 * @property {string} after
 * @property {number} count
 * @property {boolean} consequence of an edit of the network: bookkeeping, backward pass, optimizer
 * @property {Entry | null} left
 * @property {Entry | null} right
 */

/**
 * Create the list of edits that lead from the left graph to the right one.
 * @param {App} app
 * @param {(place: {left: {id: number} | null, right: {id: number} | null}) => void} goTo
 */
export function createEdits(app, goTo) {
  const { t } = app;
  const title = t("graph.edits");
  const list = h("ol", { class: "branch" });
  const region = { class: "graph-outline scroll", role: "region", "aria-label": title, tabindex: "0" };
  const element = h(
    "section",
    { class: "graph-differences graph-edits" },
    h("div", { class: "row" }, h("h2", null, title)),
    h("div", region, list),
  );
  const rows = (/** @type {Edit[]} */ some) => some.map((edit) => editRow(app, edit, goTo));
  return {
    element,

    /**
     * @param {{total: number, shown: Edit[]}} edits
     * @param {import("../../core/claims.js").Claim[]} claims
     */
    show(edits, claims) {
      const hidden = edits.total - edits.shown.length;
      const [causes, consequences] = [false, true].map((is) =>
        edits.shown.filter((edit) => edit.consequence === is),
      );
      const renamed = causes.every(({ kind }) => kind === "renamed");
      const parts = (/** @type {string} */ key, /** @type {Edit[]} */ some) => {
        const n = some.reduce((sum, edit) => sum + edit.count, 0);
        return folded(t(key, { n }), rows(some));
      };
      replace(
        list,
        claims.map((claim) => h("li", null, claimRow(app, claim, goTo))),
        explained(claims) ? parts(`graph.edits.${renamed ? "renamed" : "parts"}`, causes) : rows(causes),
        parts("graph.edits.consequences", consequences),
        hidden > 0 && h("li", { class: "muted small" }, t("graph.rest", { n: hidden })),
      );
    },
  };
}

/**
 * Create the sentence of a claim, as a button that shows its first place if it has one.
 * @param {App} app
 * @param {import("../../core/claims.js").Claim} claim
 * @param {(place: {left: {id: number} | null, right: {id: number} | null}) => void} goTo
 */
function claimRow(app, claim, goTo) {
  const element = claimElement(app, claim);
  const [place] = /** @type {{left?: number, right?: number}[]} */ (claim.evidence);
  if (place?.left === undefined && place?.right === undefined) return element;
  const { left = null, right = null } = place;
  const show = () =>
    goTo({ left: left === null ? null : { id: left }, right: right === null ? null : { id: right } });
  replace(element, h("button", { type: "button", class: "link", onclick: show }, claimText(app, claim)));
  return element;
}

const UNNAMED = ["claim.graph.changed", "claim.graph.only_changed"]; // claims that count edits

/** Return whether the claims name every edit. @param {import("../../core/claims.js").Claim[]} claims */
function explained(claims) {
  return claims.length > 0 && claims.every(({ key }) => !UNNAMED.includes(key));
}

/**
 * Create a collapsed group of rows, or false if there are none.
 * @param {string} summary
 * @param {HTMLElement[]} rows
 */
function folded(summary, rows) {
  if (!rows.length) return false;
  const head = h("summary", { class: "muted small" }, summary);
  return h("li", null, h("details", null, head, h("ol", { class: "branch" }, rows)));
}

/** Create the row of an edit. @param {App} app @param {Edit} edit @param {(edit: Edit) => void} goTo */
function editRow({ t, format }, edit, goTo) {
  const { kind, subject, before, after, count } = edit;
  const text = t(`graph.edit.${kind}`, { subject, before: before || "–", after: after || "–" });
  const reachable = edit.left || edit.right;
  const name = reachable
    ? h("button", { type: "button", class: "link", title: text, onclick: () => goTo(edit) }, text)
    : h("span", { title: text }, text);
  return h(
    "li",
    { class: "row" },
    name,
    count > 1 && h("span", { class: "muted small count" }, `× ${format.number(count)}`),
  );
}
