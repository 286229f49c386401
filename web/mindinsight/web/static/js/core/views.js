// Modules of views, which are imported when they are needed.
//
// It is the only place that imports by a path that is put together, and lies one folder below the scripts:
// in a bundle, too.

/**
 * @param {string} path below the folder of views, without its ending: `scalar`, `scalar/tile`
 * @returns {Promise<any>}
 */
export function importView(path) {
  return import(`../views/${path}.js`);
}
