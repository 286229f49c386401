// Job page: its ranks with their state and anomalies, kept up to date.

import { empty } from "../components/empty.js";
import { NON_FINITE_BADGE } from "../components/hatching.js";
import {
  groupsByRun,
  healthStrip,
  KINDS,
  missingRanks,
  outliersByRank,
  slowRuns,
  unknownRuns,
} from "../components/health_strip.js";
import { select } from "../components/field.js";
import { RunCurves } from "../components/run_curves.js";
import { COLOURS } from "../core/colours.js";
import { tableHead } from "../components/table_head.js";
import { claimElement, claimText } from "../core/claims.js";
import { h, replace, throttle } from "../core/dom.js";
import { jobsOf } from "../core/jobs.js";
import { idOf } from "../core/names.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { exactPattern } from "../core/patterns.js";
import { stateMark } from "../components/runs/columns.js";
import { lastStep } from "../components/runs/values.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../components/health_strip.js").Health} Health */

export const alone = true;

const AGAIN_MS = 2000; // between two looks while the ranks grow
const CHARTS = 4; // scalars in which ranks differ
const ODD = 6; // ranks with a curve of their own colour: those that differ first
const SHOWN = 500; // ranks that are listed: those with faults first

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new JobView(root, app);
  await view.start();
  const again = throttle(() => view.load(leaveAsIs), AGAIN_MS);
  return {
    update: (change) => {
      const ofJob = (/** @type {string} */ id) => app.selection.run(id)?.job === view.job();
      if (change.list || Object.keys(change.runs).some(ofJob)) again();
    },
    unmount: () => (again.cancel(), view.end()),
  };
}

/** Page of one job. */
class JobView {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    /** What the server last said, and of which job. @type {{job: string, health: Health | null} | null} */
    this.answer = null;
    this.requests = latest(root);
    /** One for each scalar in which ranks differ. @type {RunCurves[]} */
    this.curves = [];
    this.charts = h("div", { class: "stack" });
    this.head = h("div", { class: "toolbar" });
    this.body = h("div", { class: "stack" });
    this.offs = [app.url.on(() => this.load(leaveAsIs)), app.selection.on(() => this.draw())];
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.curves.forEach((curves) => curves.end());
    this.offs.forEach((off) => off());
  }

  /** Return the job in the address or of the run there, otherwise the first with several ranks. */
  job() {
    const { selection, url } = this.app;
    const [job, run] = [url.get("job"), url.get("run")];
    if (job !== null) return idOf(job);
    return run === null ? jobsOf(this.app)[0]?.id : (selection.run(idOf(run))?.job ?? idOf(run));
  }

  /** Build the page and load the health. */
  async start() {
    replace(this.root, this.head, this.body);
    await this.load();
  }

  /** Request the job's health. @param {(error: Failure) => unknown} [failed] */
  load(failed) {
    const job = this.job();
    this.root.dataset.object = job ?? ""; // names a saved page
    if (!job) {
      this.answer = null;
      this.draw();
      return undefined;
    }
    return this.requests.ask(
      (signal) => this.app.api.get("v2/answers/health", { job: [job] }, { signal }),
      ({ jobs }) => {
        this.answer = { job, health: jobs[job] ?? null };
        this.draw();
      },
      failed,
    );
  }

  /** Draw the claims and the table. */
  draw() {
    const { app, answer } = this;
    const { t } = app;
    const job = this.job();
    if (job && answer?.job !== job) return; // not answered yet
    const health = answer?.health;
    const title = h("h1", null, job ? job.slice(2) || "." : t("nav.job"));
    if (!job || !health) {
      replace(this.head, title, this.chooser(job));
      const missing = job ? t("health.no_job", { job: job.slice(2) || "." }) : t("health.none");
      replace(this.body, empty({ title: missing, text: t("scalar.ranks.how") }));
      return;
    }
    const charts = h(
      "a",
      { class: "button", href: app.url.link("scalar", { m: "ranks", job }) },
      t("health.charts"),
    );
    const rank = app.selection.all().find((run) => run.job === job && run.rank !== null);
    const explain =
      rank &&
      h(
        "a",
        {
          class: "button",
          href: app.url.link("explain", { run: rank.id }),
          title: t("explain.button_why_ranks"),
        },
        t("explain.button"),
      );
    replace(this.head, title, this.chooser(job), charts, explain, faultDump(app, job));
    replace(
      this.body,
      h(
        "div",
        { class: "answer-story", role: "status" },
        health.claims.map((claim) => claimElement(app, claim)),
      ),
      h("div", { class: "job-strip" }, healthStrip(app, health, job)),
      h("p", { class: "muted small" }, t("health.looked_at", { tags: health.tags })),
      this.charts,
      h(
        "div",
        { class: "panel scroll", tabindex: "0", role: "region", "aria-label": t("nav.job") },
        table(app, health),
      ),
    );
    this.showCurves(health);
  }

  /**
   * Draw the scalars in which ranks differ, or the loss if they do in none.
   * @param {Health} health
   */
  showCurves(health) {
    const strays = outliersByRank(health)
      .flat()
      .sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.step - b.step);
    const differing = [...strays, ...[...groupsByRun(health).values()].flat()].map(({ tag }) => tag);
    const usual = health.tags.find((name) => /loss/i.test(name)) ?? health.tags[0];
    const tags = [...new Set(differing.length ? differing : [usual ?? ""])].slice(0, CHARTS);
    while (this.curves.length < tags.length) this.curves.push(new RunCurves(this.app));
    replace(
      this.charts,
      this.curves.map((curves) => curves.element),
    );
    this.curves.forEach((curves, i) => {
      const tag = tags[i] ?? "";
      const own = strays.filter((stray) => stray.tag === tag);
      const first = own.find(({ kind }) => kind !== "silent") ?? own[0]; // an end is seen anyway
      curves.show(tag, tag ? this.curvesOf(health, tag) : [], first?.step ?? null);
    });
  }

  /**
   * Return the curves of a scalar: of the ranks that differ in it, or its two groups, and of the others.
   * @param {Health} health
   * @param {string} tag
   */
  curvesOf(health, tag) {
    const { theme, t } = this.app;
    const colour = (/** @type {number} */ i) => theme.colour(`--run-${(i % COLOURS) + 1}`);
    const ordered = [...health.strays].sort((a, b) => a.step - b.step);
    const every = [...new Set(ordered.map(({ row }) => row))]; // so that a rank has one colour in all charts
    const strays = ordered.filter((stray) => stray.tag === tag);
    const odd = [...new Set(strays.map(({ row }) => row))].slice(0, ODD);
    const groups = groupsByRun(health);
    const within = (/** @type {string} */ run, /** @type {string} */ group) =>
      groups.get(run)?.some((own) => own.tag === tag && own.group === group);
    const halves = /** @type {const} */ (["low", "high"])
      .map((group, i) => ({
        name: t(`health.${group}`),
        runs: health.runs.filter((run) => within(run, group)),
        i,
      }))
      .filter(({ runs }) => runs.length);
    const apart = new Set([...odd.map((row) => health.runs[row]), ...halves.flatMap(({ runs }) => runs)]);
    const rest = health.runs.filter((run) => !apart.has(run));
    const name = t(apart.size ? "health.others" : "health.all");
    return [
      { name, tag, runs: rest, quiet: true, colour: theme.colour("--muted") },
      ...halves.map(({ name: half, runs, i }) => ({ name: half, tag, runs, colour: colour(i) })),
      ...odd.map((row) => ({
        name: t("runs.rank", { rank: health.ranks[row] ?? health.runs[row] }),
        tag,
        runs: [health.runs[row]],
        colour: colour(every.indexOf(row) + halves.length),
      })),
    ].filter(({ runs }) => runs.length);
  }

  /** Create the choice of a job, or return null if there is only one. @param {string | undefined} job */
  chooser(job) {
    const { app } = this;
    const jobs = jobsOf(app);
    if (jobs.length < 2) return null;
    return select({
      label: app.t("nav.job"),
      options: jobs.map(({ id, ranks }) => ({
        value: id,
        label: app.t("scalar.ranks.job_of", { job: id.slice(2) || ".", n: ranks }),
      })),
      value: job ?? "",
      onchange: (id) => {
        app.url.set({ job: id.slice(2) || "." });
        this.load(leaveAsIs);
      },
    });
  }
}

/**
 * Create the link to the first fault in the dump that a flight recorder of a job wrote, or return null.
 * @param {App} app
 * @param {string} job
 */
function faultDump(app, job) {
  const run = app.selection.all().find((rank) => rank.job === job && rank.fault_dumps.length);
  const dump = run?.dumps[0];
  if (!run || !dump) return null;
  const title = run.fault_dumps.map((claim) => claimText(app, claim)).join("\n");
  const href = app.url.link("dump", { dump, tab: "check" });
  return h("a", { class: "badge bad", href, title }, app.t("runs.recorder"));
}

/**
 * Return a sort key that puts the most serious anomalies first.
 * @param {import("../components/health_strip.js").RankOutlier[]} strays of a rank, the most serious first
 */
const severity = ([first]) => (first ? KINDS.indexOf(first.kind) : KINDS.length);

/** Create the table of ranks, those with anomalies first. @param {App} app @param {Health} health */
function table(app, health) {
  const { t, format, selection } = app;
  const now = selection.list().now;
  const strays = outliersByRank(health);
  const unknown = unknownRuns(health);
  const slow = slowRuns(health);
  const groups = groupsByRun(health);
  const well = (/** @type {number} */ row) => {
    const slower = slow.get(health.runs[row]);
    if (slower) return h("span", { class: "badge warn" }, t("health.slow", slower));
    const own = groups.get(health.runs[row]);
    if (own) return own.map(({ tag, group }) => `${tag}: ${t(`health.${group}`)}`).join(", ");
    return t(unknown.has(health.runs[row]) ? "health.unknown" : "health.well");
  };
  const place = (/** @type {number} */ row) => severity(strays[row]) - Number(slow.has(health.runs[row]));
  const from = (/** @type {number} */ row) => Math.min(...strays[row].map(({ step }) => step));
  const order = health.runs
    .map((_, row) => row)
    .sort((a, b) => place(a) - place(b) || from(a) - from(b) || 0);
  const rows = order.slice(0, SHOWN).map((row) => {
    const run = selection.run(health.runs[row]);
    return h(
      "tr",
      null,
      h(
        "th",
        { scope: "row" },
        h(
          "a",
          { href: app.url.link("overview", { run: health.runs[row] }) },
          t("runs.rank", { rank: health.ranks[row] ?? health.runs[row] }),
        ),
      ),
      h("td", null, run ? stateMark(app, { ...run, fault_dumps: [] }, now) : ""), // which are of the job
      h(
        "td",
        { class: "number" },
        run && lastStep(run) !== undefined ? format.number(lastStep(run), 12) : "",
      ),
      h("td", null, strays[row].length ? strays[row].map((stray) => fault(app, health, stray)) : well(row)),
    );
  });
  const missing = missingRanks(health, SHOWN).map((rank) =>
    h(
      "tr",
      { class: "muted" },
      h("th", { scope: "row" }, t("runs.rank", { rank })),
      h("td", null, t("health.missing")),
      h("td", { class: "number" }),
      h("td"),
    ),
  );
  const head = tableHead([t("health.rank"), t("runs.col.state"), t("common.step"), t("health.wrong")], [2]);
  return h("table", { class: "table job-table" }, head, h("tbody", null, missing, rows));
}

/**
 * Create the link of an anomaly to the chart of the ranks.
 * @param {App} app
 * @param {Health} health
 * @param {import("../components/health_strip.js").RankOutlier} stray
 */
function fault(app, health, stray) {
  const job = app.selection.run(health.runs[stray.row])?.job ?? "";
  const href = app.url.link("scalar", { m: "ranks", job, q: exactPattern(stray.tag) });
  const severe = stray.kind === "silent" ? "badge bad" : "badge warn";
  const classes = stray.kind === "not_finite" ? NON_FINITE_BADGE : severe;
  const text = `${stray.tag}: ${claimText(app, stray.claim)}`;
  return h("a", { class: classes, href, "data-claim": stray.claim.key }, text);
}
