// Comparison of this step with another step, of the same dump or of another.

import { h } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { ReferenceChoice } from "./compare_choice.js";
import { CompareResults } from "./compare_results.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {import("./compare_choice.js").Reference} Reference */

/** @param {Page} page */
export function comparePart(page) {
  const { app, state } = page;
  const { t } = app;
  const results = new CompareResults(page);
  const requests = latest();
  const choice = new ReferenceChoice(page, (reference, names) => {
    results.wait();
    const body = { target: { dump: state.dump, rank: state.rank, step: state.step }, reference, names };
    requests.ask(
      () => app.api.send("POST", "v2/dump/compare", body),
      ({ comparison }) => {
        page.comparison = comparison; // the graph can be coloured by it
        results.follow(comparison, [state, reference].map((side) => sideText(app, side)).join(" ↔ "));
      },
      (error) => results.fail(error),
    );
  });
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
 * What a report has to say of where its numbers are from.
 * @param {import("../../core/types.js").App} app
 * @param {Reference} side
 */
function sideText({ t }, side) {
  return `${side.dump.slice(2) || "."}, ${t("dump.rank")} ${side.rank}, ${t("common.step")} ${side.step}`;
}
