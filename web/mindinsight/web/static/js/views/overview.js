// Overview page of one run: configuration, tiles of its data, and what could not be read.

import { iconButton } from "../components/button.js";
import { empty } from "../components/empty.js";
import { lookAlikeMark } from "../components/look_alike.js";
import { h, replace, throttle } from "../core/dom.js";
import { lowestRank } from "../core/jobs.js";
import { leaveAsIs } from "../core/latest.js";
import { idOf } from "../core/names.js";
import { divergencePanel } from "./overview/divergence.js";
import { factsPanel } from "./overview/facts.js";
import { filesPanel } from "./overview/files.js";
import { otherPanel } from "./overview/other.js";
import { programPanel } from "./overview/program.js";
import { ranksPanel } from "./overview/ranks.js";
import { recordingPanel } from "./overview/recording.js";
import { reportButton } from "./overview/report.js";
import { tiles } from "./overview/tiles.js";
import { annotateDialog } from "../components/runs/annotate.js";
import { attempt } from "../components/runs/changes.js";
import { stateMark } from "../components/runs/columns.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Run} Run */

/** Mount the page. @param {HTMLElement} root @param {App} app */
export async function mount(root, app) {
  const page = new Overview(root, app);
  await page.show();
  return { unmount: () => page.close() };
}

/** Page of one run. */
class Overview {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.head = h("header", { class: "overview-head" });
    this.id = "";
    /** @type {import("./overview/tiles.js").Tile[]} */
    this.tiles = [];
    this.drawnExtent = ""; // what the pictures show: how much of the run was known
    this.again = throttle(() => this.refresh().catch(leaveAsIs), 1000);
    this.offs = [
      app.selection.on((reason) => (reason === "list" ? this.changed() : undefined)),
      app.url.on(() => this.show()),
      app.theme.on(() => this.recoloured()),
    ];
  }

  /** Leave the page. */
  close() {
    this.again.cancel();
    this.offs.forEach((off) => off());
  }

  /** Build the page for the run in the address. */
  async show() {
    const { app } = this;
    const job = app.url.get("job");
    if (job !== null && app.url.get("run") === null) {
      const rank = lowestRank(app.selection.everything(), idOf(job));
      app.url.set({ job: null, run: rank?.id ?? idOf(job) });
    }
    const run = app.selection.named();
    if (!run) {
      this.missing();
      return;
    }
    this.id = run.id;
    Object.assign(this.root.dataset, { object: run.id, about: JSON.stringify([run.id]) }); // when it is saved
    const kinds = await tiles(app, run);
    if (this.id !== run.id) return;
    this.tiles = kinds;
    this.facts = h("section", {
      class: "panel overview-facts",
      tabindex: "0",
      "aria-label": app.t("overview.facts"),
    });
    factsPanel(app, this.facts, run);
    this.divergence = h("div", { class: "row wrap overview-divergence", hidden: true });
    this.ranks = h("div", { class: "row wrap overview-ranks", hidden: true });
    this.recording = h("div", { class: "overview-recording", hidden: true });
    this.files = h("section", { class: "panel" });
    this.other = h("section", { class: "panel", hidden: true });
    this.program = h("section", { class: "panel overview-program", hidden: true });
    this.absent = h("p", { class: "muted small tiles-absent" });
    replace(
      this.root,
      this.head,
      this.divergence,
      this.ranks,
      this.facts,
      this.recording,
      h(
        "div",
        { class: "tiles" },
        this.tiles.map((tile) => tile.element),
      ),
      this.absent,
      h("div", { class: "overview-rest" }, this.program, this.files, this.other),
    );
    this.drawHead();
    this.drawAbsent(run);
    await this.refresh().catch((error) => this.failed(error));
  }

  /** Show an error in place of the facts. @param {Failure} error */
  failed(error) {
    const { t } = this.app;
    if (this.facts) {
      replace(this.facts, h("p", { class: "badge bad" }, t(error.key ?? "error.http", error.vars)));
    }
  }

  /** Show that there is no such run. */
  missing() {
    const { app } = this;
    const id = app.url.get("run");
    const title = id === null ? app.t("runs.empty") : app.t("error.unknown_run", { run: id });
    replace(
      this.root,
      empty({
        icon: "runs",
        title,
        text: app.t("overview.missing"),
        action: h("a", { class: "button", href: app.url.link("runs") }, app.t("nav.runs")),
      }),
    );
  }

  /** Draw the header. */
  drawHead() {
    const { app } = this;
    const run = app.selection.run(this.id);
    if (!run) return;
    const now = app.selection.list().now;
    const pin = iconButton(
      "pin",
      app.t(run.pinned ? "runs.unpin" : "runs.pin"),
      () => attempt(app, () => app.selection.annotate([{ run: run.id, pinned: !run.pinned }])),
      { "aria-pressed": run.pinned },
    );
    const note = iconButton("note", app.t("runs.annotate"), () => annotateDialog(app, run), {
      "aria-pressed": Boolean(run.note),
    });
    const siblingChooser = siblings(app, run);
    replace(
      this.head,
      h(
        "div",
        { class: "row wrap" },
        h("span", { class: "swatch", style: { "--swatch": app.selection.colour(run.id) } }),
        h("h1", null, run.name),
        lookAlikeMark(app, run.name),
        stateMark(app, run, now),
        run.finished && run.failure
          ? h("span", { class: "overview-failure" }, app.t("runs.state.failed.why", { error: run.failure }))
          : null,
        pinBadge(app, run),
        run.labels.map((label) => h("span", { class: "badge accent" }, label)),
        h("span", { class: "grow" }),
        siblingChooser,
        h(
          "a",
          {
            class: "button",
            href: app.url.link("explain", { run: run.id }),
            title: app.t("explain.button_why"),
          },
          app.t("explain.button"),
        ),
        reportButton(app, run),
        pin,
        note,
      ),
      run.note ? h("p", { class: "note-text" }, run.note) : null,
    );
  }

  /** Refresh if the run has new data. */
  changed() {
    const run = this.app.selection.run(this.id);
    if (!run) this.show();
    else if (extent(run) !== this.drawnExtent) this.again();
    this.drawHead();
  }

  /** Draw the line of kinds that the run does not have. @param {Run} run */
  drawAbsent(run) {
    const read = run.read >= run.total; // before, it is not known what the run holds
    const missing = read ? this.tiles.map((tile) => tile.missing(run)).filter((kind) => kind !== null) : [];
    const names = missing.flatMap(({ title, why }, i) => [i ? ", " : "", h("span", { title: why }, title)]);
    if (this.absent) replace(this.absent, missing.length ? [this.app.t("overview.absent"), names] : null);
  }

  /** Redraw after colours have changed. */
  recoloured() {
    this.drawHead();
    this.tiles.forEach((tile) => tile.relink());
  }

  /** Refresh facts, tiles and files. */
  async refresh() {
    const run = this.app.selection.run(this.id);
    if (!run || !this.facts || !this.divergence || !this.ranks || !this.files) return;
    if (!this.recording || !this.other || !this.program) return;
    this.drawnExtent = extent(run);
    this.drawAbsent(run);
    factsPanel(this.app, this.facts, run);
    await Promise.all([
      ...this.tiles.map((tile) => tile.refresh(run)),
      divergencePanel(this.app, this.divergence, run),
      ranksPanel(this.app, this.ranks, run),
      recordingPanel(this.app, this.recording, run),
      filesPanel(this.app, this.files, run),
      otherPanel(this.app, this.other, run),
      programPanel(this.app, this.program, run),
    ]);
  }
}

/** Return a text that differs when the run has new data. @param {Run} run */
function extent(run) {
  return JSON.stringify([run.read, run.total, run.size, run.updated, run.kinds, run.damage]);
}

/** Create the badge of the baseline, or return null. @param {App} app @param {Run} run */
function pinBadge(app, run) {
  return run.pinned ? h("span", { class: "badge accent" }, app.t("runs.baseline")) : null;
}

/**
 * Create the choice of another rank of the job, or return null if there is none.
 * @param {App} app
 * @param {Run} run
 */
function siblings(app, run) {
  const ranks = app.selection.all().filter((other) => other.job === run.job);
  if (ranks.length < 2) return null;
  /** @type {HTMLSelectElement} */
  const box = h(
    "select",
    {
      "aria-label": app.t("overview.rank"),
      onchange: () => app.router.go(app.url.link("overview", { run: box.value })),
    },
    ranks.map((other) =>
      h(
        "option",
        { value: other.id },
        other.rank === null ? other.name : app.t("runs.rank", { rank: other.rank }),
      ),
    ),
  );
  box.value = run.id;
  return box;
}
