// Claims: statements about data, with a verdict and evidence. The server decides them. The few that a page
// decides itself come from functions that `tests/claims` calls by name.

import { h, replace } from "./dom.js";
import { isCount } from "./i18n.js";

/**
 * @typedef {Object} Claim
 * @property {string} key of its text
 * @property {"found" | "clear" | "unknown" | "note"} verdict
 * @property {Record<string, unknown>} values strings, numbers, claims, or lists of these
 * @property {Record<string, unknown>[]} evidence what a page can link to
 * @property {string[]} missing keys of what would decide an unknown
 */

/**
 * What a claim needs of the application.
 * @typedef {{t: import("./types.js").Translate, boot: {lang: string},
 *   format: {number: (value: number) => string}}} Words
 */

/**
 * Create a claim that the page itself has decided.
 * @param {string} key
 * @param {Claim["verdict"]} verdict
 * @param {Record<string, unknown>} [values]
 * @returns {Claim}
 */
export function madeClaim(key, verdict, values = {}) {
  return { key, verdict, values, evidence: [], missing: [] };
}

/**
 * Return a claim's translated text, followed by what is missing if it is unknown.
 * @param {Words} app
 * @param {Claim} claim
 * @returns {string}
 */
export function claimText(app, claim) {
  const values = Object.entries(claim.values).map(([name, value]) => [
    name,
    name === "n" || isCount(name, value) ? value : words(app, value),
  ]);
  const texts = [app.t(claim.key, Object.fromEntries(values)), ...claim.missing.map((key) => app.t(key))];
  return texts.join(app.boot.lang === "zh" ? "" : " ");
}

/**
 * Return a paragraph with the claim's text. Its attributes hold the claim's key and verdict, and the key of a
 * claim within it. A button adds
 * the `rest` of a list that ends in "…".
 * @param {Words} app
 * @param {Claim} claim
 * @param {import("./dom.js").Attributes} [attrs]
 */
export function claimElement(app, claim, attrs = {}) {
  const classes = ["claim", `claim-${claim.verdict}`, attrs.class].filter(Boolean).join(" ");
  const within = /** @type {Claim | undefined} */ (claim.values.claim)?.key;
  const keys = { "data-claim": claim.key, ...(within ? { "data-within": within } : {}) };
  const element = h("p", { ...attrs, class: classes, ...keys }, claimText(app, claim));
  const { rest } = claim.values;
  if (!Array.isArray(rest)) return element;
  const open = () => {
    replace(element, claimText(app, withRest(claim, rest)));
    element.tabIndex = -1;
    element.focus(); // the button is gone
  };
  const label = app.t("common.rest", { n: rest.length });
  replace(
    element,
    claimText(app, claim),
    " ",
    h("button", { type: "button", class: "link", onclick: open }, label),
  );
  return element;
}

/**
 * Return a claim with all entries of the list that ends in "…".
 * @param {Claim} claim
 * @param {unknown[]} rest
 */
export function withRest(claim, rest) {
  const values = Object.entries(claim.values).map(([name, value]) =>
    name !== "rest" && Array.isArray(value) && value.at(-1) === "…"
      ? [name, [...value.slice(0, -1), ...rest]]
      : [name, value],
  );
  return { ...claim, values: Object.fromEntries(values) };
}

/**
 * Return a value of a claim as text, or a list of texts. Nested claims are translated.
 * @param {Words} app
 * @param {unknown} value
 * @returns {unknown}
 */
function words(app, value) {
  if (Array.isArray(value)) return value.map((entry) => words(app, entry));
  if (typeof value === "number") return app.format.number(value);
  if (value && typeof value === "object") return claimText(app, /** @type {Claim} */ (value));
  return String(value);
}
