// Name of a run, without the beginning that the names of all shown runs share.

import { commonStart } from "../core/names.js";
import { longName } from "./long_name.js";

/** @param {import("../core/types.js").App} app @param {string} id of the run */
export function runName({ selection }, id) {
  const start = commonStart(selection.runs().map(({ name }) => name));
  return longName(selection.run(id)?.name ?? id, { start });
}
