// Figures of precision-recall and ROC curves.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/charts.js").Figure} Figure */
/** @typedef {import("./card.js").Curve} Curve */
/** @typedef {import("./card.js").Area} Area */

/**
 * Return the figure of precision over recall, or of true over false positive rates. The tooltip of a point
 * has its threshold and counts.
 * @param {App} app
 * @param {Curve[]} curves
 * @param {boolean} [roc]
 * @returns {Figure}
 */
export function curveFigure(app, curves, roc = false) {
  const { t, theme } = app;
  const [across, up] = roc ? ["pr_curve.fpr", "pr_curve.tpr"] : ["pr_curve.recall", "pr_curve.precision"];
  const drawn = curves.filter(({ problem, no_roc: unknown }) => !problem && !(roc && unknown));
  return {
    data: drawn.map((curve) => curveTrace(app, curve, roc)),
    layout: {
      ...theme.plotly(),
      xaxis: theme.axis({ title: { text: t(across) }, range: [-0.02, 1.02] }),
      yaxis: theme.axis({ title: { text: t(up) }, range: [-0.02, 1.02] }),
      hovermode: "closest",
    },
  };
}

/** Return the trace of one run. @param {App} app @param {Curve} curve @param {boolean} roc */
function curveTrace(app, curve, roc) {
  const { t, selection } = app;
  const colour = selection.colour(curve.run);
  const counts = [curve.true_positives, curve.false_positives, curve.true_negatives, curve.false_negatives];
  const count = roc ? curve.threshold.length : curve.drawn;
  const rows = Array.from({ length: count }, (_, i) => [
    curve.threshold[i],
    ...counts.map((column) => column[i]),
  ]);
  const texts = ["pr_curve.tp", "pr_curve.fp", "pr_curve.tn", "pr_curve.fn"];
  const lines = [
    `<b>${plain(selection.run(curve.run)?.name ?? curve.run)}</b>`,
    `${t("pr_curve.threshold")}: %{customdata[0]:.4g}`,
    `${t(roc ? "pr_curve.tpr" : "pr_curve.precision")}: %{y:.4g}`,
    `${t(roc ? "pr_curve.fpr" : "pr_curve.recall")}: %{x:.4g}`,
    ...texts.map((key, i) => `${t(key)}: %{customdata[${i + 1}]}`),
  ];
  return {
    type: "scatter",
    mode: "lines+markers",
    x: (roc ? curve.false_positive_rate : curve.recall).slice(0, count),
    y: (roc ? curve.true_positive_rate : curve.precision).slice(0, count),
    customdata: rows,
    hovertemplate: `${lines.join("<br>")}<extra></extra>`,
    line: { color: colour, width: 2 },
    marker: { color: colour, size: 4 },
  };
}

/**
 * Return the figure of average precision, or of the area under ROC, by step, with the shown step marked.
 * @param {App} app
 * @param {Area[]} areas
 * @param {number} shown
 * @param {boolean} roc
 * @returns {Figure}
 */
export function areaFigure(app, areas, shown, roc) {
  const { theme, selection } = app;
  const line = { color: theme.colour("--accent"), width: 1, dash: "dot" };
  return {
    data: areas.map(({ run, step, value, roc: under }) => ({
      type: "scatter",
      mode: step.length > 1 ? "lines" : "markers",
      x: step,
      y: roc ? under : value,
      hovertemplate: `${plain(selection.run(run)?.name ?? run)}<br>%{x}: %{y:.4g}<extra></extra>`,
      line: { color: selection.colour(run), width: 2 },
      marker: { color: selection.colour(run), size: 6 },
    })),
    layout: {
      ...theme.plotly(),
      margin: { l: 48, r: 12, t: 4, b: 24 },
      xaxis: theme.axis({ nticks: 5 }),
      yaxis: theme.axis({ nticks: 3 }),
      shapes: [{ type: "line", xref: "x", yref: "paper", x0: shown, x1: shown, y0: 0, y1: 1, line }],
      hovermode: "closest",
    },
  };
}

/** Escape what Plotly would take for markup or a placeholder. @param {string} text */
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("%{", "%\u200b{");
}
