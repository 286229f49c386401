// What is said above the runs table: counts, base directories, how the search was understood, and banners.

import { loading } from "../../components/empty.js";
import { createBases, onlyBase } from "../../components/runs/bases.js";
import { stateWords } from "../../components/runs/columns.js";
import { understood, unknownNames, withoutNumber } from "../../components/runs/query.js";
import { h, replace } from "../../core/dom.js";
import { NEWEST } from "../../core/selection.js";
import { banners } from "./banners.js";
import { counts } from "./cells.js";
import { fold } from "./rows.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../components/runs/query.js").Term} Term */

/**
 * Return a clock of the server, which takes the difference to the browser's from each new list of runs. It
 * returns Unix seconds.
 */
export function createClock() {
  let [version, offset] = [-1, 0];
  return (/** @type {import("../../core/types.js").RunList} */ list) => {
    if (version !== list.version) [version, offset] = [list.version, Date.now() / 1000 - list.now];
    return Date.now() / 1000 - offset;
  };
}

/**
 * Return how many jobs and runs the search found, with the number of their ranks.
 * @param {import("../../core/types.js").Translate} t
 * @param {Run[]} matches
 */
export function foundText(t, matches) {
  const rows = fold(matches, new Set()).length;
  return t(rows < matches.length ? "runs.found_ranks" : "runs.found", { n: matches.length, rows });
}

/**
 * Create the elements above the runs table: counts, directories, meaning of the search, banners. `draw` fills
 * them for the runs that match the search.
 * @param {App} app
 * @param {(text: string) => void} onsearch a search to do instead
 */
export function createSummary(app, onsearch) {
  const { t, selection } = app;
  const element = h("p", { class: "muted", role: "status" });
  const meaning = h("p", { class: "row wrap runs-meaning", role: "status", hidden: true });
  const shown = h("span", { class: "label runs-shown ellipsis" });
  const above = h("div", null);
  const waiting = h("div", { class: "late" }, loading(t("common.loading"))); // last
  const bases = createBases(app, onsearch);

  /**
   * @param {{terms: Term[], matches: Run[], now: number,
   *   lookup: import("../../components/runs/query.js").Lookup}} state `now`: Unix seconds on the server
   */
  const draw = ({ terms, matches, now, lookup }) => {
    const [list, all] = [selection.list(), selection.all()];
    const { jobs, running } = counts(all, now);
    const texts = [
      ...withoutNumber(terms).map((term) => t("runs.search.no_number", { term })),
      ...unknownNames(terms, all, lookup).map((name) => t("runs.search.no_column", { name })),
      ...(terms.length ? [foundText(t, matches)] : []),
      t("runs.count", { n: all.length }),
      ...(jobs < all.length ? [t("runs.jobs", { n: jobs })] : []), // of one rank each, jobs are the runs
      t("runs.running", { n: running }),
    ];
    replace(element, texts.join(" · "), onlyBase(app, list));
    const badges = understood(terms, stateWords(app));
    meaning.hidden = !badges.length;
    replace(meaning, ...badges.map(({ key, values }) => h("span", { class: "badge" }, t(key, values))));
    bases.draw(list, app.url.get("q", ""));
    const label = t("runs.shown", { shown: selection.runs().length, n: all.length });
    shown.textContent = selection.leavesOut() ? t("runs.automatic.short", { n: NEWEST }) : label;
    shown.title = selection.leavesOut() ? t("runs.automatic", { n: NEWEST }) : label;
    replace(above, ...banners(app, list));
    waiting.remove();
  };
  return { element, meaning, shown, banners: above, waiting, bases: bases.element, draw };
}
