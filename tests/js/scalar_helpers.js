// Addresses and curves for the tests of scalars.

/** The address of a page, as views read and write it. @param {string} search */
export function address(search) {
  const query = new URLSearchParams(search);
  return {
    get: (key, otherwise = null) => query.get(key) ?? otherwise,
    all: (key) => query.getAll(key),
    set(values) {
      for (const [key, value] of Object.entries(values)) {
        query.delete(key);
        for (const item of Array.isArray(value) ? value : [value]) {
          if (item !== null && item !== undefined && item !== "") query.append(key, String(item));
        }
      }
    },
    text: () => query.toString(),
  };
}

/** A curve as the server gives it. @param {number[]} step @param {number[]} value @param {any} [more] */
export function curve(step, value, more = {}) {
  const wall = step.map((number) => 100 + number);
  return {
    run: "./a",
    generation: 1,
    count: step.length,
    points: step.length,
    segments: 1,
    last: [],
    non_finite: [],
    step: Float64Array.from(step),
    wall: Float64Array.from(wall),
    value: Float64Array.from(value),
    ...more,
  };
}
