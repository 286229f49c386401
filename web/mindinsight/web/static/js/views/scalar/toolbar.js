// Toolbar of the scalars page.

import { button, iconButton, segments } from "../../components/button.js";
import { checklist } from "../../components/checklist.js";
import { dialog } from "../../components/dialog.js";
import { check, searchBox, select, slider } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { faultText } from "../../core/patterns.js";
import { displayButton } from "./display_menu.js";
import { baselineOf, comparedRuns } from "./compare.js";

/** @typedef {import("./card.js").Page} Page */

/** Create the toolbar. @param {Page} page */
export function toolbar(page) {
  const { app } = page;
  const { t } = app;
  const options = page.options();
  const filter = searchBox({
    label: t("scalar.filter"),
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
  const modes = ["curves", "compare", "ranks", "groups", "layers"].map((value) => ({
    value,
    label: t(`scalar.mode.${value}`),
  }));
  const mode = segments({
    label: t("scalar.mode"),
    options: modes,
    value: options.mode,
    onchange: (value) => page.change({ mode: /** @type {any} */ (value) }),
  });
  const rows = [h("div", { class: "toolbar" }, mode, filter, axes(page))];
  if (options.mode === "curves") rows.push(h("div", { class: "toolbar" }, drawing(page)));
  if (options.mode === "compare") {
    rows.push(h("div", { class: "toolbar" }, against(page), tolerance(page), pairing(page)));
  }
  return h("div", { class: "scalar-toolbar" }, rows);
}

/** Create the choice of axes. @param {Page} page */
function axes(page) {
  const { t } = page.app;
  const options = page.options();
  if (["compare", "layers"].includes(options.mode)) return []; // they have axes of their own
  const kinds = ["linear", "log", "symlog"].map((value) => ({ value, label: t(`scalar.scale.${value}`) }));
  const y = select({
    label: t("scalar.y"),
    options: kinds,
    value: options.y,
    onchange: (value) => page.change({ y: /** @type {any} */ (value) }),
  });
  if (options.mode !== "curves") return [y];
  const builtIn = ["step", "relative", "wall"].map((value) => ({ value, label: t(`scalar.x.${value}`) }));
  const tags = page.tags.map((tag) => ({ value: `tag:${tag}`, label: tag }));
  const x = select({
    label: t("scalar.x"),
    options: [...builtIn, ...tags],
    value: options.x,
    onchange: (value) => page.change({ x: value, zoom: null, at: null }),
  });
  const scale = select({
    label: t("scalar.x_scale"),
    options: kinds,
    value: options.logX,
    onchange: (value) => page.change({ logX: /** @type {any} */ (value) }),
  });
  return [x, scale, y];
}

/** Create the controls of a chart that fills the window. @param {Page} page */
export function chartControls(page) {
  return [axes(page), smoothingControls(page)];
}

/** Create the controls of smoothing. @param {Page} page */
export function smoothingControls(page) {
  return [smoothing(page), smoothingKind(page)];
}

/** Create the slider of the smoothing weight. @param {Page} page */
function smoothing(page) {
  return slider({
    label: page.app.t("scalar.smooth"),
    min: 0,
    max: 0.99,
    step: 0.01,
    value: page.options().smooth,
    delay: 120,
    onchange: (value) => page.change({ smooth: value, smoothAll: true }),
  });
}

/** Create the choice of the smoothing method. @param {Page} page */
function smoothingKind(page) {
  const { t } = page.app;
  const kind = select({
    label: t("scalar.smooth.kind"),
    options: ["debiased", "ema", "gaussian", "mean"].map((value) => ({
      value,
      label: t(`scalar.smooth.${value}`),
    })),
    value: page.options().smoothKind,
    onchange: (value) => page.change({ smoothKind: /** @type {any} */ (value), smoothAll: true }),
  });
  kind.querySelector(".label")?.classList.add("unseen"); // it stands beside the slider that it is about
  kind.box.title = t("scalar.smooth.kind");
  return kind;
}

/** Create the controls of how curves are drawn. @param {Page} page */
function drawing(page) {
  const { t } = page.app;
  const options = page.options();
  const clip = check({
    label: t("scalar.clip"),
    checked: options.clip,
    onchange: (on) => page.change({ clip: on }),
  });
  const facts = check({
    label: t("scalar.facts"),
    checked: options.facts,
    onchange: (on) => page.change({ facts: on }),
  });
  const mix = button(t("scalar.mix"), () => chooseTags(page));
  const reset =
    (options.zoom || options.tall.size > 0) &&
    button(t("scalar.unzoom"), () => page.change({ zoom: null, tall: new Map() }));
  const back = page.canGoBack() && button(t("scalar.back"), () => page.back());
  return [smoothingControls(page), clip, facts, displayButton(page), mix, back, reset];
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

/** Open the dialog that combines tags in one chart. @param {Page} page */
function chooseTags(page) {
  const { t } = page.app;
  /** @type {Set<string>} */
  const checked = new Set();
  const list = checklist({
    label: t("scalar.mix"),
    filter: t("scalar.filter"),
    allLabel: t("common.all"),
    noneLabel: t("common.none"),
    items: page.tags.map((tag) => ({ value: tag, label: tag })),
    checked,
    onchange: () => {},
  });
  const apply = button(
    t("scalar.mix_apply"),
    () => {
      box.close();
      if (checked.size > 1) page.change({ mixes: [...page.options().mixes, [...checked]] });
    },
    { class: "primary" },
  );
  const box = dialog({
    title: t("scalar.mix_title"),
    body: list,
    actions: [apply],
    close: t("common.close"),
  });
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
