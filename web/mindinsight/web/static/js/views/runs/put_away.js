// Switches that list hidden and archived runs, shown where there are any.

import { check } from "../../components/field.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Run} Run */

const KINDS = /** @type {const} */ (["hidden", "archived"]);

/**
 * Create the switches that list hidden and archived runs. `isListed` tells whether the table lists a run.
 * @param {import("../../core/types.js").App} app
 * @param {() => void} onchange
 */
export function createPutAway(app, onchange) {
  const isOn = (/** @type {string} */ kind) => app.url.get(kind) === "1";
  const switches = KINDS.map((kind) =>
    check({
      label: app.t(`runs.show.${kind}`),
      checked: isOn(kind),
      onchange: (on) => (app.url.set({ [kind]: on ? 1 : null }), onchange()),
    }),
  );
  return {
    element: h("span", { class: "row" }, switches),
    isListed: (/** @type {Run} */ run) => KINDS.every((kind) => !run[kind] || isOn(kind)),
    draw() {
      KINDS.forEach((kind, i) => {
        switches[i].hidden = !isOn(kind) && !app.selection.everything().some((run) => run[kind]);
        switches[i].box.checked = isOn(kind);
      });
    },
    showAll() {
      app.url.set(Object.fromEntries(KINDS.map((kind) => [kind, 1])));
      onchange();
    },
  };
}
