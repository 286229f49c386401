// Choosing columns: facts, hyper-parameters, and scalars as last, lowest, highest or best value.

import { menu } from "../../components/dialog.js";
import { check, searchBox } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { hyperNames } from "../../core/traits.js";
import { factColumns, PARTS } from "./columns.js";

const SHOWN = 40; // scalars listed at a time; the filter finds the others

/** @typedef {{groups: {title: string, keys: {key: string, label: string}[]}[]}} Choices */

/**
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} anchor
 * @param {{tags: string[], columns: string[], onchange: (columns: string[]) => void, onreset: () => void}}
 *   options
 */
export function columnChooser(app, anchor, { tags, columns, onchange, onreset }) {
  let chosen = [...columns];
  const list = h("div", { class: "stack" });

  /** @param {string} key @param {boolean} on */
  const set = (key, on) => {
    chosen = on ? [...chosen, key] : chosen.filter((known) => known !== key);
    onchange(chosen);
  };

  /** @param {string} filter */
  const draw = (filter) => {
    const fits = (/** @type {string} */ text) => text.toLowerCase().includes(filter.toLowerCase());
    const facts = Object.values(factColumns(app)).filter((column) => fits(column.label));
    const hypers = hyperNames(app.selection.all()).filter(fits);
    const scalars = tags.filter(fits);
    replace(
      list,
      group(
        app.t("runs.cols.facts"),
        facts.map((column) => box(column.key, column.label)),
      ),
      group(
        app.t("runs.cols.hyper"),
        hypers.slice(0, SHOWN).map((name) => box(`hyper:${name}`, name)),
      ),
      group(app.t("runs.cols.scalar"), scalars.slice(0, SHOWN).map(scalarRow)),
      scalars.length > SHOWN
        ? h("p", { class: "muted small" }, app.t("runs.cols.more", { n: scalars.length - SHOWN }))
        : null,
    );
  };

  /** @param {string} key @param {string} label */
  const box = (key, label) => check({ label, checked: chosen.includes(key), onchange: (on) => set(key, on) });

  /** @param {string} tag */
  const scalarRow = (tag) =>
    h(
      "div",
      { class: "scalar-row" },
      h("div", { class: "ellipsis", title: tag }, tag),
      h(
        "div",
        { class: "row small" },
        ["spark", ...PARTS].map((part) => box(`${part}:${tag}`, app.t(`runs.part.${part}`))),
      ),
    );

  const search = searchBox({ label: app.t("runs.cols.filter"), onchange: draw });
  const reset = h(
    "button",
    { type: "button", class: "link", onclick: () => (onreset(), opened.close()) },
    app.t("runs.cols.reset"),
  );
  draw("");
  const opened = menu(
    anchor,
    h("div", { class: "stack column-chooser" }, search, list, reset),
    app.t("runs.cols"),
  );
}

/** @param {string} title @param {HTMLElement[]} rows */
function group(title, rows) {
  return rows.length ? h("fieldset", null, h("legend", { class: "label" }, title), rows) : null;
}
