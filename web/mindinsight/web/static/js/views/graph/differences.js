// The differences of two graphs, one below the other, to be walked through.

import { iconButton } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { SIGNS } from "./badges.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{id: number, path: string, label: string, kind: string}} Entry */
/**
 * @typedef {Object} Difference
 * @property {"changed" | "only"} state
 * @property {number} operators
 * @property {Entry | null} left
 * @property {Entry | null} right
 */
/**
 * @typedef {Object} Found
 * @property {number} total
 * @property {Difference[]} shown
 * @property {number} same
 * @property {number} changed
 * @property {number} left
 * @property {number} right
 */

/** @param {App} app @param {(one: Difference) => void} goTo */
export function createDifferences(app, goTo) {
  const { t } = app;
  /** @type {Found | null} */
  let found = null;
  let current = -1;
  /** @type {HTMLElement[]} */
  let rows = [];
  const place = h("span", { class: "muted small", role: "status" });
  const before = iconButton("left", t("graph.difference.before"), () => step(-1));
  const next = iconButton("right", t("graph.difference.next"), () => step(1));
  const list = h("ol", { class: "branch" });
  const scroll = h(
    "div",
    { class: "graph-outline scroll", role: "region", "aria-label": t("graph.differences"), tabindex: "0" },
    list,
  );
  const head = h(
    "div",
    { class: "row" },
    h("h2", null, t("graph.differences")),
    h("span", { class: "grow" }),
    place,
    before,
    next,
  );
  const element = h("section", { class: "graph-differences" }, head, scroll);

  /** @param {number} by */
  const step = (by) => {
    const shown = found?.shown ?? [];
    if (!shown.length) return;
    const from = current < 0 && by < 0 ? 0 : current;
    current = (from + by + shown.length) % shown.length;
    mark();
    goTo(shown[current]);
  };

  const mark = () => {
    rows.forEach((row, i) => row.classList.toggle("current", i === current));
    const shown = found?.shown.length ?? 0;
    place.textContent = current < 0 ? "" : t("graph.difference.at", { i: current + 1, n: shown });
    before.disabled = next.disabled = !shown;
    const row = rows[current];
    if (!row) return;
    const above = row.offsetTop - scroll.scrollTop;
    if (above < 0 || above > scroll.clientHeight - row.offsetHeight) {
      scroll.scrollTop += above - scroll.clientHeight / 3;
    }
  };

  /** @param {Difference} one */
  const row = (one) => {
    const entry = /** @type {Entry} */ (one.left ?? one.right);
    const what = one.state === "changed" ? "changed" : one.left ? "left" : "right";
    const said = t(`graph.pair.${what}`);
    const label = one.operators > 1 ? `${entry.label} (${one.operators})` : entry.label || t("graph.call");
    const name = h(
      "button",
      {
        type: "button",
        class: "link ellipsis",
        title: entry.path,
        "aria-label": `${label}, ${said}`,
        onclick: () => goTo(one),
      },
      label,
    );
    return h(
      "li",
      { class: "row" },
      h("span", { class: `graph-sign ${one.state}`, title: said, "aria-hidden": "true" }, SIGNS[what]),
      name,
      h(
        "span",
        { class: "muted small ellipsis grow", "aria-hidden": "true" },
        entry.path.split("/").slice(-3, -1).join("/"),
      ),
    );
  };

  return {
    element,
    step,

    /** @param {Found} next */
    show(next) {
      found = next;
      current = -1;
      rows = next.shown.map(row);
      const rest = next.total - next.shown.length;
      replace(
        list,
        rows,
        rest > 0 && h("li", { class: "muted small" }, t("graph.rest", { n: rest })),
        !next.total && h("li", { class: "muted" }, t("graph.difference.none")),
      );
      mark();
    },

    /** Mark the one that is looked at. @param {number | undefined} left @param {number | undefined} right */
    select(left, right) {
      current =
        found?.shown.findIndex((one) => (one.left ? one.left.id === left : one.right?.id === right)) ?? -1;
      mark();
    },
  };
}
