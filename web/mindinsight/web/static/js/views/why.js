// Why page: what separates good runs from bad ones, by setting and by scalar.

import { segments } from "../components/button.js";
import { RunCurves } from "../components/run_curves.js";
import { empty, loading } from "../components/empty.js";
import { select } from "../components/field.js";
import { lineSample } from "../components/line.js";
import { longName } from "../components/long_name.js";
import { mainTag } from "../components/main_tag.js";
import { commonTags, splitBy } from "../components/runs/split.js";
import { bestEnd } from "../components/runs/values.js";
import { claimElement } from "../core/claims.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { sharedPath } from "../core/names.js";
import { idsOf } from "../core/run_list.js";
import { members, readGroups, writeGroups } from "./why/groups.js";
import { changes, metricsTable, onsetOf, settingsTable } from "./why/tables.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Run} Run */
/** @typedef {import("../core/claims.js").Claim} Claim */
/** @typedef {import("./why/groups.js").Group} Group */

export const alone = true;

const FOLLOW = 12; // scalars that do not part and are listed at first
const NARROW = 12; // characters of a name that the list of runs has room for

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Why(root, app);
  await view.start();
  return {
    update(change) {
      if (change.list || Object.keys(change.runs).some((id) => view.groups.has(id))) view.load(leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Two groups of runs and what differs between them. */
class Why {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    /** @type {Map<string, Group>} */
    this.groups = readGroups(app.url);
    /** Whether somebody chose the groups. */
    this.byHand = this.groups.size > 0;
    /** Scalar that the groups come from, even if runs were moved afterwards; "" if unknown. */
    this.splitTag = app.url.get("by") ?? "";
    /** By which runs were compared at first. @type {{tag: string, end: "min" | "max"} | null} */
    this.measure = null;
    /** @type {import("../core/answers.js").Why | null} */
    this.answer = null;
    /** Ids of the runs that were split, as text; "" until there are two. */
    this.splitOf = "";
    /** Scalars by which runs can be split: most of them have these. @type {{tag: string}[]} */
    this.tags = [];
    this.requests = latest(root);
    this.list = h("div", { class: "why-runs panel" });
    this.by = h("div", { class: "why-split" });
    this.body = h("div", { class: "stack grow" });
    this.curves = new RunCurves(app);
    this.offs = [
      app.theme.on(() => this.answer && this.draw()),
      app.url.on(
        () => (
          (this.groups = readGroups(app.url)),
          (this.splitTag = app.url.get("by") ?? ""),
          this.load(leaveAsIs)
        ),
      ),
      app.selection.on(() => this.follow()),
    ];
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.curves.end();
    this.offs.forEach((off) => off());
  }

  /** Return the runs to choose from, with only the lowest rank of each folded job. */
  runs() {
    const chosen = this.app.selection.asked().filter((run) => run.kinds.scalar);
    const others = [...this.groups.keys()].filter((id) => chosen.every((run) => run.id !== id));
    const known = others.map((id) => this.app.selection.run(id)).filter((run) => run !== undefined);
    return [...chosen, .../** @type {Run[]} */ (known)];
  }

  /** Show the page, or that two runs are needed. */
  async start() {
    const { app, root } = this;
    const title = h("h1", null, app.t("nav.why"));
    if (this.runs().length < 2) {
      replace(root, title, empty({ title: app.t("why.need"), text: app.t("why.need_how") }));
      return;
    }
    const head = h("div", { class: "toolbar" }, title, h("p", { class: "muted" }, app.t("why.how")));
    replace(root, head, h("div", { class: "why-body" }, this.list, this.body));
    await this.resplit();
  }

  /** Follow the shown runs: begin once there are two; split them anew unless somebody chose groups. */
  follow() {
    if (!this.splitOf) this.start();
    else if (!this.byHand && this.splitOf !== this.ids()) this.resplit(leaveAsIs);
    else this.drawList();
  }

  /** Return the ids of the runs to choose from as text, for comparison. */
  ids() {
    return idsOf(this.runs());
  }

  /**
   * Split the runs unless somebody chose the groups, and ask what differs between these.
   * @param {(error: Failure) => unknown} [failed]
   */
  async resplit(failed) {
    const ids = this.ids();
    this.splitOf = ids;
    await this.loadTags();
    if (!this.byHand && this.splitOf === ids) await this.split(this.measure?.tag, this.measure?.end);
    if (this.splitOf !== ids) return; // other runs are shown meanwhile
    this.drawList();
    await this.load(failed);
  }

  /** Request the scalars by which the runs can be split. */
  async loadTags() {
    const runs = this.runs();
    await this.requests.ask(
      (signal) => commonTags(this.app, runs, signal),
      (tags) => {
        this.tags = tags;
      },
      leaveAsIs,
    );
  }

  /**
   * Split the runs into good and bad by their best value of a scalar.
   * @param {string} [by] without it, the main scalar of most of the runs
   * @param {"min" | "max" | null} [end] which is best; without it, the name of the scalar says so
   */
  async split(by, end) {
    const runs = this.runs();
    await this.requests.ask(
      (signal) => splitBy(this.app, runs, by ?? mainTag(this.tags, /loss/i), signal, end),
      ({ groups, measure }) => {
        this.groups = groups;
        this.measure = measure;
        this.splitTag = measure.tag;
        writeGroups(this.app.url, groups, this.splitTag);
      },
      leaveAsIs,
    );
  }

  /** Move a run to a group. @param {string} run @param {Group} group */
  put(run, group) {
    this.groups.set(run, group);
    if (!group) this.groups.delete(run);
    this.measure = null;
    this.byHand = true;
    writeGroups(this.app.url, this.groups, this.splitTag);
    this.drawSplit();
    this.load(leaveAsIs);
  }

  /**
   * Request what differs between the groups, if both have members.
   * @param {(error: Failure) => unknown} [failed]
   */
  load(failed) {
    const [good, bad] = [members(this.groups, "good"), members(this.groups, "bad")];
    if (!good.length || !bad.length) {
      this.answer = null;
      this.requests.end();
      this.draw();
      return undefined;
    }
    this.body.setAttribute("aria-busy", "true");
    if (!this.answer) replace(this.body, loading(this.app.t("common.loading")));
    return this.requests.ask(
      (signal) => this.app.api.get("v2/answers/why", { good, bad, by: this.splitTag }, { signal }),
      (answer) => {
        this.answer = answer;
        this.draw();
      },
      failed,
    );
  }

  /** Draw the list of runs with their groups, first those in a group. */
  drawList() {
    const { app } = this;
    const { t } = app;
    const options = ["good", "", "bad"].map((value) => ({ value, label: t(`why.group.${value || "none"}`) }));
    const rank = (/** @type {Run} */ { id }) =>
      ["good", "bad", undefined].indexOf(this.groups.get(id) || undefined);
    const runs = this.runs().sort((one, other) => rank(one) - rank(other));
    const start = sharedPath(runs.map(({ name }) => name));
    const rows = runs.map((run) =>
      h(
        "div",
        { class: "why-run" },
        h(
          "span",
          { class: "row ellipsis", title: run.id },
          lineSample(app, run.id, true),
          longName(run.name, { title: run.id, start, short: NARROW }),
        ),
        segments({
          label: t("why.group.of", { run: run.name }),
          options,
          value: this.groups.get(run.id) ?? "",
          onchange: (group) => this.put(run.id, /** @type {Group} */ (group)),
        }),
      ),
    );
    this.drawSplit();
    replace(this.list, h("h2", { class: "panel-title" }, t("nav.runs")), this.by, rows);
  }

  /** Say by what the runs were split, with a choice of something else. */
  drawSplit() {
    const { t } = this.app;
    const [good, bad] = [members(this.groups, "good").length, members(this.groups, "bad").length];
    const end = good && bad ? this.measure?.end : "none";
    const how = this.measure && t(`why.split.${end}`, { tag: this.measure.tag, good, bad });
    const move = h("span", { class: "live-hint" }, ` ${t("why.split.move")}`);
    const open = this.measure && bestEnd(this.measure.tag) === null && ` ${t("why.split.open")}`;
    const sentence = how && h("p", { class: "muted small" }, how, end !== "none" && [open, move]);
    replace(this.by, this.chooser(), this.ends(), sentence);
  }

  /** Create the choice of the scalar by which runs are split, or null if there is none. */
  chooser() {
    if (this.tags.length < 2) return null;
    const own = { value: "", label: this.app.t("why.split.own") };
    return select({
      label: this.app.t("why.split"),
      options: [...(this.measure ? [] : [own]), ...this.tags.map(({ tag }) => ({ value: tag, label: tag }))],
      value: this.measure?.tag ?? "",
      onchange: (tag) => this.splitAgain(tag || undefined),
    });
  }

  /** Create the choice of the end that is good, or null if the groups were chosen. */
  ends() {
    if (!this.measure) return null;
    const { tag, end } = this.measure;
    const options = ["min", "max"].map((value) => ({ value, label: this.app.t(`why.end.${value}`) }));
    const label = this.app.t("why.end");
    const onchange = (/** @type {string} */ value) => this.splitAgain(tag, value === "max" ? "max" : "min");
    const choice = segments({ label, options, value: end, onchange });
    return h("p", { class: "row small" }, h("span", { class: "muted" }, label), choice);
  }

  /**
   * Split the runs in another way, which replaces groups that were chosen.
   * @param {string} [tag] @param {"min" | "max"} [end]
   */
  async splitAgain(tag, end) {
    this.byHand = false;
    await this.split(tag, end);
    this.drawList();
    await this.load(leaveAsIs);
  }

  /** Draw the answer. */
  draw() {
    const { app, answer } = this;
    const { t } = app;
    this.body.setAttribute("aria-busy", "false");
    if (!answer) {
      replace(this.body, empty({ title: t("why.choose"), text: t("why.need_how") }));
      return;
    }
    const last = Math.max(0, ...[...this.groups.keys()].map((id) => app.selection.run(id)?.step ?? 0));
    const parting = answer.metrics.filter(changes);
    const rest = answer.metrics.filter((metric) => !changes(metric));
    const table = (/** @type {import("../core/answers.js").Why["metrics"]} */ metrics) =>
      metricsTable(app, metrics, this.groups, { last, by: this.splitTag });
    replace(
      this.body,
      h(
        "div",
        { class: "answer-story", role: "status" },
        answer.claims.map((/** @type {Claim} */ claim) => claimElement(app, claim)),
      ),
      this.curves.element,
      part(t("why.metrics", { n: parting.length }), parting.length ? table(parting) : null),
      /** Create a collapsible section with a table, or return null without a table. */
      part(
        t("why.settings", { n: answer.settings.length }),
        answer.settings.length
          ? settingsTable(app, answer.settings, [answer.good.length, answer.bad.length])
          : null,
      ),
      rest.length ? part(t("why.rest", { n: rest.length }), table(rest), rest.length <= FOLLOW) : null,
    );
    const split = rest.find(({ tag }) => tag === this.splitTag);
    const drawn = parting.find(({ kind }) => kind !== "apart") ?? parting[0] ?? split ?? rest[0];
    this.showCurves(drawn);
  }

  /** Draw the curves of a scalar of both groups. @param {import("../core/answers.js").Metric} [metric] */
  showCurves(metric) {
    const { t, theme } = this.app;
    if (!metric) {
      this.curves.show("", []);
      return;
    }
    const { tag } = metric;
    const groups = [
      { name: t("why.good"), tag, runs: members(this.groups, "good"), colour: theme.colour("--accent") },
      {
        name: t("why.bad"),
        tag,
        runs: members(this.groups, "bad"),
        colour: theme.colour("--bad"),
        dash: "dot",
      },
    ];
    this.curves.show(t("why.curves", { tag }), groups, onsetOf(metric));
  }
}

/**
 * A table under a heading that folds it away.
 * @param {string} title @param {HTMLElement | null} table @param {boolean} [open]
 */
function part(title, table, open = true) {
  if (!table) return null;
  return h(
    "details",
    { class: "panel", open },
    h("summary", null, title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table),
  );
}
