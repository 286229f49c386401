// Interface of the modes of the scalars page.

import { empty } from "../../components/empty.js";

/**
 * @typedef {Object} Part
 * @property {HTMLElement | HTMLElement[]} element
 * @property {() => unknown} load fetch the data, then draw
 * @property {(runs: string[]) => unknown} update these runs have new points
 * @property {() => unknown} paint draw the data there is
 * @property {(tags: string[]) => HTMLElement[]} [show] these tags, by the cards that are there already
 * @property {() => unknown} end
 */

/**
 * Create a part that only shows why there is nothing.
 * @param {HTMLElement | Parameters<typeof empty>[0]} message
 * @returns {Part}
 */
export function emptyPart(message) {
  const nothing = () => {};
  return {
    element: message instanceof HTMLElement ? message : empty(message),
    load: nothing,
    update: nothing,
    paint: nothing,
    end: nothing,
  };
}
