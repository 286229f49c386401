// Notes on the groups of all charts: what does not count in a mean. Each note is said once, with its tags.

import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { groupColour } from "./group_card.js";

/** @typedef {import("../../core/answers.js").GroupBand} GroupBand */
/** @typedef {import("./group_card.js").Group} Group */

const OPEN = 2; // notes that are not folded away

/**
 * Create the notes on groups.
 * @param {import("../../core/types.js").App} app
 */
export function groupNotes(app) {
  const element = h("div", { class: "small" });
  /** @type {Group[]} */
  let groups = [];
  /** By tag. @type {Map<string, GroupBand[]>} */
  const known = new Map();
  const draw = () => {
    const rows = distinctNotes(known).map(({ group, claim, tags }) =>
      h(
        "div",
        { class: "group-note" },
        h("i", { class: "swatch", style: { background: groupColour(app, group) } }),
        h("b", null, ` ${groups[group].label} `),
        h("span", { class: "muted" }, `${tags.join(", ")}: `),
        claimElement(app, claim),
      ),
    );
    const summary = h("summary", null, app.t("scalar.groups.notes", { n: rows.length }));
    replace(element, rows.length > OPEN ? h("details", null, summary, rows) : rows);
  };
  return {
    element,
    /** Forget the notes on other groups. @param {Group[]} next */
    begin(next) {
      groups = next;
      known.clear();
      draw();
    },
    /** Show the notes on one tag. @param {string} tag @param {GroupBand[]} bands */
    show(tag, bands) {
      known.set(tag, bands);
      draw();
    },
  };
}

/**
 * Return each claim about a group once, with the tags for which it was made.
 * @param {Map<string, GroupBand[]>} bands of the groups, by tag
 */
export function distinctNotes(bands) {
  /** @type {Map<string, {group: number, claim: import("../../core/claims.js").Claim, tags: string[]}>} */
  const notes = new Map();
  for (const [tag, of] of bands) {
    of.forEach(({ claims }, group) =>
      claims.forEach((claim) => {
        const key = JSON.stringify([group, claim.key, claim.values]);
        const note = notes.get(key) ?? { group, claim, tags: [] };
        note.tags.push(tag);
        notes.set(key, note);
      }),
    );
  }
  return [...notes.values()].sort((a, b) => a.group - b.group);
}
