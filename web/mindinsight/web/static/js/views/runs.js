// Runs page: table of jobs and runs with search, sorting and choice of columns.

import { button } from "../components/button.js";
import { searchBox } from "../components/field.js";
import { icon } from "../components/icons.js";
import { virtualTable } from "../components/virtual.js";
import { h, renew, replace, throttle } from "../core/dom.js";
import { faultText } from "../core/patterns.js";
import { sharedPath } from "../core/names.js";
import { telling } from "../core/run_traits.js";
import { colourBy } from "../frame/colour_by.js";
import { createHealth } from "./runs/health.js";
import { answerLinks, selectionLinks } from "./runs/answers.js";
import { noMatch, nothing } from "./runs/banners.js";
import { chartBoxes, jobRow, runRow } from "./runs/cells.js";
import { columnChooser } from "./runs/chooser.js";
import { ColumnLayout } from "../components/runs/column_layout.js";
import { columnsOf, defaultColumns, filled, stateWords } from "../components/runs/columns.js";
import { createCurves } from "./runs/curves.js";
import { fold, nameInList, sorted } from "./runs/rows.js";
import { headCells } from "./runs/heads.js";
import { createManage } from "./runs/manage.js";
import { createPutAway } from "./runs/put_away.js";
import { createClock, createSummary } from "./runs/summary.js";
import { matchesQuery, namesIn, parseQuery } from "../components/runs/query.js";
import { createValues } from "../components/runs/values.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Run} Run */

export const alone = true;

const NAMED = 200; // runs found by a search, whose tags are asked for by their ids

/** Mount the page. @param {HTMLElement} root @param {App} app */
export async function mount(root, app) {
  const table = new RunsTable(app);
  replace(root, table.element);
  await table.start();
  return {
    update: () => table.changed(),
    unmount: () => table.close(),
  };
}

/** Table of runs with its controls. */
class RunsTable {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.table = virtualTable({ label: app.t("nav.runs"), row: (index) => this.row(this.rows[index]) });
    this.body = h("div", { class: "table-holder panel", hidden: true }, this.table.element);
    this.values = createValues(app, this.body);
    this.curves = createCurves(app, this.body, () => this.table.update(this.rows.length));
    this.health = createHealth(app, this.body, () => this.table.update(this.rows.length));
    /** @type {import("./runs/rows.js").Row[]} */
    this.rows = [];
    /** What all names in the table begin with. */
    this.beginning = "";
    /** @type {import("../components/runs/query.js").Term[]} */
    this.terms = [];
    this.now = 0;
    this.clock = createClock();
    /** @type {import("../components/runs/columns.js").TableColumn[]} */
    this.columns = [];
    this.layout = new ColumnLayout(app, this.body, {
      resized: () => this.resized(),
      changed: () => this.draw(),
    });
    this.colours = colourBy(app);
    this.summary = createSummary(app, (text) => this.searchFor(text));
    this.answers = h("span", { class: "row" });
    this.search = searchBox({
      label: app.t("runs.search"),
      placeholder: app.t("runs.search.how"),
      value: app.url.get("q", ""),
      onchange: (text) => this.applySearch(text),
    });
    this.put = createPutAway(app, () => this.draw());
    this.manage = createManage(app, {
      found: () => this.found(),
      searched: () => this.terms.length > 0,
      redraw: () => this.draw(),
    });
    this.element = h(
      "div",
      { class: "runs-page" },
      this.head(),
      this.manage.element,
      this.summary.meaning,
      this.summary.banners,
      this.body,
      this.summary.waiting,
    );
    this.changed = throttle(() => this.reload(true), 1500);
    this.offs = [
      app.selection.on(() => this.draw()),
      app.theme.on(() => this.draw()),
      app.url.on(() => this.applySearch(app.url.get("q", ""))),
    ];
  }

  /** Load values and keep the relative times up to date. */
  async start() {
    await this.applySearch(this.app.url.get("q", ""));
    this.timer = window.setInterval(() => this.draw(), 30_000);
  }

  /** Leave the page. */
  close() {
    this.changed.cancel();
    this.offs.forEach((off) => off());
    window.clearInterval(this.timer);
    this.table.close();
  }

  /** Create the controls. */
  head() {
    const { t } = this.app;
    const columns = button(t("runs.cols"), () => this.chooseColumns(columns), { "aria-haspopup": "dialog" });
    columns.prepend(icon("columns"));
    const choices = selectionLinks(this.app, () => this.found());
    const title = h(
      "div",
      { class: "row wrap grow" },
      h("h1", null, t("nav.runs")),
      this.summary.element,
      this.summary.bases,
    );
    return [
      h("div", { class: "toolbar" }, title),
      h(
        "div",
        { class: "toolbar" },
        this.search,
        columns,
        this.manage.opener,
        this.put.element,
        this.colours.element,
        this.summary.shown,
        choices,
        this.answers,
      ),
    ];
  }

  /** Search for a text, as if it had been typed. @param {string} text */
  searchFor(text) {
    this.search.box.value = text;
    this.applySearch(text);
  }

  /** Parse a search and apply it, or mark it as invalid. @param {string} text */
  async applySearch(text) {
    const { url } = this.app;
    try {
      this.terms = parseQuery(text);
      this.search.invalid("");
      url.set({ q: text });
    } catch (error) {
      const { pattern } = /** @type {import("../components/runs/query.js").PatternError} */ (error);
      this.search.invalid(faultText(this.app, pattern));
      return;
    }
    await this.reload(false);
  }

  /**
   * Request the values that columns and search need, then draw.
   * @param {boolean} stale whether values may have changed
   */
  async reload(stale) {
    if (stale || !this.values.tags().length) await this.values.loadTags().catch(() => []);
    const named = namesIn(this.terms).flatMap((name) => this.values.tagsFor(name));
    await this.values
      .need(
        named.filter((tag) => this.values.tags().includes(tag)),
        stale,
      )
      .catch(() => undefined);
    const narrowed = this.terms.length > 0 || this.app.selection.all().some((run) => run.rank !== null);
    await this.values.order.load(narrowed ? this.orderedBy() : null);
    const columns = this.columnKeys().map((key) => /^(?:last|min|max|best|spark):(.*)$/.exec(key)?.[1] ?? "");
    const members = columns.flatMap((name) => this.values.order.members(name));
    const tags = [...new Set([...named, ...members])].filter((tag) => this.values.tags().includes(tag));
    await this.values.need(tags, stale).catch(() => undefined);
    if (stale) {
      this.curves.forget();
      this.health.forget();
    }
    this.draw();
  }

  /** Return the keys of the columns: the chosen ones, or the default. */
  columnKeys() {
    const { url, selection } = this.app;
    const keys = url.all("col");
    if (keys.length) return keys;
    const rows = this.terms.length ? this.found() : selection.all();
    const compared = rows.length > 1 ? rows : selection.all();
    return defaultColumns(this.values.order.names(), telling(compared), compared);
  }

  /** Return one run of each job in the results, by which scalars are ordered; null if there are too many. */
  orderedBy() {
    const ids = [...new Map(this.found().map((run) => [run.job, run.id])).values()];
    return ids.length && ids.length <= NAMED ? ids : null;
  }

  /** Return the runs that match the search. */
  found() {
    return this.matching(this.app.selection.everything().filter(this.put.isListed));
  }

  /** Return those of some runs that match the search. @param {Run[]} runs */
  matching(runs) {
    const words = stateWords(this.app);
    return runs.filter((run) => matchesQuery(this.terms, run, this.values.lookup, words));
  }

  /** Redraw everything. */
  draw() {
    const { app } = this;
    const list = app.selection.list();
    this.now = this.clock(list);
    this.columns = this.arrangedColumns();
    const sort = app.url.get("sort", "");
    const column = this.columns.find(({ key }) => key === sort.replace(/^-/, "")) ?? null;
    const value = sort.replace(/^-/, "") === "name" ? (/** @type {Run} */ run) => run.name : column?.value;
    const matches = this.found();
    this.rows = fold(sorted(matches, value, sort.startsWith("-")), new Set(app.url.all("open")));
    this.beginning = sharedPath(this.rows.map(nameInList));
    this.summary.draw({ terms: this.terms, matches, now: this.now, lookup: this.values.lookup });
    this.put.draw();
    this.manage.draw();
    renew(this.answers, answerLinks(app, this.terms.length ? matches : null));
    this.colours.draw();
    this.table.setHead(this.headCells(sort));
    this.body.hidden = false; // empty until now: a frame that is pushed down is seen to jump
    const none = list.runs.length ? () => this.noMatch() : () => nothing(app);
    replace(this.body, matches.length ? this.table.element : none());
    this.table.update(this.rows.length);
  }

  /** Create the empty state where all runs are hidden or none matches. */
  noMatch() {
    const searched = this.terms.length > 0;
    const matching = this.matching(this.app.selection.everything()).length;
    const back = searched ? () => this.searchFor("") : () => this.put.showAll();
    return noMatch(this.app, searched, matching, back);
  }

  /** Create the header cells. @param {string} sort */
  headCells(sort) {
    const { t, url } = this.app;
    return headCells(this.app, this.columns, sort, {
      onsort: (next) => (url.set({ sort: next }), this.draw()),
      layout: this.layout,
      actions: t("runs.actions"),
    });
  }

  /** Return the columns in their order, with the widths that a person chose. */
  arrangedColumns() {
    const columns = columnsOf(this.app, this.values, this.curves.get, this.columnKeys());
    const chosen = this.app.url.all("col").length > 0;
    return this.layout.arrange(chosen ? columns : filled(columns, this.found(), this.values));
  }

  /** Draw the rows with other widths. */
  resized() {
    this.columns = this.arrangedColumns();
    this.table.update(this.rows.length);
  }

  /** Create the row of a run or a job. @param {import("./runs/rows.js").Row} row */
  row(row) {
    const { app, columns, now } = this;
    const box = this.manage.box() ?? chartBoxes(app);
    if ("run" in row) return runRow(app, row, columns, now, this.beginning, box);
    const open = app.url.all("open");
    const isOpen = open.includes(row.job);
    const toggle = () => {
      app.url.set({ open: isOpen ? open.filter((job) => job !== row.job) : [...open, row.job] });
      this.draw();
    };
    const ranks = { open: isOpen, toggle, health: this.health.get(row.job), start: this.beginning, box };
    return jobRow(app, row, columns, now, ranks);
  }

  /** Open the menu of columns. @param {HTMLElement} anchor */
  chooseColumns(anchor) {
    const set = (/** @type {string[] | null} */ columns) => {
      this.app.url.set({ col: columns, ...(columns ? {} : { width: null, fixed: null }) });
      this.reload(false);
    };
    columnChooser(this.app, anchor, {
      tags: this.values.tags(),
      columns: this.columnKeys(),
      sorted: this.app.url.get("sort", "").replace(/^-/, ""),
      onchange: set,
      onreset: () => set(null),
    });
  }
}
