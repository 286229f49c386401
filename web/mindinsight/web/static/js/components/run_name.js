// Name of a run without the beginning that all shown runs share.

import { sharedPath } from "../core/names.js";
import { longName } from "./long_name.js";

/**
 * Create the element of a run's name, shortened by the beginning that the names of the shown runs share.
 * @param {import("../core/types.js").App} app
 * @param {string} id of the run
 */
export function runName({ selection }, id) {
  const start = sharedPath(selection.runs().map(({ name }) => name));
  return longName(selection.run(id)?.name ?? id, { start });
}
