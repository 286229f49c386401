// Text card: the text of a step as rendered Markdown, as recorded, or compared with another step.

import { segments } from "../../components/button.js";
import { card } from "../../components/card.js";
import { changedLines } from "../../components/changed_lines.js";
import { slider } from "../../components/field.js";
import { runName } from "../../components/run_name.js";
import { pinButton } from "../../components/pin_button.js";
import { claimElement } from "../../core/claims.js";
import { h, replace, throttle } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/lazy_work.js";
import { markdown } from "../../components/markdown.js";

/** @typedef {import("../../core/types.js").App} App */

const MODES = ["rendered", "source", "difference"];
const MOST_HITS = 12;

/** Card that shows the text of one step. */
export class TextCard {
  /**
   * @param {App} app @param {{tag: string, run: string}} options
   * @param {() => string} query what is searched for
   */
  constructor(app, { tag, run }, query) {
    this.app = app;
    this.tag = tag;
    this.run = run;
    this.query = query;
    /** @type {Float64Array} */
    this.steps = new Float64Array(0);
    this.row = -1;
    this.other = -1;
    /** Whether a person chose the step to compare with; it is the one before otherwise. */
    this.otherPinned = false;
    this.mode = MODES[0];
    /** Whether a person chose the step; the newest is followed otherwise. */
    this.pinned = false;
    this.stage = h("div", {
      class: "text-stage",
      tabindex: "0",
      role: "group",
      "aria-label": `${tag}, ${run}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.hits = h("div", { class: "text-hits row wrap small" });
    this.foot = h("div", { class: "row small wrap" });
    this.move = this.stepSlider("text.step", (row) => this.pick(row));
    this.moveOther = this.stepSlider("text.other_step", (row) => this.pickOther(row));
    this.moveOther.hidden = true;
    this.element = card({
      title: tag,
      tools: [pinButton(app, () => this.element)],
      body: h("div", { class: "stack" }, this.modes(), this.hits, this.stage, this.move, this.moveOther),
      foot: this.foot,
      full: { label: app.t("common.fullscreen"), close: app.t("common.close") },
    });
    this.requests = latest(this.element);
    this.textRequests = latest(this.stage);
    this.hitRequests = latest(this.hits);
    this.visibility = whenNear(
      this.element,
      throttle(() => this.read(), 1000),
    );
  }

  /** Create a slider of steps. @param {string} label @param {(row: number) => void} onrow */
  stepSlider(label, onrow) {
    return slider({
      label: this.app.t(label),
      values: [0],
      value: 0,
      hideLabel: label === "text.step",
      delay: 60,
      onchange: (step) => onrow(this.rowOf(step)),
    });
  }

  /** Create the choice of the mode. */
  modes() {
    return segments({
      label: this.app.t("text.mode"),
      options: MODES.map((value) => ({ value, label: this.app.t(`text.mode.${value}`) })),
      value: this.mode,
      onchange: (mode) => {
        this.mode = mode;
        this.moveOther.hidden = mode !== "difference";
        this.draw();
      },
    });
  }

  /** Return the last row of a step; -1 if there is none. @param {number} step */
  rowOf(step) {
    return this.steps.lastIndexOf(step);
  }

  /** Move between steps with the arrow keys. @param {KeyboardEvent} event */
  key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey || this.row < 0) return;
    const steps = [...new Set(this.steps)].sort((a, b) => a - b);
    const next = steps[steps.indexOf(this.steps[this.row]) + by];
    if (next === undefined) return;
    event.preventDefault();
    this.pick(this.rowOf(next));
  }

  /** @param {number} row */
  pick(row) {
    this.pinned = row !== this.steps.length - 1;
    this.row = row;
    this.draw();
  }

  /** @param {number} row */
  pickOther(row) {
    this.otherPinned = true;
    this.other = row;
    this.draw();
  }

  /** Ask for the steps when the card is near the window. */
  load() {
    this.visibility.ask();
  }

  read() {
    const { app, run, tag } = this;
    return this.requests.ask(
      (signal) => app.api.columns("v2/text/steps", { run, tag }, { signal }),
      (answer) => this.take(answer.step),
      leaveAsIs,
    );
  }

  /** @param {Float64Array} next all steps there are now */
  take(next) {
    const step = this.pinned ? this.steps[this.row] : undefined;
    const other = this.otherPinned ? this.steps[this.other] : undefined;
    this.steps = next;
    const steps = [...new Set(next)].sort((a, b) => a - b);
    this.move.setValues(steps);
    this.moveOther.setValues(steps);
    this.row = step === undefined ? next.length - 1 : this.rowOf(step);
    if (other !== undefined) this.other = this.rowOf(other);
    this.draw();
    this.search();
  }

  /** Request and show the text or the comparison. */
  draw() {
    if (!this.otherPinned) this.other = Math.max(0, this.row - 1);
    const { app, run, tag, row, other, steps } = this;
    if (row < 0) return;
    this.move.set(steps[row]);
    this.moveOther.set(steps[other]);
    const compares = this.mode === "difference";
    const address = compares ? "v2/text/difference" : "v2/text/content";
    this.textRequests.ask(
      (signal) =>
        app.api.get(address, compares ? { run, tag, row: other, other: row } : { run, tag, row }, { signal }),
      (answer) => (compares ? this.showDifference(answer) : this.showText(answer)),
    );
    replace(
      this.foot,
      h("i", { class: "swatch", style: { background: app.selection.colour(run) } }),
      runName(app, run),
      h("span", { class: "grow" }, app.t("text.of", { row: row + 1, n: steps.length })),
    );
  }

  /**
   * Show a text, and how much of it was cut.
   * @param {{source: string, tree: import("../../components/markdown.js").Node[], cut: boolean, length:
   *   number}} answer
   */
  showText({ source, tree, cut, length }) {
    const body = this.mode === "source" ? h("pre", { class: "text-source" }, source) : markdown(tree);
    replace(this.stage, body, cut ? this.note("text.cut", { shown: source.length, length }) : null);
  }

  /**
   * Show the lines of a comparison.
   * @param {{lines: [string, string][], claims: import("../../core/claims.js").Claim[], cut: boolean}} answer
   */
  showDifference({ lines, claims, cut }) {
    replace(
      this.stage,
      claims.map((claim) => claimElement(this.app, claim, { class: "small muted" })),
      changedLines(lines),
      cut ? this.note("text.difference_cut", {}) : null,
    );
  }

  /** Create a small note. @param {string} key @param {Record<string, unknown>} values */
  note(key, values) {
    return h("p", { class: "small muted" }, this.app.t(key, values));
  }

  /** Request the steps whose text contains the search. */
  search() {
    const { app, run, tag } = this;
    const q = this.query();
    if (!q || this.row < 0) {
      replace(this.hits);
      return;
    }
    this.hitRequests.ask(
      (signal) => app.api.get("v2/text/search", { run, tag, q }, { signal }),
      ({ hits }) => this.showHits(hits),
      leaveAsIs,
    );
  }

  /** Show the steps that were found. @param {{row: number, step: number, excerpt: string}[]} hits */
  showHits(hits) {
    const { t } = this.app;
    replace(
      this.hits,
      h("span", null, t("text.hits", { n: hits.length })),
      hits
        .slice(0, MOST_HITS)
        .map(({ row, step, excerpt }) =>
          h(
            "button",
            { type: "button", class: "link", title: excerpt, onclick: () => this.pick(row) },
            t("text.at", { step }),
          ),
        ),
    );
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
    this.textRequests.end();
    this.hitRequests.end();
    this.visibility.end();
  }
}
