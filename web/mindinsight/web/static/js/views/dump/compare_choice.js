// Form that chooses the dump, rank and step to compare with, and a file that maps names.

import { button } from "../../components/button.js";
import { select } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { settlePosition } from "../../components/dump/state.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {{dump: string, rank: number, step: number}} Reference */

/** Form that chooses the reference of a comparison: dump, rank, step, and a file that maps names. */
export class ReferenceChoice {
  /**
   * @param {Page} page
   * @param {(reference: Reference, names: Record<string, string>) => void} start
   */
  constructor(page, start) {
    const { state } = page;
    const { url } = page.app;
    this.page = page;
    this.start = start;
    /** Whether the address names a rank or a step, which has to exist. */
    this.named = url.get("with_rank") !== null || url.get("with_step") !== null;
    /** @type {Reference} */
    this.reference = {
      dump: url.get("with") || (this.named ? state.dump : suggested(page)), // its own dump has no name there
      rank: Number(url.get("with_rank", String(state.rank))),
      step: Number(url.get("with_step", String(state.step))),
    };
    /** Names of the dump -> names of the reference. @type {Record<string, string>} */
    this.names = {};
    /** Whether nothing is chosen yet: then another step than that of the page is suggested. */
    this.free = !this.named && !url.get("with");
    /** Whether the step is to be suggested. */
    this.open = !this.named;
    /** Whether the dump of the reference has ranks and steps to choose from. */
    this.known = false;
    this.requests = latest();
    this.element = h("div", { class: "toolbar" });
  }

  /**
   * Request the ranks and steps of the chosen dump and draw the form. Show an error if the address names a
   * step it does not have.
   */
  read() {
    const { app } = this.page;
    return this.requests.ask(
      () => app.api.get("v2/dump/summary", { dump: this.reference.dump }),
      (summary) => {
        const { dump, rank, step } = this.reference;
        settlePosition(this.reference, summary);
        if (this.open) this.suggestStep(summary.ranks);
        this.draw(summary.ranks);
        if (this.free || (rank === this.reference.rank && step === this.reference.step)) return;
        if (!this.named) return this.write();
        const error = { key: "error.unknown_step_of", vars: { dump: dump.slice(2) || ".", rank, step } };
        this.element.prepend(failure(app, error));
      },
      (error) => {
        this.draw([]);
        this.element.prepend(failure(app, error));
      },
    );
  }

  /**
   * Suggest a step of the reference: another one of the same dump, or of a dump without a common step the one
   * at the same position.
   * @param {{rank: number, steps: number[]}[]} ranks of the reference
   */
  suggestStep(ranks) {
    const { state, summary } = this.page;
    const { dump, rank } = this.reference;
    if (dump === state.dump) {
      if (this.free) Object.assign(this.reference, neighbour(state, ranks));
      return;
    }
    const own = summary?.ranks.find((entry) => entry.rank === state.rank)?.steps ?? [];
    const steps = ranks.find((entry) => entry.rank === rank)?.steps ?? [];
    if (!steps.length || own.some((step) => steps.includes(step))) return;
    this.reference.step = steps[Math.min(Math.max(0, own.indexOf(state.step)), steps.length - 1)];
  }

  /** Choose another reference. Another dump is compared at once. @param {Partial<Reference>} changes */
  pick(changes) {
    const { rank, step } = this.page.state;
    Object.assign(this.reference, changes.dump ? { rank, step } : {}, changes);
    this.named = this.free = false;
    this.open = changes.dump !== undefined;
    this.write();
    return changes.dump ? this.readAndStart() : this.read();
  }

  /** Draw the form and compare, if the reference exists and is another than what it is compared with. */
  async readAndStart() {
    await this.read();
    if (this.known && !this.isItself()) this.start({ ...this.reference }, this.names);
  }

  /** Return whether the reference is what it would be compared with. */
  isItself() {
    const { dump, rank, step } = this.page.state;
    return this.reference.dump === dump && this.reference.rank === rank && this.reference.step === step;
  }

  /** Write the chosen reference to the address. */
  write() {
    const { app, state } = this.page;
    const { dump, rank, step } = this.reference;
    app.url.set({ with: dump === state.dump ? null : dump, with_rank: rank, with_step: step });
  }

  /** Draw the form. @param {{rank: number, steps: number[]}[]} ranks of the chosen dump */
  draw(ranks) {
    const { t } = this.page.app;
    const { dump, rank, step } = this.reference;
    this.known = ranks.length > 0;
    const steps = ranks.find((entry) => entry.rank === rank)?.steps ?? [];
    const numbers = (/** @type {number[]} */ values) =>
      values.map((value) => ({ value: String(value), label: String(value) }));
    replace(
      this.element,
      select({
        label: t("dump.compare.with"),
        options: this.options(),
        value: dump,
        onchange: (value) => this.pick({ dump: value }),
      }),
      select({
        label: t("dump.rank"),
        options: numbers(ranks.map((entry) => entry.rank)),
        value: String(rank),
        onchange: (value) => this.pick({ rank: Number(value) }),
      }),
      select({
        label: t("common.step"),
        options: numbers(steps),
        value: String(step),
        onchange: (value) => this.pick({ step: Number(value) }),
      }),
      this.nameMap(),
      button(t("dump.compare.start"), () => this.start({ ...this.reference }, this.names), {
        class: "primary",
        disabled: !this.known,
      }),
      this.isItself() ? h("p", { class: "muted" }, t("dump.compare.itself")) : null,
    );
  }

  /** Return the options of dumps, including the one in the address even if it does not exist. */
  options() {
    const ids = new Set([this.reference.dump, ...this.page.dumps.map(({ id }) => id)]);
    return [...ids].map((id) => ({ value: id, label: id.slice(2) || "." }));
  }

  /** Create the upload of a file that maps names. */
  nameMap() {
    const { t } = this.page.app;
    const file = h("input", {
      type: "file",
      class: "unseen",
      accept: ".json,.csv,.txt",
      onchange: async () => {
        this.names = parseNames(await /** @type {FileList} */ (file.files)[0].text());
        this.read();
      },
    });
    const count = Object.keys(this.names).length;
    return h(
      "label",
      { class: "button", title: t("dump.compare.map_how") },
      icon("file"),
      count ? t("dump.compare.mapped", { n: count }) : t("dump.compare.map"),
      file,
    );
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }
}

/**
 * Return the dump to offer as the reference: that of another run in the address, else of all others the one
 * with the most similar name; the dump itself if there is no other.
 * @param {Page} page
 */
function suggested({ app, state, dumps }) {
  const others = dumps.filter(({ id }) => id !== state.dump);
  const runs = new Set(app.url.get("runs") === null ? [] : app.selection.runs().map((run) => run.id));
  const shown = others.filter(({ run }) => runs.has(run));
  return mostSimilar(
    state.dump,
    (shown.length ? shown : others).map(({ id }) => id),
  );
}

/**
 * Return the id that begins with the most letters of `id`, the first of several; `id` itself if there is
 * none.
 * @param {string} id
 * @param {string[]} ids
 */
export function mostSimilar(id, ids) {
  const alike = (/** @type {string} */ other) => {
    const at = [...id].findIndex((letter, i) => letter !== other[i]);
    return at < 0 ? id.length : at;
  };
  return ids.reduce((best, other) => (best === id || alike(other) > alike(best) ? other : best), id);
}

/**
 * Return a rank and step to compare with: the step before, else the next, else the same step of another rank,
 * else the step itself.
 * @param {{rank: number, step: number}} position
 * @param {{rank: number, steps: number[]}[]} ranks
 */
export function neighbour({ rank, step }, ranks) {
  const steps = ranks.find((entry) => entry.rank === rank)?.steps ?? [];
  const other = steps.filter((number) => number < step).at(-1) ?? steps.find((number) => number > step);
  if (other !== undefined) return { rank, step: other };
  const peer = ranks.find((entry) => entry.rank !== rank && entry.steps.includes(step));
  return { rank: peer?.rank ?? rank, step };
}

/**
 * Parse a map of names: a JSON object, or lines of two names separated by a comma. Return {} if it is
 * neither.
 * @param {string} text
 * @returns {Record<string, string>}
 */
function parseNames(text) {
  try {
    if (text.trimStart().startsWith("{")) return JSON.parse(text);
  } catch {
    return {};
  }
  const lines = text.split("\n").filter((line) => line.includes(","));
  return Object.fromEntries(lines.map((line) => line.split(",", 2).map((word) => word.trim())));
}
