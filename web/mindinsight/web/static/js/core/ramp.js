// Sequential colour scale of heat maps.

/**
 * Return a perceptually uniform colour scale from the panel's colour to the accent.
 * @param {import("./types.js").App} app
 * @returns {[number, string][]} share and colour, as Plotly's `colorscale`
 */
export function ramp(app) {
  return app.theme.dark()
    ? [
        [0, app.theme.colour("--panel")],
        [0.25, "#1d4f63"],
        [0.6, "#2e9c9a"],
        [1, "#f3f5b0"],
      ]
    : [
        [0, app.theme.colour("--panel")],
        [0.25, "#a8d5d3"],
        [0.6, "#1f8a93"],
        [1, "#123a5c"],
      ];
}
