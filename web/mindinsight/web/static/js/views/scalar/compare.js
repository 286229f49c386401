// Runs against a baseline: difference curves, the first step where they part, and the settings that differ.

import { shortenTitles } from "../../components/card.js";
import { h, throttle } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { settingsTable, verdictTable } from "./compare_tables.js";
import { DifferenceCard } from "./difference_card.js";
import { emptyPart } from "./mode_view.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("./card.js").Page} Page */

const SWEEP_MS = 10_000; // between two looks at all tags while runs grow

/**
 * The selected runs that can be compared, of a folded job the lowest rank. Runs outside the selection, pinned
 * or not, have no part in it.
 * @param {Page} page
 */
export function comparedRuns(page) {
  return comparedEntries(page).filter((run) => run.kinds.scalar);
}

/** The ranks of a job are compared with each other where nothing else is shown. @param {Page} page */
function comparedEntries({ app: { selection } }) {
  const entries = selection.entries();
  return entries.length > 1 ? entries : selection.runs();
}

/**
 * The run that the others are measured against: the one in the address, else the pinned one, else the first.
 * @param {Page} page
 */
export function baselineOf(page) {
  const runs = comparedRuns(page);
  const { baseline } = page.options();
  return runs.find((run) => run.id === baseline) ?? runs.find((run) => run.pinned) ?? runs[0] ?? null;
}

/**
 * Tags that the baseline and another run hold: only these can be compared.
 * @param {Page} page
 * @param {string[]} tags
 * @param {string} base
 */
export function comparable(page, tags, base) {
  return tags.filter((tag) => page.runsOf(tag).includes(base) && page.runsOf(tag).length > 1);
}

/** @param {Page} page @param {string[]} tags @returns {import("./mode_view.js").Part} */
export function compareView(page, tags) {
  const { app } = page;
  const base = baselineOf(page);
  const runs = comparedEntries(page).filter((run) => run.id !== base?.id);
  const text = app.t("scalar.compare.how");
  if (!base || !runs.length) return emptyPart({ title: app.t("scalar.compare.need"), text });
  const { pairs } = page.options();
  const shared = comparable(page, tags, base.id);
  if (!shared.length && !pairs.length) {
    return emptyPart({ title: app.t("scalar.compare.nothing", { run: base.name }), text });
  }
  const compared = [...shared, ...pairs.map(([, partner]) => partner)];
  const sharing = runs.filter((run) => compared.some((tag) => page.runsOf(tag).includes(run.id)));
  const cards = [...pairs, ...shared.map((tag) => [tag, tag])].map(
    ([tag, partner]) => new DifferenceCard(page, tag, partner, base.id, sharing),
  );
  const caption = app.t("scalar.compare.caption", {
    run: base.name,
    tolerance: number(page.options().tolerance * 1000),
  });
  const facts = h(
    "div",
    { class: "scalar-compared" },
    verdictTable(app, caption, cards, sharing),
    settingsTable(app, [base, ...runs]),
  );
  const elements = cards.map((card) => card.element);
  shortenTitles(elements);
  return differencePart(h("div", { class: "stack" }, facts, h("div", { class: "cards" }, elements)), cards);
}

/** @param {HTMLElement} element @param {DifferenceCard[]} cards @returns {import("./mode_view.js").Part} */
function differencePart(element, cards) {
  const requests = latest(element);
  /** The verdicts of cards that nobody has scrolled to, one after the other. */
  const sweep = () =>
    requests.ask(
      async (signal) => {
        for (const card of cards) if (!card.judged) await card.judge(signal);
      },
      () => {},
      leaveAsIs,
    );
  const sweepSoon = throttle(sweep, SWEEP_MS);
  const load = () => cards.forEach((card) => card.load());
  return {
    element,
    load: () => (load(), sweep()),
    paint: () => cards.forEach((card) => card.paint()),
    update: () => (load(), sweepSoon()),
    end: () => (sweepSoon.cancel(), requests.end(), cards.forEach((card) => card.end())),
  };
}
