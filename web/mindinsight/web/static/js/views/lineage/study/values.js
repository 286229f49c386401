// Values of parameters and targets as text.

/**
 * Format a value; "–" if it is missing.
 * @param {import("../../../core/types.js").App} app
 * @param {unknown} value
 */
export function valueText({ format }, value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? format.number(value, 4) : String(value);
}

/**
 * Return the names of all parameters, in the order of the tuning file.
 * @param {import("./types.js").Study} study
 */
export function parameterNames({ parameters, trials }) {
  const names = parameters.map(({ name }) => name);
  const further = trials.flatMap(({ params }) => Object.keys(params));
  return [...new Set([...names, ...further])];
}
