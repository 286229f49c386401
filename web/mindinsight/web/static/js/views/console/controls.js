// Controls of the console page, and the note of what is not on it.

import { button } from "../../components/button.js";
import { check, searchBox, select } from "../../components/field.js";
import { time as timeText } from "../../core/format.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Create the controls: run, search, listed lines, following, newest lines. The first is left out without
 * another run.
 * @param {App} app
 * @param {Run} run that is shown
 * @param {Run[]} runs to choose from
 * @param {{query: string, follow: boolean, levels: HTMLElement, choose: (id: string) => void,
 *   find: (text: string) => void, setFollow: (on: boolean) => void, end: () => void}} page
 */
export function controls({ t }, run, runs, { query, follow, levels, choose, find, setFollow, end }) {
  const choices = runs.some(({ id }) => id === run.id) ? runs : [run, ...runs];
  const options = choices.map(({ id, name }) => ({ value: id, label: name }));
  const chooser = select({ label: t("console.run"), options, value: run.id, onchange: choose });
  const finder = searchBox({ label: t("console.find"), value: query, delay: 300, onchange: find });
  const following = check({ label: t("console.follow"), checked: follow, onchange: setFollow });
  const newest = button(t("console.end"), end);
  return { following, elements: [choices.length > 1 && chooser, finder, levels, following, newest] };
}

/**
 * Return the text that names the lines which are not on the page, "" if all are.
 * @param {App} app
 * @param {NodeListOf<HTMLElement>} shown lines with a time
 * @param {boolean} before whether there are earlier lines
 * @param {boolean} after whether there may be later lines
 */
export function leftOut({ t }, shown, before, after) {
  const sides = [before && "before", after && "after"].filter(Boolean).join("_");
  const ends = [shown[0], shown[shown.length - 1]];
  const [from, to] = ends.map((line) => (line ? timeText(Number(line.dataset.time)) : ""));
  return sides && t(`console.left.${sides}`, { from, to });
}
