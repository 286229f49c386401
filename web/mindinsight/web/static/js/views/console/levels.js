// Errors, warnings and NaN of a console: their counts, and the choice of the lines that are listed.

import { segments } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{error: number, warning: number, nan: number}} Counts */
/** @typedef {import("./line.js").Row} Row */

export const LEVELS = /** @type {const} */ (["error", "warning", "nan"]);

/** Counts of the lines of one run by level. */
export class LevelCounts {
  /** @param {App} app @param {(level: string) => void} choose */
  constructor(app, choose) {
    this.app = app;
    this.choose = choose;
    this.element = h("span");
    /** @type {Counts} */
    this.counts = { error: 0, warning: 0, nan: 0 };
    /** Whether a part of the console was not counted. */
    this.isPart = false;
    this.requests = latest();
  }

  /** Return the levels of which there are lines. */
  present() {
    return LEVELS.filter((level) => this.counts[level]);
  }

  /**
   * Count the lines of a run, and draw the choice.
   * @param {string | undefined} run
   * @param {() => string} chosen level
   * @param {() => unknown} then
   */
  count(run, chosen, then) {
    return this.requests.ask(
      (signal) => this.app.api.get("v2/console/levels", { run }, { signal }),
      (/** @type {{counts: Counts, next: string | null}} */ { counts, next }) => {
        this.counts = counts;
        this.isPart = next !== null;
        this.draw(chosen());
        then();
      },
      leaveAsIs,
    );
  }

  /** Leave the page. */
  end() {
    this.requests.end();
  }

  /** Add the levels of new lines. @param {Row[]} rows @param {string} chosen */
  add(rows, chosen) {
    const before = this.present().length;
    rows.forEach(([, , , , open, level]) => {
      if (!open && level && level !== "trace") this.counts[level]++;
    });
    if (this.present().length !== before) this.draw(chosen);
  }

  /** Draw the choice between all lines and those of a level. @param {string} chosen */
  draw(chosen) {
    const { t } = this.app;
    const levels = LEVELS.filter((level) => this.counts[level] || level === chosen);
    const options = ["", ...levels].map((value) => ({ value, label: t(`console.level.${value || "all"}`) }));
    const choice = segments({
      label: t("console.level"),
      value: chosen,
      options,
      onchange: (level) => this.choose(level),
    });
    choice.title = t("console.count.what");
    replace(this.element, levels.length > 0 && choice);
  }

  /** Return the counts as texts, those of levels without lines left out. */
  texts() {
    const { t } = this.app;
    return this.present().map((level) =>
      t(`console.count.${level}`, {
        n: this.counts[level],
        count: `${this.isPart ? "≥ " : ""}${this.counts[level]}`,
      }),
    );
  }
}

/**
 * Create the note below the lines of a run that failed. What follows the recording is not among its lines.
 * @param {App} app
 * @param {import("../../core/types.js").Run | undefined} run
 */
export function failureNote({ t }, run) {
  if (!run?.finished || !run.failure) return null;
  const error = h("strong", null, t("runs.state.failed.why", { error: run.failure }));
  return h("p", { class: "console-ending", role: "note" }, error, " ", t("console.failure"));
}
