// Figure of a chart for a document: with title, legend and axis names.

const TOP = 44; // px for the title
const ROW = 20; // px of a row of the legend
const IN_ROW = 3; // names in one
const MOST = 30; // names: more would leave no room for the curves

/**
 * Return the figure of a chart for a document, with title, legend and names of the axes.
 * @param {import("../../core/charts.js").Figure} figure
 * @param {{title: string, x: string, y: string, text: string, background: string}} names
 * @returns {import("../../core/charts.js").Figure}
 */
export function pictureOf({ data, layout, config }, { title, x, y, text, background }) {
  const named = new Set();
  const traces = data.map((trace) => {
    const first = trace.name && trace.opacity === 1 && !trace.fill && !named.has(trace.name);
    if (first) named.add(trace.name);
    return { ...trace, showlegend: Boolean(first) && named.size <= MOST };
  });
  const rows = Math.ceil(Math.min(named.size, MOST) / IN_ROW);
  const axisTitle = (/** @type {string} */ name) => ({ text: name, font: { color: text, size: 13 } });
  return {
    data: traces,
    layout: {
      ...layout,
      paper_bgcolor: background,
      plot_bgcolor: background,
      title: { text: plain(title), font: { color: text, size: 17 }, x: 0.02, xanchor: "left" },
      showlegend: named.size > 0,
      legend: { orientation: "h", x: 0, y: -0.16, yanchor: "top", font: { color: text, size: 12 } },
      margin: { l: 72, r: 24, t: TOP, b: 56 + ROW * rows },
      xaxis: { ...layout.xaxis, title: axisTitle(plain(x)), automargin: true },
      yaxis: { ...layout.yaxis, title: axisTitle(plain(y)), automargin: true },
    },
    config,
  };
}

/** Escape HTML, which Plotly would render. @param {string} text */
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
