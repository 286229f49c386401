// Shares in per mille.

import { number } from "../../core/format.js";

/** Format a share in per mille: 1 ‰, 0.01 ‰. @param {number} share */
export function permille(share) {
  return `${number(Number((share * 1000).toPrecision(3)))} ‰`;
}
