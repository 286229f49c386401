// Menu of columns: facts, hyperparameters, and scalars as curve, last, smallest, largest or best value.

import { menu } from "../../components/dialog.js";
import { check, searchBox } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { hyperNames } from "../../core/run_traits.js";
import { withColumn } from "../../components/runs/order.js";
import { factColumns, PARTS } from "../../components/runs/columns.js";

const SHOWN = 40; // scalars listed at a time; the filter finds the others

/** @typedef {{groups: {title: string, keys: {key: string, label: string}[]}[]}} Choices */

/**
 * Open the menu that chooses the columns of the runs table.
 * @param {import("../../core/types.js").App} app
 * @param {HTMLElement} anchor
 * @param {{tags: string[], columns: string[], sorted: string, onchange: (columns: string[]) => void,
 *   onreset: () => void}} options `sorted`: the column beside which new ones are put, or ""
 */
export function columnChooser(app, anchor, { tags, columns, sorted, onchange, onreset }) {
  let selected = [...columns];
  const list = h("div", { class: "stack" });

  /** @param {string} key @param {string} label */
  const box = (key, label) =>
    check({
      label,
      checked: selected.includes(key),
      onchange: (on) => {
        selected = on ? withColumn(selected, key, sorted) : selected.filter((other) => other !== key);
        onchange(selected);
      },
    });

  const draw = (/** @type {string} */ filter) => replace(list, choices(app, tags, filter, box));
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

/**
 * Create the check boxes of the columns whose names contain a text.
 * @param {import("../../core/types.js").App} app
 * @param {string[]} tags
 * @param {string} filter
 * @param {(key: string, label: string) => HTMLElement} box
 */
function choices(app, tags, filter, box) {
  const fits = (/** @type {string} */ text) => text.toLowerCase().includes(filter.toLowerCase());
  const facts = Object.values(factColumns(app)).filter((column) => fits(column.label));
  const hypers = hyperNames(app.selection.all()).filter(fits).slice(0, SHOWN);
  const scalars = tags.filter(fits);
  return [
    /** Create a titled group, or return null if it is empty. */
    group(
      app.t("runs.cols.facts"),
      facts.map((column) => box(column.key, column.label)),
    ),
    group(
      app.t("runs.cols.hyper"),
      hypers.map((name) => box(`hyper:${name}`, name)),
    ),
    group(
      app.t("runs.cols.scalar"),
      scalars.slice(0, SHOWN).map((tag) => scalarRow(app, tag, box)),
    ),
    scalars.length > SHOWN
      ? h("p", { class: "muted small" }, app.t("runs.cols.more", { n: scalars.length - SHOWN }))
      : null,
  ];
}

/**
 * Create the check boxes of one scalar.
 * @param {import("../../core/types.js").App} app
 * @param {string} tag
 * @param {(key: string, label: string) => HTMLElement} box
 */
function scalarRow(app, tag, box) {
  return h(
    "div",
    { class: "scalar-row" },
    h("div", { class: "ellipsis", title: tag }, tag),
    h(
      "div",
      { class: "row small" },
      ["spark", ...PARTS].map((statistic) => box(`${statistic}:${tag}`, app.t(`runs.part.${statistic}`))),
    ),
  );
}

/** @param {string} title @param {HTMLElement[]} rows */
function group(title, rows) {
  return rows.length ? h("fieldset", null, h("legend", { class: "label" }, title), rows) : null;
}
