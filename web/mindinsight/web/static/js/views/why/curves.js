// Picture of one scalar: the curves of the good runs and of the bad ones.

import { h } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { members } from "./groups.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {Map<string, import("./groups.js").Group>} Groups */

const MOST = 40; // curves of a group
const PX = 600; // points of a curve
const COLOURS = /** @type {const} */ ({ good: "--accent", bad: "--bad" });
const DASHES = /** @type {const} */ ({ good: "solid", bad: "dot" });

/** Chart of the scalar in which good and bad runs differ first. */
export class GroupCurves {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.requests = latest();
    this.title = h("h2", { class: "panel-title" });
    this.plot = h("div", { class: "chart", role: "img" });
    this.element = h("section", { class: "panel why-curves", hidden: true }, this.title, this.plot);
  }

  /**
   * Show the curves of a scalar, or nothing without one.
   * @param {string | undefined} tag
   * @param {Groups} groups
   */
  show(tag, groups) {
    this.element.hidden = tag === undefined;
    if (tag === undefined) return;
    const run = [...members(groups, "good").slice(0, MOST), ...members(groups, "bad").slice(0, MOST)];
    this.title.textContent = this.app.t("why.curves", { tag });
    this.plot.setAttribute("aria-label", this.title.textContent);
    this.requests.ask(
      (signal) => this.app.api.columns("v2/scalar/series", { tag, run, px: PX }, { signal }),
      ({ series }) => this.app.charts.draw(this.plot, () => figure(this.app, series, groups)),
      leaveAsIs,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.app.charts.removeAll(this.element);
  }
}

/**
 * Return the figure. Only the first curve of a group is in the legend.
 * @param {App} app
 * @param {{run: string, step: ArrayLike<number>, value: ArrayLike<number>}[]} series
 * @param {Groups} groups
 */
function figure(app, series, groups) {
  const { t, theme } = app;
  const data = /** @type {const} */ (["good", "bad"]).flatMap((group) => {
    const ids = new Set(members(groups, group));
    return series
      .filter(({ run }) => ids.has(run))
      .map(({ run, step, value }, at) => ({
        type: "scatter",
        mode: "lines",
        x: step,
        y: value,
        line: { width: 1.2, color: theme.colour(COLOURS[group]), dash: DASHES[group] },
        opacity: 0.8,
        name: t(`why.${group}`),
        legendgroup: group,
        showlegend: at === 0,
        text: app.selection.run(run)?.name ?? run,
        hovertemplate: "%{text}<br>%{x}: %{y}<extra></extra>",
      }));
  });
  return {
    data,
    layout: {
      ...theme.plotly(),
      margin: { l: 48, r: 12, t: 8, b: 32 },
      xaxis: theme.axis({}),
      yaxis: theme.axis({}),
      hovermode: "closest",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    },
  };
}
