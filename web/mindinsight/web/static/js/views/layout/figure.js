// Figure of a layout's chart.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./card.js").Chart} Chart */
/** @typedef {import("./card.js").Line} Line */

const COLOURS = 12; // of the palette

/**
 * Return a line's colour: the run's if each run has one line, otherwise one of its own.
 * @param {App} app
 * @param {Chart} chart
 * @param {Line[]} lines
 * @param {Line} line
 */
export function colourOf(app, chart, lines, line) {
  const tags = [...new Set(lines.map(({ tag }) => tag))];
  if (tags.length < 2 || chart.margins.length === 1) return app.selection.colour(line.run);
  const at = lines.findIndex(({ tag, run }) => tag === line.tag && run === line.run);
  return app.theme.colour(`--run-${(at % COLOURS) + 1}`);
}

/**
 * Return the Plotly figure of a chart of a custom layout.
 * @param {App} app
 * @param {Chart} chart
 * @param {Line[]} lines
 * @returns {import("../../core/charts.js").Figure}
 */
export function layoutFigure(app, chart, lines) {
  const { theme } = app;
  const data = chart.margins.length
    ? [...new Set(lines.map(({ run }) => run))].flatMap((run) =>
        chart.margins.flatMap((margin) => marginTraces(app, chart, lines, run, margin)),
      )
    : lines.map((line) => trace(line, colourOf(app, chart, lines, line)));
  return {
    data,
    layout: { ...theme.plotly(), yaxis: theme.axis({ nticks: 6, exponentformat: "e" }), hovermode: "x" },
  };
}

/** Return the trace of a line. @param {Line} line @param {string} colour */
function trace({ tag, step, value }, colour) {
  return {
    type: "scatter",
    mode: step.length > 1 ? "lines" : "markers",
    x: step,
    y: value,
    name: tag,
    hovertemplate: "%{y:.4g}",
    line: { color: colour, width: 2 },
    marker: { color: colour, size: 6 },
  };
}

/**
 * Return a line and the area of its margin behind it.
 * @param {App} app
 * @param {Chart} chart
 * @param {Line[]} lines
 * @param {string} run
 * @param {[string, string, string]} margin
 */
function marginTraces(app, chart, lines, run, margin) {
  const [value, lower, upper] = margin.map((tag) =>
    lines.find((line) => line.tag === tag && line.run === run),
  );
  const colour = value ? colourOf(app, chart, lines, value) : app.selection.colour(run);
  const edge = {
    hoverinfo: "skip",
    hovertemplate: undefined,
    mode: "lines",
    line: { width: 0, color: colour },
  };
  const band =
    lower && upper
      ? [
          { ...trace(lower, colour), ...edge },
          { ...trace(upper, colour), ...edge, fill: "tonexty", fillcolor: `${colour}33` },
        ]
      : [];
  return value ? [...band, trace(value, colour)] : band;
}
