// What is shown of a long table: words, type, direction, source line, and where a statistic lies.

import { button } from "../../components/button.js";
import { check, searchBox, select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { DEFAULTS, FILTERS, STATISTICS } from "./state.js";

/** @typedef {import("../dump.js").Page} Page */

/** @param {Page} page */
export function filterBar(page) {
  const { app, state, change } = page;
  const { t } = app;
  const lists = h("span", { class: "row wrap" });
  const range = h("span", { class: "row wrap" });
  const reset = button(
    t("dump.filter.reset"),
    () => {
      change(Object.fromEntries(FILTERS.map((key) => [key, DEFAULTS[key]])));
      draw();
    },
    { class: "link" },
  );
  const element = h("div", { class: "toolbar dump-filters" });
  let known = "";

  const draw = () => {
    const name = searchBox({
      label: t("dump.filter.operator"),
      value: state.q,
      onchange: (q) => change({ q }),
    });
    const source = searchBox({
      label: t("dump.filter.source"),
      placeholder: t("dump.filter.source_how"),
      value: state.source,
      onchange: (text) => change({ source: text }),
    });
    const lost = check({
      label: t("dump.filter.lost"),
      checked: state.lost,
      onchange: (on) => change({ lost: on }),
    });
    replace(element, name, source, lists, lost, range, reset);
    known = "";
    drawRange();
  };

  const drawRange = () => {
    const options = ["", ...STATISTICS].map((value) => ({
      value,
      label: value ? t(`dump.statistic.${value}`) : "–",
    }));
    const by = select({
      label: t("dump.filter.by"),
      options,
      value: state.by,
      onchange: (value) => {
        change({ by: value });
        drawRange();
      },
    });
    const ends = state.by && ["least", "most"].map((/** @type {any} */ key) => bound(key));
    replace(range, by, ends);
  };

  /** @param {"least" | "most"} key */
  const bound = (key) =>
    h("input", {
      type: "number",
      step: "any",
      value: state[key],
      placeholder: t(`dump.filter.${key}`),
      "aria-label": t(`dump.filter.${key}`),
      onchange: (/** @type {any} */ event) => change({ [key]: event.target.value }),
    });

  /** Lists of what there is to choose from. @param {{types: string[], dtypes: string[]}} answer */
  const update = (answer) => {
    const text = JSON.stringify([answer.types, answer.dtypes]);
    if (text === known) return;
    known = text;
    const directions = ["input", "output", "parameter", "constant"];
    replace(
      lists,
      list("type", answer.types, (value) => value),
      list("dtype", answer.dtypes, (value) => value),
      list("direction", directions, (value) => t(`dump.direction.${value}`)),
    );
  };

  /**
   * @param {"type" | "dtype" | "direction"} key
   * @param {string[]} values
   * @param {(value: string) => string} label
   */
  const list = (key, values, label) => {
    const options = [
      { value: "", label: t("common.all") },
      ...values.map((value) => ({ value, label: label(value) })),
    ];
    return select({
      label: t(`dump.filter.${key}`),
      options,
      value: state[key],
      onchange: (value) => change({ [key]: value }),
    });
  };

  draw();
  return { element, update };
}
