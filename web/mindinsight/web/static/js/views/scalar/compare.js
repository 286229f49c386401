// Comparison of runs with a baseline: difference curves, first step of divergence, and different settings.

import { shortenTitles } from "../../components/card.js";
import { h, throttle } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { countsTable, MANY, RankedRuns } from "./compare_many.js";
import { settingsNote, settingsTable, verdictTable } from "./compare_tables.js";
import { DifferenceCard } from "./difference_card.js";
import { emptyPart } from "./mode_view.js";

/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("./card.js").Page} Page */

const SWEEP_MS = 10_000; // between two looks at all tags while runs grow

/** Return the selected runs with scalars, with only the lowest rank of each folded job. @param {Page} page */
export function comparedRuns(page) {
  return comparedEntries(page).filter((run) => run.kinds.scalar);
}

/** Return the selected runs, or the ranks of a job if nothing else is selected. @param {Page} page */
function comparedEntries({ app: { selection } }) {
  const entries = selection.entries();
  return entries.length > 1 ? entries : selection.runs();
}

/**
 * Return the baseline: the run in the address, otherwise the pinned one, otherwise the first; null if there
 * is none.
 * @param {Page} page
 */
export function baselineOf(page) {
  const runs = comparedRuns(page);
  const { baseline } = page.options();
  return runs.find((run) => run.id === baseline) ?? runs.find((run) => run.pinned) ?? runs[0] ?? null;
}

/**
 * Return the tags that the baseline and another run have.
 * @param {Page} page
 * @param {string[]} tags
 * @param {string} base
 */
export function comparable(page, tags, base) {
  return tags.filter((tag) => page.runsOf(tag).includes(base) && page.runsOf(tag).length > 1);
}

/**
 * Create the Compare mode of the scalars page: differences from a baseline.
 * @param {Page} page
 * @param {string[]} tags
 * @returns {import("./mode_view.js").Part}
 */
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
  const many = sharing.length > MANY;
  const caption = app.t(many ? "scalar.compare.counted" : "scalar.compare.caption", {
    run: base.name,
    tolerance: number(page.options().tolerance * 1000),
  });
  const ranked = many ? new RankedRuns(app, cards, sharing) : null;
  const tables = ranked
    ? [countsTable(app, caption, cards, sharing, ranked), ranked.element, settingsNote(app, [base, ...runs])]
    : [verdictTable(app, caption, cards, sharing), settingsTable(app, [base, ...runs])];
  const elements = cards.map((card) => card.element);
  shortenTitles(elements);
  const facts = h("div", { class: "scalar-compared" }, tables);
  const element = h("div", { class: "stack" }, facts, h("div", { class: "cards" }, elements));
  return differencePart(element, cards, () => ranked?.end());
}

/**
 * Create the part of the page. Verdicts of cards outside the window are requested one after another.
 * @param {HTMLElement} element
 * @param {DifferenceCard[]} cards
 * @param {() => void} end
 * @returns {import("./mode_view.js").Part}
 */
function differencePart(element, cards, end) {
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
    end: () => (end(), sweepSoon.cancel(), requests.end(), cards.forEach((card) => card.end())),
  };
}
