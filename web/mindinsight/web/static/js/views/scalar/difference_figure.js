// Plotly figure of the differences between runs and a baseline.

/**
 * Return the figure: relative differences above, absolute ones below, a dotted line where a run diverges.
 * @param {import("../../core/types.js").App} app
 * @param {any} response of "v2/scalar/compare"
 */
export function differenceFigure(app, response) {
  const { theme } = app;
  const data = response.series.flatMap((/** @type {any} */ series) => {
    const colour = app.selection.colour(series.run);
    const line = {
      type: "scatter",
      mode: "lines",
      x: series.step,
      line: { color: colour, width: 1.6, dash: app.selection.dash(series.run) },
      name: app.selection.run(series.run)?.name ?? series.run,
    };
    const relative = {
      ...line,
      y: Float64Array.from(series.relative, (v) => v * 1000),
      hovertemplate: "%{x}: %{y:.4g}‰",
    };
    const apart = { ...line, y: series.difference, yaxis: "y2", hovertemplate: "%{x}: %{y:.4g}" };
    return [relative, apart];
  });
  const shapes = response.series
    .filter((/** @type {any} */ series) => series.parted !== null)
    .map((/** @type {any} */ series) => ({
      type: "line",
      x0: series.parted,
      x1: series.parted,
      yref: "paper",
      y0: 0,
      y1: 1,
      line: { color: app.selection.colour(series.run), width: 1, dash: "dot" },
    }));
  const limit = response.tolerance * 1000;
  const band = {
    type: "rect",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: -limit,
    y1: limit,
    fillcolor: theme.colour("--ok"),
    opacity: 0.12,
    line: { width: 0 },
  };
  return {
    data,
    layout: {
      ...theme.plotly(),
      xaxis: theme.axis({ anchor: "y2", nticks: 6 }),
      yaxis: theme.axis({ domain: [0.55, 1], title: { text: app.t("scalar.compare.relative") }, nticks: 4 }),
      yaxis2: theme.axis({
        domain: [0, 0.45],
        title: { text: app.t("scalar.compare.difference") },
        nticks: 4,
      }),
      shapes: [band, ...shapes],
      hovermode: "closest",
    },
  };
}
