// Shares as text, in the units of the claims about alignment.

import { number } from "../../core/format.js";

const PERCENT = 0.01; // share from which it is in percent: 1 ‰ is the tolerance of the tutorials

/** Format a share: 0.01 ‰, 1 ‰, 1 %, 1,150 %. @param {number} share */
export function shareText(share) {
  const [factor, unit] = share >= PERCENT ? [100, "%"] : [1000, "‰"];
  return `${number(Number((share * factor).toPrecision(3)))} ${unit}`;
}
