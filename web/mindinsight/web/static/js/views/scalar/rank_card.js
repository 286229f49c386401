// Card of a job's ranks for one tag: band over all ranks, heat map, and the outlier ranks.

import { button } from "../../components/button.js";
import { chartCard, plotArea } from "../../components/chart_card.js";
import { claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { awayFromMedian, usualMost } from "./rank_distance.js";
import { bandFigure, bandKey, heatFigure, scaleKey } from "./rank_figures.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("./rank_figures.js").Grid} Grid */

const NAMED = 8; // ranks named in the foot line at most

/**
 * Create the card of a job's ranks for one tag: band, heat map and outlier ranks.
 * @param {Page} page
 * @param {string} tag
 * @param {string} job
 */
export function rankCard(page, tag, job) {
  return new RankCard(page, tag, job);
}

/** Card of one tag. */
class RankCard {
  /** @param {Page} page @param {string} tag @param {string} job */
  constructor(page, tag, job) {
    const { app } = page;
    this.page = page;
    this.tag = tag;
    this.job = job;
    /** Median and range over all ranks. @type {import("../../core/answers.js").GroupBand | null} */
    this.summary = null;
    /** Ranks × steps. @type {Grid | null} */
    this.grid = null;
    /** Curve of the picked rank. @type {import("./rank_figures.js").RankCurve | null} */
    this.rankCurve = null;
    this.band = plotArea(app.t("scalar.ranks.band", { tag }));
    this.heat = plotArea(app.t("scalar.ranks.heat", { tag }));
    this.lines = h("div", { class: "scalar-key small muted" });
    this.key = h("div", { class: "scalar-key small muted" });
    this.foot = h("div", { class: "row small wrap verdicts" });
    this.box = chartCard(app, {
      title: tag,
      plots: [this.band, this.heat],
      body: h("div", { class: "scalar-ranks" }, this.band, this.lines, this.key, this.heat),
      foot: this.foot,
      load: () => this.fetch(),
    });
    this.element = this.box.element;
    this.picking = latest(this.element);
  }

  /** Request the ranks once the card is near the window. */
  load() {
    this.box.load();
  }

  /** Request and draw the ranks. */
  fetch() {
    const { api } = this.page.app;
    const { tag, job } = this;
    const px = Math.max(200, Math.min(800, this.band.clientWidth || 400));
    return this.box.requests.ask(
      (signal) =>
        Promise.all([
          api.columns("v2/scalar/band", { tag, job, px }, { signal }),
          api.columns("v2/scalar/ranks", { tag, job, px: Math.min(px, 300) }, { signal }),
        ]),
      ([summary, grid]) => {
        const away = awayFromMedian(grid);
        this.summary = summary;
        this.grid = { ...grid, away, most: usualMost(away) };
        this.paint();
      },
      leaveAsIs,
    );
  }

  /** Draw band, heat map and footer. */
  paint() {
    const { page, grid, summary } = this;
    const { app } = page;
    if (!summary || !grid) return;
    app.charts.draw(this.band, () => bandFigure(page, summary, this.rankCurve));
    app.charts.draw(
      this.heat,
      () => heatFigure(app, grid, this.heat.clientHeight),
      (plot) =>
        plot.on("plotly_click", (event) => this.pick(grid.ranks.indexOf(Number(event.points[0].customdata)))),
    );
    replace(this.lines, bandKey(app));
    replace(this.key, scaleKey(app, grid.most, grid.not_finite.length > 0));
    replace(
      this.foot,
      outlierRanks(app, grid, (row) => this.pick(row)),
      this.rankCurve && button(app.t("scalar.ranks.unpick"), () => this.unpick(), { class: "link" }),
    );
  }

  /** Draw the curve of one rank over the band. @param {number} row */
  pick(row) {
    const { app } = this.page;
    const { grid } = this;
    if (!grid) return undefined;
    const [run, rank] = [grid.runs[row], grid.ranks[row]];
    return this.picking.ask(
      (signal) => app.api.columns("v2/scalar/series", { tag: this.tag, run: [run], px: 600 }, { signal }),
      ({ series: [curve] }) => {
        this.rankCurve = curve && { ...curve, label: app.t("scalar.ranks.rank", { rank }) };
        this.paint();
      },
      leaveAsIs,
    );
  }

  /** Remove the curve of the rank. */
  unpick() {
    this.picking.end();
    this.rankCurve = null;
    this.paint();
  }

  /** Remove the card. */
  end() {
    this.picking.end();
    this.box.end();
  }
}

/**
 * Create the buttons of outlier ranks, and the claims about the whole job.
 * @param {App} app
 * @param {import("../../core/answers.js").RankGrid} grid
 * @param {(row: number) => void} pick
 */
export function outlierRanks(app, grid, pick) {
  /** @type {Map<string, import("../../core/types.js").Stray[]>} */
  const far = new Map();
  for (const stray of grid.strays) {
    const rows = typeof stray.other === "number" ? `${stray.row} ${stray.other}` : String(stray.row);
    far.set(rows, [...(far.get(rows) ?? []), stray]);
  }
  const named = [...far].slice(0, NAMED).map(([rows, strays]) => {
    const what = strays.map((stray) => claimText(app, stray.claim)).join(app.t("stray.and"));
    const [row, other] = rows.split(" ").map(Number);
    const text =
      other === undefined
        ? app.t("scalar.ranks.strays", { rank: grid.ranks[row], what })
        : app.t("scalar.ranks.pair", { rank: grid.ranks[row], other: grid.ranks[other], what });
    return button(text, () => pick(row), { class: "badge bad", "data-claim": strays[0].claim.key });
  });
  const hidden = far.size - named.length;
  const more = hidden > 0 && h("span", { class: "muted" }, app.t("scalar.ranks.more", { n: hidden }));
  const whole = grid.claims.filter(({ verdict }) => verdict !== "found");
  return [
    named,
    more,
    whole.map((claim) =>
      h(
        "span",
        { class: claim.verdict === "clear" ? "badge ok" : "badge", "data-claim": claim.key },
        claimText(app, claim),
      ),
    ),
  ];
}
