// Claim about checkpoints, with links to the tensors that it is about.

import { button } from "../../components/button.js";
import { claimElement } from "../../core/claims.js";

/** @typedef {import("../../core/claims.js").Claim} Claim */

/** Facts that are usual: training changes weights and counts its steps. */
const USUAL = ["changed", "changed_all", "counters"].map((name) => `claim.checkpoint.${name}`);

/** Return whether a claim is about something wrong. @param {Claim} claim */
function isLoud({ key, verdict }) {
  return verdict === "found" && !USUAL.includes(key);
}

/**
 * Create a claim with a link to each tensor and checkpoint of its evidence.
 * @param {import("../../core/types.js").App} app
 * @param {Claim} claim
 * @param {import("./timeline.js").Saved[]} saved checkpoints of the timeline, none in another mode
 * @param {(changes: {tensor: string, at: string, q: string}) => void} change
 */
export function linkedClaim(app, claim, saved, change) {
  const element = claimElement(app, claim, { class: isLoud(claim) ? "banner bad" : "" });
  for (const { tensor, checkpoint } of claim.evidence) {
    const [at, ...others] = saved.filter(({ id }) => id.endsWith(`/${checkpoint}`));
    if (!tensor || !at || others.length) continue; // files of one name in several folders
    const open = () => change({ tensor: String(tensor), at: at.id, q: String(tensor) });
    element.append(" ", button(`${tensor} · ${at.label}`, open, { class: "link" }));
  }
  return element;
}
