// What two runs differ in beside their scalars: settings, code, graph, dumps and checkpoints.

import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { onlyJobAround } from "../../core/jobs.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/claims.js").Claim} Claim */
/**
 * @typedef {ReturnType<typeof latest>} Requests
 */
/**
 * @typedef {Object} Part
 * @property {string} name
 * @property {Claim[]} claims
 * @property {string} href of the page that shows it; "" for none
 * @property {string} [error] why it could not be had
 */

const NUMBER = /\d+/g;
const AGAIN_MS = 3000; // until a part that could not be had is asked for again

/** Panels beside the table of scalars. */
export class Beside {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = h("div", { class: "align-beside" });
    this.requests = [latest(), latest(), latest()];
    this.shown = "";
    /** By name; null while it is asked. @type {Map<string, Part | null>} */
    this.parts = new Map();
    /** Kinds that not both have. @type {string[]} */
    this.missing = [];
  }

  /** Drop requests in flight. */
  end() {
    this.requests.forEach((requests) => requests.end());
  }

  /**
   * Request and draw the differences of two runs; nothing is asked again while they are the same.
   * @param {Run} run
   * @param {Run} baseline
   */
  show(run, baseline) {
    const question = JSON.stringify([run, baseline].map(({ id, kinds, dumps }) => [id, kinds, dumps]));
    if (question === this.shown) return;
    this.shown = question;
    this.parts = new Map([["settings", null]]);
    this.missing = [];
    const [settings, graph, checkpoints] = this.requests;
    this.askSettings(settings, run, baseline);
    this.askGraph(graph, run, baseline);
    this.addDumps(run, baseline);
    this.askCheckpoints(checkpoints, run, baseline);
    this.draw();
  }

  /**
   * Say why a part could not be had, and ask again.
   * @param {Requests} requests
   * @param {string} name
   * @param {import("../../core/types.js").Failure} error
   * @param {() => void} again
   */
  failed(requests, name, error, again) {
    const text = this.app.t(error.key ?? "error.http", error.vars);
    this.parts.set(name, { name, claims: [], href: "", error: text });
    this.draw();
    requests.later(again, AGAIN_MS);
  }

  /** @param {Requests} requests @param {Run} run @param {Run} baseline */
  askSettings(requests, run, baseline) {
    const pair = { run: run.id, baseline: baseline.id };
    requests.ask(
      (signal) => this.app.api.get("v2/explanation/difference", pair, { signal }),
      ({ claims }) => {
        const known = claims.some(({ verdict }) => verdict !== "unknown");
        const runs = [run.id, baseline.id];
        this.put("settings", claims, known ? this.app.selection.linkOnly("lineage", runs) : "");
      },
      (error) => this.failed(requests, "settings", error, () => this.askSettings(requests, run, baseline)),
    );
  }

  /** @param {Requests} requests @param {Run} run @param {Run} baseline */
  askGraph(requests, run, baseline) {
    requests.end();
    if (!run.kinds.graph || !baseline.kinds.graph) {
      this.missing.push("graph");
      return;
    }
    this.parts.set("graph", null);
    const href = this.app.url.link("graph", { m: "compare", run: baseline.id, run2: run.id });
    requests.ask(
      (signal) =>
        this.app.api.get(
          "v2/graph/compare/differences",
          { run: baseline.id, other_run: run.id, limit: 1 },
          { signal },
        ),
      ({ claims }) => this.put("graph", claims, href),
      () => this.put("graph", [], href),
    );
  }

  /** @param {Run} run @param {Run} baseline */
  addDumps(run, baseline) {
    if (!run.dumps.length || !baseline.dumps.length) {
      this.missing.push("dump");
      return;
    }
    const dumps = { dump: run.dumps[0], with: baseline.dumps[0], tab: "compare" };
    this.parts.set("dump", { name: "dump", claims: [], href: this.app.url.link("dump", dumps) });
  }

  /** @param {Requests} requests @param {Run} run @param {Run} baseline */
  askCheckpoints(requests, run, baseline) {
    requests.ask(
      (signal) => this.app.api.get("v2/dump/checkpoints", {}, { signal }),
      ({ checkpoints }) => {
        const pair = lastPair(checkpoints, this.app.selection.all(), run, baseline);
        if (!pair) {
          this.parts.delete("checkpoint");
          this.missing.push("checkpoint");
          this.draw();
          return;
        }
        const [file, second] = pair;
        const query = { m: "compare", file, second };
        this.put("checkpoint", [], this.app.url.link("checkpoint", query));
      },
      (error) =>
        this.failed(requests, "checkpoint", error, () => this.askCheckpoints(requests, run, baseline)),
    );
  }

  /** Add a part and draw. @param {string} name @param {Claim[]} claims @param {string} href */
  put(name, claims, href) {
    this.parts.set(name, { name, claims, href });
    this.draw();
  }

  /** Draw what is known. */
  draw() {
    const { app } = this;
    const { t } = app;
    const panels = [...this.parts].map(([name, part]) =>
      h(
        "section",
        { class: "panel", "data-part": name },
        h("h2", { class: "panel-title" }, t(`align.part.${name}`)),
        part
          ? [part.error, part.claims.map((claim) => claimElement(app, claim))]
          : h("p", { class: "muted", role: "status" }, t("align.part.asked")),
        part?.href && h("p", { class: "small" }, h("a", { href: part.href }, t(`align.open.${name}`))),
      ),
    );
    const names = this.missing.map((name) => t(`align.part.${name}`));
    const missing = names.length > 0 && h("p", { class: "muted small" }, t("align.missing", { names }));
    replace(this.element, h("div", { class: "align-parts" }, panels), missing);
  }
}

/**
 * Return the last checkpoints of the baseline and of the run, by the numbers in their names; null if either
 * has none that is known to be its own.
 * @param {{id: string, modified: number}[]} checkpoints
 * @param {Run[]} runs
 * @param {Run} run
 * @param {Run} baseline
 */
export function lastPair(checkpoints, runs, run, baseline) {
  const own = (/** @type {Run} */ { job }) =>
    checkpoints.filter(({ id }) => onlyJobAround(runs, id).some((around) => around.job === job));
  const last = (/** @type {{id: string, modified: number}[]} */ files) =>
    [...files].sort((a, b) => a.modified - b.modified || byNumbers(a.id, b.id)).at(-1)?.id;
  const pair = [last(own(baseline)), last(own(run))];
  return pair[0] && pair[1] && run.job !== baseline.job ? /** @type {[string, string]} */ (pair) : null;
}

/** Compare names by the numbers in them. @param {string} a @param {string} b */
function byNumbers(a, b) {
  const [left, right] = [a, b].map((name) => (name.match(NUMBER) ?? []).map(Number));
  const i = left.findIndex((value, at) => value !== right[at]);
  return i < 0 ? 0 : left[i] - (right[i] ?? 0);
}
