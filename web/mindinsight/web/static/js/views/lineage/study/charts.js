// Charts of a study: every trial with the best so far, or the Pareto front of several targets.

import { segments } from "../../../components/button.js";
import { check, select } from "../../../components/field.js";
import { h } from "../../../core/dom.js";
import { plotTime, zoneName } from "../../../core/format.js";
import { exactPattern } from "../../../core/patterns.js";
import { valueText } from "./values.js";

/** @typedef {[number, number]} Point of a line */
/** @typedef {import("../../../core/charts.js").Figure} Figure */
/** @typedef {import("./panel.js").StudyPanel} StudyPanel */
/** @typedef {import("./types.js").Study} Study */
/** @typedef {import("./types.js").Trial} Trial */

const DONE = ["complete", "imported"];
const SPREAD = 200; // largest over smallest value from which on the axis is logarithmic by itself

/**
 * Create the chart of a study with one target: every trial, and the best so far.
 * @param {StudyPanel} panel
 */
export function bestChart(panel) {
  const { app } = panel;
  const { t } = app;
  const study = /** @type {Study} */ (panel.study);
  const over = segments({
    label: t("tuning.over"),
    options: ["trial", "time"].map((value) => ({ value, label: t(`tuning.over.${value}`) })),
    value: panel.over,
    onchange: (value) => {
      panel.over = value;
      app.url.set({ over: value === "trial" ? null : value });
      panel.drawChart();
    },
  });
  const log = check({
    label: t("tuning.log"),
    checked: logarithmic(panel),
    onchange: (on) => {
      panel.log = on;
      panel.drawChart();
    },
  });
  const label = t("tuning.best_so_far", { target: study.targets[0].name });
  const plot = h("div", { class: "chart", role: "img", "aria-label": label });
  const element = [
    h("div", { class: "toolbar" }, h("h2", { class: "panel-title grow" }, label), log, over, curves(panel)),
    plot,
  ];
  return { element, start: () => drawPlot(panel, plot, () => bestFigure(panel)) };
}

/** Create the link to the curves of the trials; null if no run has the target. @param {StudyPanel} panel */
function curves({ app, study }) {
  const { selection, t } = app;
  const { targets, trials } = /** @type {Study} */ (study);
  const runs = trials.flatMap(({ run }) => (run !== null && selection.run(run) ? [run] : []));
  if (targets[0].group !== "scalar" || !runs.length) return null;
  const href = selection.linkOnly("scalar", runs, { q: exactPattern(targets[0].name) });
  return h("a", { class: "button", href }, t("tuning.curves"));
}

/**
 * Draw a figure. A click on a trial opens its run.
 * @param {StudyPanel} panel
 * @param {HTMLElement} plot
 * @param {() => Figure} figure
 */
function drawPlot({ app }, plot, figure) {
  app.charts.draw(plot, figure, (element) =>
    element.on("plotly_click", (event) => {
      const run = event.points[0].customdata;
      if (typeof run === "string") app.router.go(app.url.link("overview", { run }));
    }),
  );
}

/**
 * Return whether values are on a logarithmic axis: as chosen, otherwise if positive values span a factor of
 * 200.
 * @param {StudyPanel} panel
 */
function logarithmic({ study, log }) {
  if (log !== null) return log;
  const values = (study?.trials ?? []).flatMap((trial) => trial.values ?? []).map(Number);
  return Math.min(...values) > 0 && Math.max(...values) > SPREAD * Math.min(...values);
}

/** Return the figure of one target. @param {StudyPanel} panel */
function bestFigure(panel) {
  const { app, study, over } = panel;
  const { trials, best, targets } = /** @type {Study} */ (study);
  const x = (/** @type {Trial} */ trial) => (over === "time" ? dateOf(trial.ended) : trial.number);
  const ended = trials.filter((trial) => trial.values);
  /** @type {Point[]} */
  const line = best.map(({ number, value, ended: at }) => [over === "time" ? dateOf(at) : number, value]);
  // Trials may end in another order than they began in: the line goes over those that were better by then.
  if (over !== "time") line.sort((a, b) => Number(a[0]) - Number(b[0]));
  const last = ended.map(x).reduce((a, b) => (a > b ? a : b), line.at(-1)?.[0] ?? 0);
  const steps = line.length
    ? [...improving(line, targets[0].goal), [last, bestOf(line, targets[0].goal)]]
    : [];
  return {
    data: [
      /** Return the trace of some trials. */
      markers(
        app,
        ended.filter(({ state }) => state === "pruned"),
        x,
        "--line-strong",
        "tuning.state.pruned",
        0.5,
      ),
      markers(
        app,
        ended.filter(({ state }) => DONE.includes(state)),
        x,
        "--accent",
        "tuning.state.complete",
        0.75,
      ),
      {
        type: "scatter",
        mode: "lines",
        x: steps.map(([at]) => at),
        y: steps.map(([, value]) => value),
        line: { shape: "hv", width: 2, color: app.theme.colour("--run-2") },
        name: app.t("tuning.best_line"),
        hoverinfo: "skip",
      },
    ],
    layout: {
      ...app.theme.plotly(),
      margin: { l: 48, r: 12, t: 8, b: 36 },
      xaxis: app.theme.axis(
        over === "time"
          ? { type: "date", title: { text: zoneName(Date.now() / 1000) } }
          : { title: { text: app.t("tuning.number") } },
      ),
      yaxis: app.theme.axis({
        title: { text: targets[0].name },
        type: logarithmic(panel) ? "log" : "linear",
        exponentformat: "power",
      }),
      hovermode: "closest",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    },
  };
}

/** Return the points that are better than all before them. @param {Point[]} line @param {string} goal */
function improving(line, goal) {
  let best = goal === "maximize" ? -Infinity : Infinity;
  return line.filter(([, value]) => {
    const better = goal === "maximize" ? value > best : value < best;
    if (better) best = value;
    return better;
  });
}

/** Return the best value. @param {Point[]} line @param {string} goal */
function bestOf(line, goal) {
  const values = line.map(([, value]) => value);
  return goal === "maximize" ? Math.max(...values) : Math.min(...values);
}

/**
 * @param {import("../../../core/types.js").App} app
 * @param {Trial[]} trials
 * @param {(trial: Trial) => unknown} x
 * @param {string} colour
 * @param {string} name
 * @param {number} opacity
 */
function markers(app, trials, x, colour, name, opacity) {
  return {
    type: "scatter",
    mode: "markers",
    x: trials.map(x),
    y: trials.map(({ values }) => values?.[0]),
    text: trials.map((trial) => tip(app, trial)),
    customdata: trials.map(({ run }) => run),
    marker: { size: 8, opacity, color: app.theme.colour(colour) },
    name: app.t(name),
    hovertemplate: "%{text}<extra></extra>",
  };
}

/**
 * Return the hover text of a trial.
 * @param {import("../../../core/types.js").App} app
 * @param {Trial} trial
 */
function tip(app, { number, values, params }) {
  const lines = Object.entries(params).map(
    ([name, value]) => `${escaped(name)} ${escaped(valueText(app, value))}`,
  );
  const head = `<b>${(values ?? []).map((value) => valueText(app, value)).join(" · ")}</b>`;
  return [head, app.t("tuning.trial", { number }), ...lines].join("<br>");
}

/** Escape HTML, because Plotly renders some tags and names come from users. @param {string} text */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Return a time for Plotly. @param {number | null} unix seconds */
function dateOf(unix) {
  return plotTime(unix ?? 0);
}

/**
 * Create the chart of a study with several targets: the trials and their Pareto front.
 * @param {StudyPanel} panel
 */
export function frontChart(panel) {
  const { app } = panel;
  const { t } = app;
  const { targets } = /** @type {Study} */ (panel.study);
  const plot = h("div", { class: "chart", role: "img", "aria-label": t("tuning.front") });
  const options = targets.map(({ name }, i) => ({ value: String(i), label: name }));
  const choose = (/** @type {string} */ label, /** @type {number} */ axis) =>
    select({
      label,
      options,
      value: String(panel.pair[axis]),
      onchange: (value) => {
        panel.pair[axis] = Number(value);
        panel.drawChart();
      },
    });
  const element = [
    h(
      "div",
      { class: "toolbar" },
      h("h2", { class: "panel-title grow" }, t("tuning.front")),
      targets.length > 2 && [choose("x", 0), choose("y", 1)],
    ),
    plot,
  ];
  return { element, start: () => drawPlot(panel, plot, () => frontFigure(panel)) };
}

/** Return the figure of the Pareto front. @param {StudyPanel} panel */
function frontFigure({ app, study, pair }) {
  const { trials, front, targets } = /** @type {Study} */ (study);
  const [across, up] = pair;
  const best = new Set(front);
  const complete = trials.filter(({ state, values }) => values && DONE.includes(state));
  const on = complete.filter(({ number }) => best.has(number));
  on.sort((a, b) => Number(a.values?.[across]) - Number(b.values?.[across]));
  const dots = (/** @type {Trial[]} */ points, /** @type {Record<string, unknown>} */ more) => ({
    type: "scatter",
    x: points.map(({ values }) => values?.[across]),
    y: points.map(({ values }) => values?.[up]),
    text: points.map((trial) => tip(app, trial)),
    customdata: points.map(({ run }) => run),
    hovertemplate: "%{text}<extra></extra>",
    ...more,
  });
  const goal = (/** @type {number} */ i) =>
    `${targets[i].name} ${targets[i].goal === "maximize" ? "↑" : "↓"}`;
  const muted = { size: 8, opacity: 0.6, color: app.theme.colour("--line-strong") };
  const accent = app.theme.colour("--run-2");
  const dominated = complete.filter(({ number }) => !best.has(number));
  return {
    data: [
      dots(dominated, { mode: "markers", marker: muted, name: app.t("tuning.dominated") }),
      dots(on, {
        mode: targets.length > 2 ? "markers" : "lines+markers",
        marker: { size: 9, color: accent },
        line: { width: 1.5, color: accent, dash: "dot" },
        name: app.t("tuning.front"),
      }),
    ],
    layout: {
      ...app.theme.plotly(),
      margin: { l: 48, r: 12, t: 8, b: 36 },
      xaxis: app.theme.axis({ title: { text: goal(across) } }),
      yaxis: app.theme.axis({ title: { text: goal(up) } }),
      hovermode: "closest",
      showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    },
  };
}
