// Runs grouped by a hyper-parameter or by a pattern in their names, each group as a mean with its band.

import { card } from "../../components/card.js";
import { empty } from "../../components/empty.js";
import { searchBox, select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/near.js";
import { saveButton } from "../../core/share.js";
import { differing, traitOf } from "../../core/traits.js";
import { bandSheet, bandTraces } from "./band.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {{label: string, runs: string[]}} Group */

const MOST = 12; // groups drawn: as many as there are colours
const BY_NAME = "name:^[^/]+";

/** @param {Page} page @param {string} by "hyper:<key>" or "name:<pattern>" @returns {Group[]} */
export function groupsBy(page, by) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const run of page.app.selection.runs()) {
    const label = text(traitOf(run, by));
    groups.set(label, [...(groups.get(label) ?? []), run.id]);
  }
  return [...groups]
    .map(([label, runs]) => ({ label, runs }))
    .sort((a, b) => a.label.localeCompare(b.label, undefined, { numeric: true }));
}

/** @param {any} value */
function text(value) {
  return value === undefined || value === null
    ? "–"
    : typeof value === "number"
      ? number(value, 6)
      : String(value);
}

/** @param {Page} page @param {string[]} tags */
export function groupsView(page, tags) {
  const { app } = page;
  const keys = differing(app.selection.runs());
  const by = () => page.options().group || (keys.length ? `hyper:${keys[0]}` : BY_NAME);
  if (!app.selection.runs().length) {
    return {
      element: empty({ title: app.t("scalar.groups.none") }),
      load() {},
      update() {},
      paint() {},
      end() {},
    };
  }
  const choose = select({
    label: app.t("scalar.groups.by"),
    options: [
      ...keys.map((key) => ({ value: `hyper:${key}`, label: key })),
      { value: "name:", label: app.t("scalar.groups.name") },
    ],
    value: by().startsWith("name:") ? "name:" : by(),
    onchange: (value) => page.change({ group: value === "name:" ? BY_NAME : value }),
  });
  const pattern = searchBox({
    label: app.t("scalar.groups.pattern"),
    value: by().startsWith("name:") ? by().slice(5) : BY_NAME.slice(5),
    delay: 400,
    onchange: (value) => page.change({ group: `name:${value}` }),
  });
  /** @type {Group[]} */
  let groups = [];
  const legend = h("div", { class: "row wrap scalar-legend" });
  const cards = tags.map((tag) => groupCard(page, tag, () => groups));
  const element = h(
    "div",
    { class: "stack" },
    h("div", { class: "toolbar" }, choose, pattern),
    legend,
    h(
      "div",
      { class: "cards" },
      cards.map((one) => one.element),
    ),
  );
  const each = (/** @type {"paint" | "end"} */ what) => () => cards.forEach((one) => one[what]());
  const load = () => {
    pattern.hidden = !by().startsWith("name:");
    const all = groupsBy(page, by());
    groups = all.slice(0, MOST);
    const names = groups.map((group, i) =>
      h(
        "span",
        { class: "row small" },
        h("i", { class: "swatch", style: { background: colourOf(app, i) } }),
        `${group.label} (${group.runs.length})`,
      ),
    );
    replace(
      legend,
      names,
      all.length > MOST &&
        h("span", { class: "muted small" }, app.t("scalar.groups.more", { n: all.length - MOST })),
    );
    cards.forEach((one) => one.load());
  };
  return { element, load, update: load, paint: each("paint"), end: each("end") };
}

/** @param {import("../../core/types.js").App} app @param {number} number */
function colourOf(app, number) {
  return app.theme.colour(`--run-${(number % MOST) + 1}`);
}

/** @param {Page} page @param {string} tag @param {() => Group[]} groups */
function groupCard(page, tag, groups) {
  const { app } = page;
  const plot = h("div", { class: "chart", role: "img", "aria-label": tag });
  const foot = h("div", { class: "small" });
  /** @type {any[]} */
  let bands = [];
  /** @type {Group[]} */
  let drawn = [];
  const figure = () => {
    const { to, layout } = bandSheet(page, bands);
    return {
      data: bands.flatMap((band, i) =>
        band.runs.length ? bandTraces({ band, colour: colourOf(app, i), label: drawn[i].label, to }) : [],
      ),
      layout,
    };
  };
  const paint = () => app.charts.draw(plot, figure);
  const load = () => {
    const wanted = groups();
    const px = Math.max(200, Math.min(800, plot.clientWidth || 400));
    asked.ask(
      (signal) =>
        Promise.all(
          wanted.map((group) => app.api.columns("v2/scalar/band", { tag, run: group.runs, px }, { signal })),
        ),
      (answers) => {
        [drawn, bands] = [wanted, answers];
        replace(
          foot,
          app.t("scalar.groups.foot", { n: bands.reduce((sum, band) => sum + band.runs.length, 0) }),
        );
        paint();
      },
      leaveAsIs,
    );
  };
  const element = card({
    title: tag,
    tools: [saveButton(app, () => element, tag)],
    body: plot,
    foot,
    full: { label: app.t("common.fullscreen") },
  });
  const asked = latest(element);
  const seen = whenNear(element, load);
  return {
    element,
    paint,
    load: seen.ask,
    end: () => (asked.end(), seen.end(), app.charts.remove(plot)),
  };
}
