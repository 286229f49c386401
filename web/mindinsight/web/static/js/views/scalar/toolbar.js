// Toolbar of the scalars page.

import { button, iconButton, segments } from "../../components/button.js";
import { dialog, menu } from "../../components/dialog.js";
import { searchBox, select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { faultText } from "../../core/patterns.js";
import { addChartButton } from "./add_chart.js";
import { smoothing, yScale } from "./controls.js";
import { baselineOf, comparedRuns } from "./compare.js";

/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./card.js").Page} Page */

/** Modes of the pages. A machine is compared with no baseline, and has no layers. */
const MODES = { scalar: ["curves", "compare", "ranks", "groups", "layers"], system: ["curves", "ranks"] };

/** Create the toolbar of the scalars page. @param {Page} page */
export function toolbar(page) {
  const { app } = page;
  const { t } = app;
  const options = page.options();
  const filter = searchBox({
    label: t("scalar.filter"),
    placeholder: t("scalar.filter.short"),
    value: options.filter,
    onchange: (text) => setFilter(text),
    delay: options.mode === "curves" ? 0 : 150, // curves stay as they are, other modes ask the server
  });
  /** @param {string} text */
  const setFilter = (text) => {
    filter.invalid(faultText(app, text));
    if (patternOf(text)) page.change({ filter: text });
  };
  filter.invalid(faultText(app, options.filter)); // a link may bring a broken one
  const modes = MODES[page.kind].map((value) => ({
    value,
    label: t(`scalar.mode.${value}`),
  }));
  const mode = segments({
    label: t("scalar.mode"),
    options: modes,
    value: options.mode,
    onchange: (value) => page.change({ mode: /** @type {Options["mode"]} */ (value) }),
  });
  const own = {
    curves: () => drawing(page),
    compare: () => [against(page), tolerance(page), compareSettings(page), pairing(page)],
    ranks: () => yScale(page),
    groups: () => yScale(page),
    layers: () => null, // its axes are its own
  };
  return h("div", { class: "toolbar scalar-toolbar" }, mode, filter, own[options.mode]());
}

/** Create the controls of how curves are drawn. @param {Page} page */
function drawing(page) {
  const { t } = page.app;
  const options = page.options();
  const reset =
    (options.zoom || options.tall.size > 0) &&
    button(t("scalar.unzoom"), () => page.change({ zoom: null, tall: new Map() }));
  const back = page.canGoBack() && button(t("scalar.back"), () => page.back());
  return [
    spare(smoothing(page)),
    spare(yScale(page)),
    page.displayButton(),
    addChartButton(page),
    back,
    reset,
  ];
}

/** Create the button of the panel of a comparison's other settings. @param {Page} page */
function compareSettings(page) {
  const title = page.app.t("scalar.display");
  const opener = button(
    title,
    () => {
      const settings = [differenceUnit(page), smoothing(page), yScale(page)];
      menu(opener, h("div", { class: "stack chart-settings" }, settings), title);
    },
    { class: "opens", "aria-haspopup": "dialog", "aria-expanded": "false" },
  );
  return opener;
}

/** Create the choice of the unit of differences. @param {Page} page */
function differenceUnit(page) {
  const { t } = page.app;
  return select({
    label: t("scalar.compare.unit"),
    options: ["percent", "absolute"].map((value) => ({ value, label: t(`scalar.compare.unit.${value}`) })),
    value: page.options().difference,
    onchange: (value) => page.change({ difference: value === "percent" ? "percent" : "absolute" }),
  });
}

/** Mark a control that the toolbar leaves to the panel in a narrow window. @param {HTMLElement} control */
function spare(control) {
  control.classList.add("spare");
  return control;
}

/** Create the choice of the baseline, with a swap button if there are two runs. @param {Page} page */
function against(page) {
  const { t } = page.app;
  const runs = comparedRuns(page);
  const base = baselineOf(page);
  if (!base) return null;
  const choose = select({
    label: t("scalar.compare.against"),
    options: runs.map((run) => ({ value: run.id, label: run.name })),
    value: base.id,
    onchange: (id) => page.change({ baseline: id }),
  });
  const [other] = runs.filter((run) => run.id !== base.id);
  const swap = iconButton("swap", t("scalar.compare.swap"), () => page.change({ baseline: other.id }));
  return [choose, runs.length === 2 && swap];
}

/** Create the input of the tolerance in per mille. @param {Page} page */
function tolerance(page) {
  const { t } = page.app;
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "number",
    min: 0,
    step: "any",
    value: String(page.options().tolerance * 1000),
    onchange: () => page.change({ tolerance: Math.max(0, Number(box.value)) / 1000 }),
  });
  return h("label", { class: "field inline" }, h("span", { class: "label" }, t("scalar.tolerance")), box);
}

/** Create the list of paired tags with a button that adds one. @param {Page} page */
function pairing(page) {
  const { t } = page.app;
  const { pairs } = page.options();
  const chips = pairs.map((pair) => {
    const name = pair.join(" ↔ ");
    const without = () => page.change({ pairs: page.options().pairs.filter((other) => other !== pair) });
    return h(
      "span",
      { class: "badge" },
      name,
      iconButton("close", t("scalar.compare.unpair", { pair: name }), without),
    );
  });
  return [button(t("scalar.compare.pair"), () => choosePair(page)), chips];
}

/** Open the dialog that pairs two tags. @param {Page} page */
function choosePair(page) {
  const { t } = page.app;
  /** @type {[string, string]} */
  const pair = [page.tags[0] ?? "", page.tags[1] ?? page.tags[0] ?? ""];
  const choices = page.tags.map((tag) => ({ value: tag, label: tag }));
  const side = (/** @type {0 | 1} */ at) =>
    select({
      label: t(at ? "scalar.compare.pair.others" : "scalar.compare.pair.baseline"),
      options: choices,
      value: pair[at],
      onchange: (value) => (pair[at] = value),
    });
  const apply = () => {
    box.close();
    page.change({ pairs: [...page.options().pairs, pair] });
  };
  const actions = [button(t("scalar.compare.pair_apply"), apply, { class: "primary" })];
  const body = h("div", { class: "stack" }, side(0), side(1));
  const box = dialog({ title: t("scalar.compare.pair_title"), body, actions, close: t("common.close") });
}

/**
 * Return the filter as a regular expression, or null if it is invalid.
 * @param {string} text
 * @returns {RegExp | null} null when it is not a regular expression
 */
export function patternOf(text) {
  try {
    return new RegExp(text, "i");
  } catch {
    return null;
  }
}
