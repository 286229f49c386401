// Results of a comparison while it runs, with search, filter, order and downloads.

import { check, searchBox, select } from "../../components/field.js";
import { pinButton } from "../../components/pin_button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { saveButton } from "../../components/share.js";
import { comparedTable, verdict } from "./compare_tables.js";
import { DivergenceStrip } from "./divergence_strip.js";
import { failure } from "../../components/dump/failure.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../dump.js").Page} Page */

const POLL = 700; // ms between requests while tensors are compared
const SORTS = ["sequence", "lost", "cosine", "max_absolute", "max_relative", "one_thousandth", "norm_error"];
const ONLY = ["", "differ", "agree", "unknown", "order", "alone"];

/** Verdict, strip and table of one comparison of two dumps. */
export class CompareResults {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const { url } = page.app;
    this.filter = {
      q: url.get("compare_q", ""),
      only: url.get("compare_only", ""),
      sort: url.get("compare_sort", "sequence"),
      start: url.get("compare_start") === "first" ? "" : "divergence",
    };
    /** Number of the comparison. */
    this.comparison = 0;
    /** Names of the two sides. */
    this.sides = "";
    this.requests = latest();
    this.strips = latest();
    this.verdict = h("div");
    this.files = ["CSV", page.app.t("dump.compare.csv_msprobe"), page.app.t("dump.compare.xlsx")].map(
      (text) => h("a", { class: "button", download: "" }, text),
    );
    this.search = searchBox({
      label: page.app.t("dump.filter.operator"),
      value: this.filter.q,
      onchange: (q) => this.narrow({ q }),
    });
    this.strip = new DivergenceStrip(page.app, (operator) => this.pick(operator));
    this.tools = this.toolbar();
    this.box = h(
      "section",
      { class: "panel stack", hidden: true },
      this.verdict,
      this.strip.element,
      this.tools,
    );
    this.rows = h("div");
    this.element = h("div", { class: "stack" }, this.box, this.rows);
  }

  /** Create the filters and downloads. @returns {HTMLElement} */
  toolbar() {
    const { app } = this.page;
    const { t } = app;
    return h(
      "div",
      { class: "toolbar" },
      this.search,
      select({
        label: t("dump.compare.only"),
        options: ONLY.map((value) => ({ value, label: t(`dump.compare.only.${value || "all"}`) })),
        value: this.filter.only,
        onchange: (only) => this.narrow({ only }),
      }),
      select({
        label: t("dump.compare.sort"),
        options: SORTS.map((value) => ({ value, label: t(`dump.column.${value}`) })),
        value: this.filter.sort,
        onchange: (sort) => this.narrow({ sort }),
      }),
      check({
        label: t("dump.compare.from_divergence"),
        checked: Boolean(this.filter.start),
        onchange: (on) => this.narrow({ start: on ? "divergence" : "" }),
      }),
      this.files,
      pinButton(app, () => this.element),
      saveButton(app, () => this.element, t("dump.compare.report")),
    );
  }

  /**
   * Change the filters and fetch the matching rows.
   * @param {Partial<{q: string, only: string, sort: string, start: string}>} changes
   */
  narrow(changes) {
    Object.assign(this.filter, changes);
    const { q, only, sort, start } = this.filter;
    this.page.app.url.set({
      compare_q: q || null,
      compare_only: only || null,
      compare_sort: sort === "sequence" ? null : sort,
      compare_start: start ? null : "first",
    });
    this.fetch();
  }

  /** Request the results and show them; repeat until the comparison is complete. */
  fetch() {
    const { page } = this;
    this.requests.ask(
      () => page.app.api.get(`v2/dump/compare/${this.comparison}`, { ...this.filter, limit: 1000 }),
      (response) => {
        replace(this.verdict, h("p", { class: "muted" }, this.sides), verdict(page, response));
        replace(this.rows, comparedTable(page, response));
        this.tools.hidden = false;
        if (!response.done) this.requests.later(() => this.fetch(), POLL);
        else if (!this.strip.marks) this.fetchStrip();
      },
      (error) => this.fail(error),
    );
  }

  /** Request the divergence strip. */
  fetchStrip() {
    this.strips.ask(
      () => this.page.app.api.get(`v2/dump/compare/${this.comparison}/strip`),
      (marks) => this.strip.show(marks),
      (error) => this.fail(error),
    );
  }

  /** Show only the rows of one operator. @param {string} operator */
  pick(operator) {
    const input = this.search.querySelector("input");
    if (input) input.value = operator;
    this.narrow({ q: operator });
  }

  /** Show an error. @param {Failure} error */
  fail(error) {
    this.box.hidden = false;
    replace(this.verdict, failure(this.page.app, error));
  }

  /** Show that a comparison is starting. */
  wait() {
    this.requests.end();
    this.strip.marks = null;
    this.strip.element.hidden = true;
    this.box.hidden = false;
    this.tools.hidden = true;
    replace(this.verdict, h("p", { class: "booting", role: "status" }, this.page.app.t("common.loading")));
    replace(this.rows);
  }

  /**
   * Show the results of a comparison.
   * @param {number} comparison number of it
   * @param {string} sides their names
   */
  follow(comparison, sides) {
    Object.assign(this, { comparison, sides });
    const { build } = this.page.app.api;
    const path = `v2/dump/compare/${comparison}`;
    const addresses = [build(`${path}/csv`), build(`${path}/csv`, { msprobe: true }), build(`${path}/xlsx`)];
    this.files.forEach((file, i) => (file.href = addresses[i]));
    this.fetch();
  }

  /** Drop requests in flight. */
  end() {
    this.strip.end();
    this.strips.end();
    this.requests.end();
  }
}
