// Side panel with the list of runs, on every page except the runs table.

import { button, iconButton } from "../components/button.js";
import { lineSample } from "../components/line.js";
import { resizeHandle } from "../components/resize_handle.js";
import { longName } from "../components/long_name.js";
import { lookAlikeMark } from "../components/look_alike.js";
import { searchBox } from "../components/field.js";
import { stateWords } from "../components/runs/columns.js";
import { matchesQuery, parseQuery } from "../components/runs/query.js";
import { factOf } from "../components/runs/values.js";
import { virtualRows } from "../components/virtual.js";
import { h, replace } from "../core/dom.js";
import { sharedPath } from "../core/names.js";
import { faultText } from "../core/patterns.js";
import { NEWEST } from "../core/selection.js";
import { colourBy } from "./colour_by.js";

const ROW = 28;
const [NARROWEST, WIDTH, WIDEST] = [200, 272, 640]; // px
const STORED = "mindinsight runs width";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Run} Run */
/** @typedef {{job: string, name: string, runs: Run[]} | {run: Run, rank: boolean}} Item */

/** Fill the side panel of runs and keep it up to date. @param {App} app */
export function side(app) {
  const element = /** @type {HTMLElement} */ (document.getElementById("side"));
  /** @type {Item[]} */
  let items = [];
  let look = ""; // what the rows show

  const count = h("span", { class: "muted small" });
  const list = h("div", { class: "side-items", role: "group", "aria-label": app.t("runs.panel") });
  const scroller = h("div", { class: "side-list scroll" }, list);
  const foot = h("div", { class: "side-foot" });
  const colours = colourBy(app);

  const rows = virtualRows({
    scroller,
    body: list,
    spacer: () => h("div", { "aria-hidden": "true" }),
    height: ROW,
    row: (index) => row(items[index]),
  });

  /** What all names in the list begin with. */
  let start = "";
  /** @param {Item} item */
  const row = (item) => ("run" in item ? runRow(app, item.run, item.rank, start) : jobRow(app, item, start));

  const visible = () => chartedFirst(filter.found(), top);
  /** Jobs listed first: those in the charts when the page opened, so that no row moves when it is ticked. */
  let top = new Set();
  const order = () => (top = new Set(app.selection.runs().map((run) => run.job)));
  const filter = createFilter(app, () => {
    order();
    draw();
  });
  const draw = () => {
    const { selection } = app;
    items = folded(visible(), (job) => filter.set() || selection.unfolded(job));
    start = sharedPath(items.flatMap(nameInList));
    const shown = selection.runs().length;
    count.textContent = app.t("runs.shown", { shown, n: selection.all().length });
    replace(foot, ...footer(app));
    colours.draw();
    const next = JSON.stringify([start, items.map((item) => lookOf(app, item))]);
    if (next !== look) rows.update(items.length);
    look = next;
  };

  const title = h("div", { class: "row" }, h("h2", null, app.t("nav.runs")), count);
  const head = h(
    "div",
    { class: "side-head" },
    title,
    filter.element,
    choices(app, visible),
    colours.element,
  );
  element.setAttribute("aria-label", app.t("runs.panel"));
  replace(element, head, scroller, foot, edge(app));
  app.selection.onPoint((id) => {
    const rowsShown = /** @type {HTMLElement[]} */ ([...list.children]);
    rowsShown.forEach((shown) => shown.classList.toggle("pointed", shown.dataset.key === id));
  });
  app.selection.on(draw);
  app.theme.on(draw);
  app.router.on(() => {
    order();
    draw();
  });
}

/**
 * Create the search box of the list, which understands what the search of the runs table understands.
 * @param {App} app
 * @param {() => void} onchange
 */
function createFilter(app, onchange) {
  /** @type {import("../components/runs/query.js").Term[]} */
  let terms = [];
  const element = searchBox({
    label: app.t("runs.filter"),
    onchange: (text) => {
      try {
        terms = parseQuery(text);
        element.invalid("");
      } catch (error) {
        const { pattern } = /** @type {import("../components/runs/query.js").PatternError} */ (error);
        element.invalid(faultText(app, pattern));
      }
      onchange();
    },
  });
  const fact = (/** @type {Run} */ run, /** @type {string} */ name) => factOf(app, run, name);
  return {
    element,
    set: () => terms.length > 0,
    found: () => app.selection.all().filter((run) => matchesQuery(terms, run, fact, stateWords(app))),
  };
}

/** Create the handle that changes the panel's width. @param {App} app */
function edge(app) {
  const show = (/** @type {number} */ width) =>
    document.getElementById("body")?.style.setProperty("--side", `${width}px`);
  const width = storedWidth();
  if (width !== WIDTH) show(width);
  return resizeHandle({
    label: app.t("runs.panel.width"),
    edge: "right",
    width,
    narrowest: NARROWEST,
    widest: WIDEST,
    onresize: (wanted) => {
      show(wanted);
      storeWidth(wanted);
    },
  });
}

/** Return the stored width in pixels, or the default. */
function storedWidth() {
  try {
    const width = Number(localStorage.getItem(STORED));
    return width >= NARROWEST && width <= WIDEST ? width : WIDTH;
  } catch {
    return WIDTH; // a browser that keeps nothing for us
  }
}

/** Store the width in the browser. @param {number} width px */
function storeWidth(width) {
  try {
    localStorage.setItem(STORED, String(width));
  } catch {
    // It counts for this page, then.
  }
}

/**
 * Create the buttons that show only the listed runs, hide them, or show the newest.
 * @param {App} app
 * @param {() => Run[]} visible in the list
 */
function choices(app, visible) {
  const { selection, t } = app;
  const listed = () => visible().map((run) => run.id);
  return h(
    "div",
    { class: "row small" },
    button(t("common.all"), () => selection.only(listed()), { class: "link" }),
    button(t("common.none"), () => selection.toggleMany(listed(), false), { class: "link" }),
    button(t("runs.newest", { n: NEWEST }), () => selection.reset(), { class: "link" }),
  );
}

/**
 * Return the runs with those of some jobs first, otherwise in their order.
 * @param {Run[]} runs
 * @param {Set<string>} jobs
 */
export function chartedFirst(runs, jobs) {
  return [...runs.filter(({ job }) => jobs.has(job)), ...runs.filter(({ job }) => !jobs.has(job))];
}

/**
 * Return the list's items: ranks below their job, and jobs without ranks as single runs.
 * @param {Run[]} runs
 * @param {(job: string) => boolean} open
 * @returns {Item[]}
 */
export function folded(runs, open) {
  /** @type {Map<string, Run[]>} */
  const jobs = new Map();
  for (const run of runs) jobs.set(run.job, [...(jobs.get(run.job) ?? []), run]);
  /** @type {Item[]} */
  const items = [];
  for (const [job, members] of jobs) {
    const ranks = members.length > 1 || members[0].rank !== null;
    if (ranks) items.push({ job, name: job.slice(2) || ".", runs: members });
    if (!ranks || open(job)) items.push(...members.map((run) => ({ run, rank: ranks })));
  }
  return items;
}

/** All that a row shows. @param {App} app @param {Item} item */
function lookOf({ selection, router, url }, item) {
  if (!("run" in item)) {
    const on = item.runs.filter(({ id }) => selection.has(id));
    const first = on[0] ?? item.runs[0];
    return [item.job, item.runs.length, on.length, selection.unfolded(item.job), selection.colour(first.id)];
  }
  const { id, rank, pinned, damage } = item.run;
  const current = router.current() === "overview" && url.get("run") === id;
  return [id, rank, pinned, damage, current, selection.has(id), selection.colour(id), selection.dash(id)];
}

/** Return an item's name as a list; [] for a rank below its job. @param {Item} item */
function nameInList(item) {
  if ("run" in item) return item.rank ? [] : [item.run.name];
  return [item.name];
}

/**
 * Create the row of a run.
 * @param {App} app
 * @param {Run} run
 * @param {boolean} rank
 * @param {string} start that names share
 */
function runRow(app, run, rank, start) {
  const on = app.selection.has(run.id);
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "checkbox",
    checked: on,
    "data-focus": "box",
    onchange: () => app.selection.toggle(run.id, box.checked),
  });
  const name = h(
    "span",
    { class: "side-name grow" },
    rank
      ? h("span", { title: run.id }, app.t("runs.rank", { rank: run.rank ?? run.name }))
      : longName(run.name, { start, title: run.id }),
  );
  const pin = run.pinned ? h("span", { class: "badge accent" }, app.t("runs.baseline")) : null;
  const hurt = run.damage
    ? h("span", { class: "badge warn", title: app.t("damage.run", { n: run.damage }) }, "!")
    : null;
  const only = iconButton("eye", app.t("runs.only", { run: run.name }), () => app.selection.only([run.id]), {
    "data-focus": "only",
  });
  const facts = h(
    "a",
    {
      class: "button quiet",
      href: app.url.link("overview", { run: run.id }),
      "aria-label": app.t("runs.open", { run: run.name }),
      title: app.t("runs.open", { run: run.name }),
      "data-focus": "open",
    },
    "→",
  );
  const current = app.router.current() === "overview" && app.url.get("run") === run.id;
  const classes = `side-run${rank ? " rank" : ""}${current ? " current" : ""}`;
  const pointed = (/** @type {string | null} */ id) => () => app.selection.point(id);
  return h(
    "div",
    { class: classes, "data-key": run.id, onpointerenter: pointed(run.id), onpointerleave: pointed(null) },
    h("label", null, box, lineSample(app, run.id, on), name),
    lookAlikeMark(app, run.name),
    pin,
    hurt,
    h("span", { class: "only" }, only, facts),
  );
}

/**
 * Create the row of a job.
 * @param {App} app
 * @param {{job: string, name: string, runs: Run[]}} job
 * @param {string} start that names share
 */
function jobRow(app, job, start) {
  const { selection } = app;
  const open = selection.unfolded(job.job);
  const on = job.runs.filter((run) => app.selection.has(run.id)).length;
  const ids = job.runs.map((run) => run.id);
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "checkbox",
    checked: on === ids.length,
    indeterminate: on > 0 && on < ids.length,
    "data-focus": "box",
    onchange: () => app.selection.toggleMany(ids, box.checked),
  });
  const label = app.t("runs.ranks", { n: ids.length });
  const name = app.t(open ? "runs.fold_ranks" : "runs.unfold_ranks", { job: job.name });
  const first = job.runs.find((run) => selection.has(run.id)) ?? job.runs[0];
  const pointed = (/** @type {string | null} */ id) => () => selection.point(id);
  const arrow = iconButton(open ? "down" : "right", name, () => selection.fold(job.job), {
    "aria-expanded": open,
    "data-focus": "fold",
  });
  return h(
    "div",
    {
      class: "side-run",
      "data-key": job.job,
      onpointerenter: pointed(open ? null : first.id),
      onpointerleave: pointed(null),
    },
    h(
      "label",
      null,
      box,
      open ? null : lineSample(app, first.id, on > 0),
      h("span", { class: "side-name grow" }, longName(job.name, { start, title: job.job })),
    ),
    h("span", { class: "badge" }, label),
    arrow,
  );
}

/** Return notes below the list: runs left out, and the progress of reading. @param {App} app */
function footer(app) {
  const { left_out: n, runs } = app.selection.list();
  const read = runs.reduce((sum, run) => sum + run.read, 0);
  const total = runs.reduce((sum, run) => sum + run.total, 0);
  const percent = total ? Math.floor((100 * read) / total) : 100;
  return [
    app.selection.leavesOut() ? h("div", null, app.t("runs.automatic", { n: NEWEST })) : null,
    n ? h("div", null, app.t("runs.left_out", { n, most: runs.length })) : null,
    percent < 100
      ? h(
          "div",
          null,
          app.t("runs.loading", { percent }),
          h("div", { class: "progress" }, h("i", { style: { width: `${percent}%` } })),
        )
      : null,
  ];
}
