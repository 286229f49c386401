// Legend of a pinned card: colours and names of runs, and the time of its content.

import { h } from "../../core/dom.js";

const MOST = 24; // runs that are named

/**
 * Create the legend. At most 24 runs are named.
 * @param {import("../../core/types.js").App} app
 * @param {{name: string, colour: string}[]} entries
 * @param {string} note
 */
export function legend(app, entries, note) {
  const named = entries.slice(0, MOST);
  const more = entries.length - named.length;
  return h(
    "div",
    { class: "row wrap small pin-legend" },
    named.map(({ name, colour }) =>
      h(
        "span",
        { class: "row" },
        h("i", { class: "swatch", style: { background: String(colour) } }),
        h("span", { class: "ellipsis" }, String(name)),
      ),
    ),
    more > 0 ? h("span", { class: "muted" }, app.t("reports.more_runs", { n: more })) : null,
    h("span", { class: "muted pin-note" }, note),
  );
}
