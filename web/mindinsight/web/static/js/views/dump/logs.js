// Logs tab: files of the Running Data Recorder as text with line numbers, search and level filter.

import { button } from "../../components/button.js";
import { searchBox, select } from "../../components/field.js";
import { claimText } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { LEVELS, linesOf, logClaims, matchingLines, pieces } from "./log_lines.js";

/** @typedef {import("../../core/answers.js").DumpLog} DumpLog */
/** @typedef {import("../dump.js").Page} Page */

const MOST = 5000; // lines drawn at once

/** Create the Logs tab of a dump: log files with search and level filter. @param {Page} page */
export function logsPart(page) {
  return new Logs(page);
}

/** List of log files and the text of one. */
class Logs {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const { app, state } = page;
    this.listing = latest();
    this.reading = latest();
    this.content = "";
    this.whole = false; // whether all of the file has been read
    /** @type {import("./log_lines.js").Line[]} */
    this.lines = [];
    this.query = "";
    this.level = "";
    this.list = h("ul", { class: "dump-links" });
    this.tools = h("div", { class: "toolbar" });
    this.text = h("pre", { class: "dump-log scroll", tabindex: "0" });
    this.more = h("div", { class: "row" });
    this.element = h(
      "div",
      { class: "panel dump-logs" },
      h("div", { class: "scroll" }, this.list),
      h("div", { class: "stack" }, this.tools, this.text, this.more),
    );
    this.listing.ask(
      () => app.api.get("v2/dump/logs", { dump: state.dump }),
      ({ logs }) => {
        replace(
          this.list,
          logs.map((log) => this.item(log)),
        );
        const first = logs.find((log) => log.kind !== "pb");
        if (first) this.open(first);
      },
      (error) => replace(this.more, failure(app, error)),
    );
  }

  /** Create the entry of a file. @param {DumpLog} log */
  item(log) {
    const { format } = this.page.app;
    return h(
      "li",
      null,
      log.kind === "pb"
        ? h("span", { class: "muted" }, log.file)
        : h("button", { type: "button", class: "link wrapped", onclick: () => this.open(log) }, log.file),
      " ",
      h("span", { class: "muted" }, format.bytes(log.size)),
    );
  }

  /** Read a file from its beginning. @param {DumpLog} log */
  open(log) {
    this.content = "";
    this.read(log, 0);
  }

  /**
   * Read the next section of a file and show all that was read.
   * @param {DumpLog} log
   * @param {number} offset
   */
  read(log, offset) {
    const { app, state } = this.page;
    this.reading.ask(
      () => app.api.get("v2/dump/log", { dump: state.dump, file: log.file, rank: log.rank, offset }),
      (answer) => {
        this.content += answer.text;
        this.lines = linesOf(this.content);
        const { next } = answer;
        this.whole = next === null;
        if (offset === 0) this.drawTools();
        this.draw();
        replace(this.more, next !== null && button(app.t("dump.logs.more"), () => this.read(log, next)));
      },
      (error) => replace(this.more, failure(app, error)),
    );
  }

  /** Draw the search and the levels that occur. */
  drawTools() {
    const { t } = this.page.app;
    const present = new Set(this.lines.map((line) => line.level));
    if (!present.has(this.level)) this.level = "";
    const levels = LEVELS.filter((level) => present.has(level));
    this.status = h("span", { class: "muted", role: "status" });
    replace(
      this.tools,
      searchBox({
        label: t("dump.logs.search"),
        value: this.query,
        onchange: (query) => ((this.query = query), this.draw()),
      }),
      levels.length > 0 &&
        select({
          label: t("dump.logs.level"),
          options: [
            { value: "", label: t("common.any") },
            ...levels.map((level) => ({ value: level, label: t(`dump.logs.level.${level}`) })),
          ],
          value: this.level,
          onchange: (level) => ((this.level = level), this.draw()),
        }),
      this.status,
    );
  }

  /** Draw the matching lines, at most 5,000. */
  draw() {
    const { app } = this.page;
    const { t } = app;
    const lines = matchingLines(this.lines, this.query, this.level);
    const claims = logClaims(this.lines.length, lines.length, MOST, this.whole);
    if (this.status) {
      this.status.textContent = claims.map((claim) => claimText(app, claim)).join(t("stray.and"));
      this.status.dataset.claim = claims[0].key;
    }
    replace(
      this.text,
      lines.slice(0, MOST).map((line) =>
        h(
          "span",
          { class: `line ${line.level}` },
          h("span", { class: "line-number", "data-number": line.number, "aria-hidden": "true" }),
          pieces(line.text, this.query).map((piece, i) => (i % 2 ? h("mark", null, piece) : piece)),
          "\n",
        ),
      ),
    );
  }

  /** Drop requests in flight. */
  end() {
    this.listing.end();
    this.reading.end();
  }
}
