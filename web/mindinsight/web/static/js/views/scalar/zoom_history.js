// History of zooms for stepping back.

/** @typedef {import("./options.js").Options} Options */
/** @typedef {Pick<Options, "zoom" | "tall">} Look */

const MOST = 50;

/** Create the history of a page's zooms, for stepping back. */
export function createPast() {
  /** @type {Look[]} */
  let looks = [];
  return {
    /** Something is about to be chosen. @param {Options} now @param {Partial<Options>} changes */
    leave(now, changes) {
      if (changes.x !== undefined && changes.x !== now.x) {
        looks = [];
      } // ranges of another axis
      else if (changes.zoom !== undefined || changes.tall !== undefined) {
        looks = [...looks.slice(1 - MOST), { zoom: now.zoom, tall: now.tall }];
      }
    },
    /** @returns {Look | undefined} what was looked at before */
    back: () => looks.pop(),
    any: () => looks.length > 0,
    forget: () => (looks = []),
  };
}
