// Comparison of two runs: what differs beside the scalars, how far these agree, and which diverges first.

import { button } from "../components/button.js";
import { empty } from "../components/empty.js";
import { searchBox, select } from "../components/field.js";
import { mainTag } from "../components/main_tag.js";
import { RunCurves } from "../components/run_curves.js";
import { commonTags, splitBy } from "../components/runs/split.js";
import { bestEnd } from "../components/runs/values.js";
import { claimElement } from "../core/claims.js";
import { h, renew, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { idOf } from "../core/names.js";
import { idsOf } from "../core/run_list.js";
import { Beside } from "./align/beside.js";
import { showCurves } from "./align/curves.js";
import { alignmentTable } from "./align/tables.js";
import { shareText } from "./align/units.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */

export const alone = true;

const TOLERANCES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1];
const TOLERANCE = 1e-3;
const PATIENCE = 200; // ms after which it is shown that an answer takes time; most are there before

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Alignment(root, app);
  await view.start();
  return {
    update(change) {
      if (view.ids().some((id) => id in change.runs)) view.load(leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Comparison of a run with a baseline. */
class Alignment {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.filter = app.url.get("q", "");
    /** @type {import("./align/tables.js").Alignment | null} */
    this.answer = null;
    this.requests = latest(root);
    this.picks = latest(root);
    /** Scalars by which two runs can be chosen: most of the shown runs have these. @type {{tag: string}[]} */
    this.tags = [];
    /** The two runs chosen by such a scalar, which runs and scalar they are of. */
    this.picked = { question: "", tag: "", ids: /** @type {string[]} */ ([]), broken: 0 };
    this.waiting = 0; // timer
    this.asked = ""; // ids of the runs to choose from, as text; "" until there are two
    this.head = h("div");
    this.beside = new Beside(app);
    this.curves = new RunCurves(app);
    this.body = h("div", { class: "stack" });
    this.offs = [app.url.on(() => this.follow()), app.selection.on(() => this.offer())];
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.picks.end();
    this.beside.end();
    this.curves.end();
    window.clearTimeout(this.waiting);
    this.offs.forEach((off) => off());
  }

  /** Return the runs that have scalars. */
  runs() {
    return this.app.selection.all().filter((run) => run.kinds.scalar);
  }

  /**
   * Return the ids of baseline and run: those in the address even if they do not exist, otherwise those
   * chosen by a scalar, or the first shown ones.
   */
  ids() {
    const { selection } = this.app;
    const other = this.named("run");
    if (!other && !this.named("baseline") && this.picked.ids.length) return this.picked.ids;
    const shown = this.shown();
    const order = [...(shown.length > 1 ? shown : []), ...selection.runs(), ...this.runs()];
    const free = order.filter((run) => run.id !== other);
    const baseline = this.named("baseline") ?? (free.find((run) => run.pinned) ?? free[other ? 0 : 1])?.id;
    const run = other ?? order.find(({ id }) => id !== baseline)?.id;
    return [baseline, run].filter((id) => id !== undefined);
  }

  /** Return the id of the run that the address names, or undefined. @param {"run" | "baseline"} key */
  named(key) {
    const name = this.app.url.get(key);
    return name === null ? undefined : idOf(name);
  }

  /** Return the shown runs that have scalars, with only the lowest rank of each folded job. */
  shown() {
    return this.app.selection.asked().filter((run) => run.kinds.scalar);
  }

  /**
   * Choose the best and the worst of the shown runs by a scalar that most of them have. A pinned run is the
   * baseline.
   */
  async pick() {
    const runs = this.shown();
    const by = this.app.url.get("by", "");
    const question = JSON.stringify([by, runs.map(({ id }) => id)]);
    if (question === this.picked.question) return;
    this.picked = { question, tag: "", ids: [], broken: 0 };
    this.tags = [];
    this.picks.end();
    if (runs.length < 2) return;
    await this.picks.ask(
      async (signal) => {
        const tags = await commonTags(this.app, runs, signal);
        const tag = tags.some((known) => known.tag === by) ? by : mainTag(tags, /loss/i);
        return { tags, tag, ...(await splitBy(this.app, runs, tag, signal)) };
      },
      ({ tags, tag, groups, broken }) => {
        const all = [...groups.keys()];
        const baseline = runs.find((run) => run.pinned)?.id ?? all.find((id) => groups.get(id) === "good");
        const bad = all.filter((id) => groups.get(id) === "bad"); // those that broke come first
        const run = bad.findLast((id) => id !== baseline);
        const passed = run && bad.indexOf(run) < broken ? 0 : broken; // if there are no others
        this.tags = tags;
        this.picked = { question, tag, ids: baseline && run ? [baseline, run] : [], broken: passed };
      },
      leaveAsIs,
    );
  }

  /** Show what the address asks for. @param {(error: Failure) => unknown} [failed] */
  async follow(failed) {
    this.asked = this.offered();
    await this.pick();
    this.drawHead();
    await this.load(failed);
  }

  /** Return the chosen tolerance as a share. */
  tolerance() {
    const share = Number(this.app.url.get("tol", String(TOLERANCE)));
    return share > 0 && share <= 1 ? share : TOLERANCE;
  }

  /** Show the page, or that two runs are needed. */
  async start() {
    const { app, root } = this;
    if (this.ids().length < 2) {
      const title = h("h1", null, app.t("nav.align"));
      replace(root, title, empty({ title: app.t("align.need"), text: app.t("align.need_how") }));
      return;
    }
    replace(root, this.head, this.body);
    await this.follow();
  }

  /** Offer other runs after some came or went, and begin once there are two. */
  offer() {
    if (!this.asked) this.start();
    else if (this.asked !== this.offered()) this.follow(leaveAsIs);
  }

  /** Return the ids of the runs to choose from, and of the shown ones, as text. */
  offered() {
    return idsOf(this.runs()) + idsOf(this.shown());
  }

  /** Change the address and load again. @param {Record<string, string | number | null>} values */
  change(values) {
    this.app.url.set(values);
    return this.follow();
  }

  /** Request the comparison and show it. @param {(error: Failure) => unknown} [failed] */
  load(failed = (error) => this.drawError(error)) {
    const { app } = this;
    const [baseline, run] = this.ids();
    const missing = [baseline, run].find((id) => !app.selection.run(id));
    if (missing) {
      this.requests.end();
      return this.drawError({ key: "error.unknown_run", vars: { run: missing.slice(2) || "." } });
    }
    const [first, second] = [baseline, run].map((id) => app.selection.run(id));
    if (first && second) this.beside.show(second, first);
    this.body.dataset.about = JSON.stringify([run, baseline]); // for the legend of a saved page
    this.body.dataset.object = `${run} ${baseline}`; // names it
    this.body.setAttribute("aria-busy", "true");
    window.clearTimeout(this.waiting);
    if (failed !== leaveAsIs) this.waiting = window.setTimeout(() => this.drawWaiting(), PATIENCE);
    return this.requests.ask(
      (signal) =>
        this.app.api.get("v2/answers/alignment", { run, baseline, tolerance: this.tolerance() }, { signal }),
      (answer) => {
        this.answer = answer;
        this.draw();
      },
      failed,
    );
  }

  /** Draw the controls. */
  drawHead() {
    const { app } = this;
    const { t } = app;
    const [baseline, run] = this.ids();
    const options = this.runs().map(({ id, name }) => ({ value: id, label: name }));
    const short = (/** @type {string} */ id) => id.slice(2) || ".";
    const choose = (/** @type {string} */ key, /** @type {string} */ value) =>
      select({
        label: t(`align.${key}`),
        options,
        value,
        onchange: (id) => this.change({ [key]: short(id) }),
      });
    const swap = button("⇄", () => this.change({ baseline: short(run), run: short(baseline) }), {
      "aria-label": t("align.swap"),
      title: t("align.swap"),
    });
    const shares = TOLERANCES.map((share) => ({ value: String(share), label: shareText(share) }));
    const tolerance = select({
      label: t("align.tolerance"),
      options: shares,
      value: String(this.tolerance()),
      onchange: (share) => this.change({ tol: Number(share) === TOLERANCE ? null : share }),
    });
    const filter = searchBox({
      label: t("common.filter_tags"),
      value: this.filter,
      onchange: (text) => {
        this.filter = text;
        app.url.set({ q: text });
        this.draw();
      },
    });
    renew(
      this.head,
      h("div", { class: "toolbar" }, h("h1", null, t("nav.align"))),
      h(
        "div",
        { class: "toolbar" },
        choose("run", run),
        swap,
        choose("baseline", baseline),
        this.chooser(),
        tolerance,
        filter,
      ),
      this.passedOver(),
    );
  }

  /** Return whether the runs are not the best and the worst that the page picked. */
  isOwn() {
    return Boolean(this.named("run") ?? this.named("baseline")) || !this.picked.ids.length;
  }

  /** Say how many runs were passed over when the worst was picked, or return null. */
  passedOver() {
    const n = this.isOwn() ? 0 : this.picked.broken;
    return n ? h("p", { class: "muted small" }, this.app.t("align.passed", { n })) : null;
  }

  /** Create the choice of the scalar by which two runs are chosen, or null if there is none. */
  chooser() {
    if (!this.tags.length) return null;
    const own = this.isOwn();
    const options = this.tags.map(({ tag }) => ({ value: tag, label: tag }));
    return select({
      label: this.app.t(own || bestEnd(this.picked.tag) ? "align.by" : "align.by.ends"),
      options: [...(own ? [{ value: "", label: this.app.t("align.by.own") }] : []), ...options],
      value: own ? "" : this.picked.tag,
      onchange: (tag) => this.change({ by: tag, run: null, baseline: null }),
    });
  }

  /** Show that two runs are being compared, in place of the answer to an earlier question. */
  drawWaiting() {
    const text = this.app.t("align.comparing");
    this.answer = null;
    replace(
      this.body,
      h("p", { class: "muted", role: "status" }, text),
      h("progress", { "aria-label": text }),
      this.beside.element,
    );
  }

  /** Show an error in place of any earlier answer. @param {Failure} error */
  drawError(error) {
    window.clearTimeout(this.waiting);
    this.answer = null;
    this.body.setAttribute("aria-busy", "false");
    const text = error.key ? this.app.t(error.key, error.vars) : String(error.message ?? error);
    replace(this.body, h("p", { class: "answer-story", role: "status" }, text), this.beside.element);
  }

  /** Draw the claims and the table. */
  draw() {
    const { app, answer, filter } = this;
    const { t } = app;
    if (!answer) return;
    window.clearTimeout(this.waiting);
    this.body.setAttribute("aria-busy", "false");
    /** @type {import("../core/claims.js").Claim[]} */
    const claims = answer.claims;
    const sentences = claims.map((claim) => claimElement(app, claim));
    const story = h("div", { class: "answer-story", role: "status" }, sentences);
    if (!answer.tags.length) {
      replace(this.body, story, this.beside.element);
      return;
    }
    const last = Math.min(...this.ids().map((id) => app.selection.run(id)?.step ?? 0));
    const wanted = answer.tags.filter((/** @type {{tag: string}} */ { tag }) =>
      tag.toLowerCase().includes(filter.toLowerCase()),
    );
    const table = alignmentTable(app, answer, wanted, last);
    replace(
      this.body,
      story,
      this.curves.element,
      this.beside.element,
      h("div", { class: "panel scroll", tabindex: "0", role: "region", "aria-label": t("nav.align") }, table),
    );
    showCurves(app, this.curves, wanted, this.ids());
  }
}
