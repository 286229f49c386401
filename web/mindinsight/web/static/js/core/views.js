// Dynamic import of views.
//
// The only module that imports by a computed path. It lies one folder below the scripts, in the bundle too.

/**
 * Import the module of a view, or of a part of it such as `scalar/tile`.
 * @template {string} P
 * @param {P} path below the folder of views, without its ending: `scalar`, `scalar/tile`
 * @returns {Promise<P extends `${string}/tile` ? {tiles: import("./types.js").TileKind[]} :
 *   import("./types.js").ViewModule>}
 */
export function importView(path) {
  return import(`../views/${path}.js`);
}
