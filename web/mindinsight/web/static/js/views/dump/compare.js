// Compare tab: this step against another step of the same dump or of another.

import { h } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { ReferenceChoice } from "./compare_choice.js";
import { CompareResults } from "./compare_results.js";
import { position } from "../../components/dump/state.js";

/** @typedef {import("../../core/answers.js").Compared} Compared */
/** @typedef {import("../dump.js").Page} Page */
/** @typedef {import("./compare_choice.js").Reference} Reference */

/**
 * Create the Compare tab of a dump. A comparison that the address names is shown again if the server still
 * has it. Another dump that it names is compared.
 * @param {Page} page
 */
export function comparePart(page) {
  const { app, state } = page;
  const { t } = app;
  const results = new CompareResults(page);
  const requests = latest();
  const target = position(state);
  /** @param {number} comparison @param {Reference} reference */
  const follow = (comparison, reference) => {
    page.comparison = comparison; // the graph can be coloured by it
    app.url.set({ compared: comparison });
    results.follow(comparison, [target, reference].map((side) => sideText(app, side)).join(" ↔ "));
  };
  const choice = new ReferenceChoice(page, (reference, names) => {
    results.wait();
    requests.ask(
      () => app.api.send("POST", "v2/dump/compare", { target, reference, names }),
      ({ comparison }) => follow(comparison, reference),
      (error) => results.fail(error),
    );
  });
  const known = app.url.get("compared", "");
  if (known === "" && app.url.get("with")) choice.readAndStart();
  else choice.read();
  if (/^\d+$/.test(known)) {
    requests.ask(
      () => app.api.get(`v2/dump/compare/${known}`, { limit: 1 }),
      ({ request }) => {
        if (isOf(request, target, choice.reference)) {
          results.wait();
          follow(Number(known), choice.reference);
        }
      },
      () => app.url.set({ compared: null }), // it has expired
    );
  }
  const head = h(
    "section",
    { class: "panel stack" },
    h("h2", null, t("dump.compare.title")),
    h("p", { class: "muted" }, t("dump.compare.how")),
    choice.element,
  );
  return {
    element: h("div", { class: "stack" }, head, results.element),
    end() {
      requests.end();
      choice.end();
      results.end();
    },
  };
}

/**
 * Return whether a stored comparison has the target and reference chosen on the page.
 * @param {Compared["request"] | null} request
 * @param {Reference} target
 * @param {Reference} reference
 */
function isOf(request, target, reference) {
  const same = (/** @type {Reference} */ side, /** @type {Reference} */ other) =>
    side.dump === other.dump && side.rank === other.rank && side.step === other.step;
  return request !== null && same(request.target, target) && same(request.reference, reference);
}

/**
 * Return one side of the comparison as text: dump, rank and step.
 * @param {import("../../core/types.js").App} app
 * @param {Reference} side
 */
function sideText({ t }, side) {
  return t("dump.compare.side", { ...side, dump: side.dump.slice(2) || "." });
}
