// Tables of a comparison of many runs: how many differ in each tag, and all of them ranked by one tag.

import { button } from "../../components/button.js";
import { longName } from "../../components/long_name.js";
import { mainTag } from "../../components/main_tag.js";
import { nextSort } from "../../components/runs/order.js";
import { bestEnd } from "../../components/runs/values.js";
import { headCell, virtualTable } from "../../components/virtual.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { sharedPath } from "../../core/names.js";
import { isIncidental } from "../../core/run_traits.js";
import { folded, settingText, swatch, verdictCell } from "./compare_tables.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/answers.js").ComparedSeries} Series */
/** @typedef {import("./difference_card.js").DifferenceCard} Card */
/**
 * @typedef {{key: string, label: string, title?: string, value: (run: Run) => unknown,
 *   cell: (run: Run) => HTMLElement}} Column
 */

export const MANY = 12; // compared runs: a column for each of more does not fit a window
const COUNTED = /** @type {const} */ (["beyond", "within", "unknown", "without"]);
const LIKED = /loss/i; // what runs are ranked by until somebody chooses

/**
 * Return how many runs differ from the baseline, do not, are unknown, and lack the tag.
 * @param {Map<string, {claims: import("../../core/claims.js").Claim[]}>} series by run
 * @param {{id: string}[]} runs
 * @returns {Record<(typeof COUNTED)[number], number>}
 */
export function countVerdicts(series, runs) {
  const counts = { beyond: 0, within: 0, unknown: 0, without: 0 };
  for (const { id } of runs) {
    const claims = series.get(id)?.claims;
    if (!claims) counts.without++;
    else if (claims.some(({ verdict }) => verdict === "found")) counts.beyond++;
    else counts[claims.every(({ verdict }) => verdict === "clear") ? "within" : "unknown"]++;
  }
  return counts;
}

/**
 * Create the table with a row of counts for each tag. Its tags choose what the runs are ranked by.
 * @param {App} app
 * @param {string} caption
 * @param {Card[]} cards
 * @param {Run[]} runs
 * @param {RankedRuns} ranked
 */
export function countsTable(app, caption, cards, runs, ranked) {
  const heads = COUNTED.map((name) =>
    h("th", { scope: "col", class: "number" }, app.t(`scalar.compare.${name}`)),
  );
  /** @type {HTMLElement[]} */
  const buttons = [];
  const rows = cards.map((card) => {
    const choose = button(longName(card.name), () => ranked.choose(card), {
      class: "link",
      title: card.name,
    });
    buttons.push(choose);
    const cells = COUNTED.map(() => h("td", { class: "number muted" }, "…"));
    card.onverdict.push((series) => {
      const counts = countVerdicts(series, runs);
      COUNTED.forEach((name, i) => replace(cells[i], String(counts[name])));
    });
    return h("tr", null, h("th", { scope: "row" }, choose), cells);
  });
  const mark = () => {
    buttons.forEach((chosen, i) => chosen.setAttribute("aria-pressed", String(cards[i] === ranked.card)));
  };
  ranked.onchoose = mark;
  mark();
  const head = h("tr", null, h("th", { scope: "col" }, app.t("scalar.compare.tag")), heads);
  const table = h("table", { class: "table" }, h("thead", null, head), h("tbody", null, rows));
  return folded(app.t("scalar.mode.compare"), caption, table, true);
}

/** Table of the compared runs, ranked by their differences in one tag, with the settings that differ. */
export class RankedRuns {
  /**
   * @param {App} app
   * @param {Card[]} cards
   * @param {Run[]} runs
   */
  constructor(app, cards, runs) {
    this.app = app;
    this.runs = runs;
    this.start = sharedPath(runs.map((run) => run.name));
    const tag = mainTag(cards, LIKED);
    this.card = /** @type {Card} */ (cards.find((card) => card.tag === tag));
    this.onchoose = () => {};
    /** @type {Run[]} */
    this.rows = [];
    this.sort = "";
    this.title = h("summary");
    this.table = virtualTable({ label: app.t("scalar.compare.ranked"), row: (i) => this.row(this.rows[i]) });
    this.element = h("details", { class: "panel ranked", open: true }, this.title, this.table.element);
    for (const card of cards) card.onverdict.push(() => card === this.card && this.draw());
    this.draw();
  }

  /** Rank the runs by another tag. @param {Card} card */
  choose(card) {
    this.card = card;
    this.sort = "";
    this.onchoose();
    this.draw();
  }

  /** Return the comparison of a run, if it is known. @param {Run} run */
  seriesOf(run) {
    return this.card.series.get(run.id);
  }

  /** Return the last step at which a run can be compared. */
  lastStep() {
    return Math.max(...[...this.card.series.values()].map(({ step }) => step.at(-1) ?? -1));
  }

  /** @returns {Column[]} */
  columns() {
    const { app } = this;
    const end = (/** @type {Run} */ run) => this.seriesOf(run)?.difference.at(-1);
    const cell = (/** @type {unknown} */ content) => h("td", { class: "number" }, String(content));
    return [
      {
        key: "run",
        label: app.t("scalar.compare.run"),
        value: (run) => run.name,
        cell: (run) => h("td", null, swatch(app, run.id), " ", longName(run.name, { start: this.start })),
      },
      {
        key: "end",
        label: app.t("scalar.compare.end"),
        title: app.t("scalar.compare.end_title"),
        value: end,
        cell: (run) => cell(end(run) === undefined ? "–" : endText(app, this.seriesOf(run), this.lastStep())),
      },
      ...tellingSettings(this.runs).map((name) => ({
        key: `hyper:${name}`,
        label: name,
        value: (/** @type {Run} */ run) => run.hyper[name],
        cell: (/** @type {Run} */ run) => cell(settingText(run.hyper[name])),
      })),
      {
        key: "largest",
        label: app.t("scalar.compare.first"),
        value: (run) => this.seriesOf(run)?.largest ?? undefined,
        cell: (run) => verdictCell(app, this.seriesOf(run)),
      },
    ];
  }

  /** Sort and draw the rows. */
  draw() {
    const { app, card } = this;
    const best = bestEnd(card.other);
    const sort = this.sort || (best ? `${best === "max" ? "-" : ""}end` : "largest");
    const columns = this.columns();
    const sorted = columns.find(({ key }) => sort === key || sort === `-${key}`) ?? columns[0];
    const direction = sort.startsWith("-") ? -1 : 1;
    this.rows = [...this.runs].sort((a, b) => ordered(sorted.value(a), sorted.value(b), direction));
    replace(this.title, app.t("scalar.compare.by_tag", { n: this.runs.length, tag: card.name }));
    this.table.setHead(
      columns.map(({ key, label, title }) =>
        headCell({
          label,
          title,
          sorted: key === sorted.key ? (direction < 0 ? "descending" : "ascending") : null,
          onsort: () => {
            this.sort = nextSort(sort, key, "ascending") ?? "";
            this.draw();
          },
        }),
      ),
    );
    this.table.update(this.rows.length);
  }

  /** @param {Run} run */
  row(run) {
    return h(
      "tr",
      { dataset: { key: run.id } },
      this.columns().map(({ cell }) => cell(run)),
    );
  }

  /** Stop observing the size. */
  end() {
    this.table.close();
  }
}

/**
 * Return the settings that differ between the runs, without those that only tell runs apart.
 * @param {Run[]} runs
 */
function tellingSettings(runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.hyper)))].sort();
  return names.filter((name) => {
    const values = runs.map((run) => run.hyper[name]);
    return new Set(values.map((value) => JSON.stringify(value))).size > 1 && !isIncidental(name, values);
  });
}

/**
 * Return the difference at the last common step as text, with the share of the baseline, and the step if that
 * is earlier than for other runs.
 * @param {App} app
 * @param {Series | undefined} series
 * @param {number} last step of the others
 */
function endText(app, series, last) {
  const difference = series?.difference.at(-1) ?? NaN;
  const share = series?.relative.at(-1) ?? NaN;
  const percent = Number.isFinite(share) ? ` (${number(share * 100, 3)} %)` : "";
  const text = `${number(difference)}${percent}`;
  const step = series?.step.at(-1);
  return step === last ? text : app.t("scalar.compare.end_at", { difference: text, step });
}

/**
 * Compare two values of a column. What is missing or not finite comes last in both directions.
 * @param {unknown} a
 * @param {unknown} b
 * @param {number} direction 1 for ascending, -1 for descending
 */
export function ordered(a, b, direction) {
  const lacking = (/** @type {unknown} */ value) =>
    value === undefined || value === null || (typeof value === "number" && !Number.isFinite(value));
  if (lacking(a) || lacking(b)) return Number(lacking(a)) - Number(lacking(b));
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * String(a).localeCompare(String(b), undefined, { numeric: true });
}
