// Dump page: tensors of every operator, the first fault, and the differences between two dumps.

import { button } from "../components/button.js";
import { empty } from "../components/empty.js";
import { viewPath } from "../components/icons.js";
import { grownRuns } from "../core/changes.js";
import { h, renew, replace } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { failure } from "../components/dump/failure.js";
import { checkPart } from "./dump/check.js";
import { comparePart } from "./dump/compare.js";
import { faultSection } from "./dump/fault.js";
import { graphPart } from "./dump/graph.js";
import { dumpName, header } from "../components/dump/header.js";
import { logsPart } from "./dump/logs.js";
import { newSteps } from "./dump/new_steps.js";
import { operatorPanel } from "./dump/operator.js";
import { readState, settlePosition, writeState } from "../components/dump/state.js";
import { tensorsPart } from "./dump/tensors.js";
import { treePart } from "./dump/tree.js";

/** @typedef {import("../core/answers.js").DumpSummary} DumpSummary */
/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../components/dump/state.js").State} State */
/**
 * @typedef {Object} Part
 * @property {HTMLElement} element
 * @property {(keys: string[]) => void} [changed]
 * @property {() => void} [refresh]
 * @property {() => void} [end]
 */
/** @typedef {import("../components/dump/state.js").Page} Page */

export const alone = true;

const PARTS = {
  tensors: tensorsPart,
  tree: treePart,
  graph: graphPart,
  check: checkPart,
  compare: comparePart,
  logs: logsPart,
};
/** Choices that need another part. */
const ANEW = ["dump", "rank", "step", "tab", "only"];
/** Choices that the browser's Back undoes. */
const ENTRIES = ["tab", "operator", "tensor"];

/**
 * Mount the page. Old addresses of checkpoints lead to their own page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  if (app.url.get("tab") === "checkpoints") {
    const { url } = app; // an address from before they had a page
    app.router.go(url.link("checkpoint", { file: url.get("file"), second: url.get("second") }));
    return { unmount: () => {} };
  }
  const view = new Dumps(root, app);
  await view.start();
  return {
    update: (change) => view.update(change),
    unmount: () => view.end(),
  };
}

/** Return whether the address names a step or a rank. @param {import("../core/types.js").App} app */
const namesPlace = ({ url }) => url.get("step") !== null || url.get("rank") !== null;

/** Page of one dump with its tabs and the panel of an operator. */
class Dumps {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    const head = h("div");
    const main = h("div", { class: "dump-main" });
    const side = h("aside", { class: "dump-side", hidden: true, "aria-label": app.t("dump.operator") });
    replace(root, head, h("div", { class: "dump-body" }, main, side));
    /** @type {Page} */
    this.page = {
      app,
      state: readState(app),
      summary: null,
      dumps: [],
      comparison: 0,
      look: null,
      asked: namesPlace(app),
      change: (changes) => this.change(changes),
    };
    this.reading = latest();
    this.listing = latest();
    this.openTab = shownPart(this.page, head, main);
    this.steps = newSteps(this.page, this.listing, () => this.openTab.renewHeader());
    this.panel = operatorPanel(this.page, side);
    this.unsubscribe = app.url.on(() => this.reread());
  }

  /**
   * Request the list of dumps and show the chosen one. If the address names a dump or step that does not
   * exist, say so and show no other.
   */
  async start() {
    const { page } = this;
    page.dumps = (await page.app.api.get("v2/dump/list")).dumps;
    page.state.dump ||= firstChoice(page);
    if (page.state.dump && !page.dumps.some(({ id }) => id === page.state.dump)) {
      this.openTab.gone();
      return;
    }
    if (!page.state.dump && page.dumps.length) {
      this.openTab.noneShown();
      return;
    }
    await this.read(() => {
      if (namesUnknownStep(page)) {
        this.openTab.unknownStep(readState(page.app), () => this.changed(["step"]));
        return;
      }
      this.openTab.build();
      this.panel.changed(["operator"]);
    });
  }

  /** Start again and show an error if that fails. */
  restart() {
    this.start().catch(this.openTab.fail);
  }

  /** Show what the address names after it changed. */
  reread() {
    Object.assign(this.page.state, readState(this.page.app));
    this.page.asked = namesPlace(this.page.app);
    this.restart();
  }

  /** Change the state, and read another dump's summary if needed. @param {Partial<State>} changes */
  change(changes) {
    const { state } = this.page;
    const keys = /** @type {(keyof State)[]} */ (Object.keys(changes)).filter(
      (key) => state[key] !== changes[key],
    );
    Object.assign(state, changes);
    this.page.asked =
      !keys.includes("dump") && (this.page.asked || keys.includes("step") || keys.includes("rank"));
    if (keys.includes("dump")) this.read(() => this.changed(keys));
    else this.changed(keys);
  }

  /** Write the state to the address and redraw what depends on it. @param {string[]} keys of the state */
  changed(keys) {
    writeState(
      this.page.app,
      this.page.state,
      keys.some((key) => ENTRIES.includes(key)),
    );
    this.openTab.changed(keys);
    this.panel.changed(keys);
  }

  /** Request the summary of the chosen dump, then call back. @param {() => void} callback */
  read(callback) {
    const { page } = this;
    const { dump } = page.state;
    return this.reading.ask(
      async () => (dump ? page.app.api.get("v2/dump/summary", { dump }) : null),
      (summary) => {
        page.summary = summary;
        settle(page);
        callback();
        this.steps.follow();
      },
      this.openTab.fail,
    );
  }

  /** Refresh the list of dumps. The shown dump may have been removed or added, or have new steps. */
  list() {
    const { page, openTab } = this;
    this.listing.ask(
      () => page.app.api.get("v2/dump/list"),
      ({ dumps }) => {
        page.dumps = dumps;
        const exists = page.dumps.some(({ id }) => id === page.state.dump);
        if (page.state.dump && !exists) openTab.gone();
        else if (hasSteps(page.summary)) return this.grow();
        else this.restart();
        return undefined;
      },
      () => this.steps.follow(),
    );
  }

  /** Refresh what is shown of a dump that may have new steps. */
  grow() {
    const { page, openTab } = this;
    return this.steps.ask((summary) => {
      page.summary = summary;
      openTab.renewHeader();
      openTab.refresh();
    });
  }

  /** Refresh after changes on the server. @param {import("../core/types.js").Change} change */
  update(change) {
    if (change.list || grownRuns(this.page.app, change, "dump").length) this.list();
  }

  /** Leave the page. */
  end() {
    this.unsubscribe();
    this.listing.end();
    this.reading.end();
    this.openTab.leave();
    this.panel.end();
  }
}

/**
 * Create the header and the open tab, with functions that rebuild them or show why they cannot be shown.
 * @param {Page} page
 * @param {Element} head
 * @param {Element} main
 */
function shownPart(page, head, main) {
  const { app } = page;
  const { t } = app;
  /** @type {Part | null} */
  let panel = null;

  const leave = () => {
    panel?.end?.();
    panel = null;
    app.charts.removeAll(main);
  };

  /** Show why there is no dump to show. @param {Element} reason */
  const without = (reason) => {
    leave();
    page.summary = null;
    replace(head, header(page));
    replace(main, reason);
  };

  const build = () => {
    leave();
    replace(head, header(page));
    if (!page.dumps.length) {
      replace(
        main,
        empty({
          title: t("dump.none"),
          text: t("dump.none_how"),
          code: "export MINDSPORE_DUMP_CONFIG=/path/data_dump.json",
        }),
      );
      return;
    }
    const { summary, state } = page;
    const stepless = summary && !hasSteps(summary) && state.tab !== "logs";
    panel = stepless ? noSteps(page) : PARTS[state.tab](page);
    replace(main, named(page, panel.element));
  };

  return {
    build,
    leave,
    /** @param {string[]} keys */
    changed(keys) {
      if (keys.some((key) => ANEW.includes(key))) build();
      else panel?.changed?.(keys);
    },
    refresh: () => panel?.refresh?.(),
    renewHeader: () => renew(head, header(page)),
    /**
     * The address names a step that the dump does not have: nothing is said of another one.
     * @param {{rank: number, step: number}} asked @param {() => void} proceed
     */
    unknownStep(asked, proceed) {
      leave();
      replace(head, header(page));
      replace(main, noStep(page, asked, proceed));
    },
    /** The dump is not there, or not any more: others can still be chosen. */
    gone() {
      without(missing(app, t("dump.gone", { dump: page.state.dump }), t("dump.gone_how")));
    },
    /** No shown run has a dump: the dump of another run is not shown in its place. */
    noneShown() {
      const runs = app.selection.runs();
      const title = t("dump.none_shown", { n: runs.length, run: runs[0]?.name ?? "" });
      without(missing(app, title, t("dump.none_shown_how")));
    },
    /** The dump cannot be read: others can still be chosen. @param {Failure} error */
    fail: (error) => without(failure(app, error)),
  };
}

/** Create the empty state without a dump. @param {App} app @param {string} title @param {string} text */
function missing(app, title, text) {
  return empty({ icon: viewPath(app, "dump"), title, text });
}

/** Replace a rank, step or tab that the dump does not have by one it has. @param {Page} page */
function settle({ state, summary }) {
  settlePosition(state, summary);
  const onlyLogs = summary?.logs && !hasSteps(summary);
  if (onlyLogs && state.tab === "tensors") state.tab = "logs";
  if (!summary?.logs && state.tab === "logs") state.tab = "tensors";
}

/**
 * Return the content of a tab, marked with the names of tab and dump, its rank and step for a saved page.
 * @param {Page} page
 * @param {HTMLElement} content
 */
function named({ app: { t }, state, summary }, content) {
  const ranks = summary?.ranks ?? [];
  const rank = ranks.length > 1 && `${t("dump.rank")} ${state.rank}`;
  const step = hasSteps(summary) && `${t("common.step")} ${state.step}`;
  const names = [t(`dump.tab.${state.tab}`), dumpName(state.dump), rank, step];
  content.dataset.object = names.filter(Boolean).join(" ");
  return content;
}

/** @param {DumpSummary | null} summary of a dump, null before it is read */
function hasSteps(summary) {
  return Boolean(summary?.ranks.some(({ steps }) => steps.length));
}

/** A dump without steps, and what follows from that. @param {Page} page @returns {Part} */
function noSteps(page) {
  const { app } = page;
  const fault = faultSection(page);
  const note = empty({ title: app.t("dump.no_steps"), text: app.t("dump.no_steps_how") });
  return { element: h("div", { class: "stack" }, note, fault.element), end: fault.end };
}

/**
 * Create the empty state for a step that does not exist, with a button that shows another one.
 * @param {Page} page
 * @param {{rank: number, step: number}} asked
 * @param {() => void} proceed
 */
function noStep({ app, state: { rank, step } }, asked, proceed) {
  const { t } = app;
  return empty({
    icon: viewPath(app, "dump"),
    title: t("error.unknown_dump_step", { rank: asked.rank, step: asked.step }),
    action: button(t("dump.show_step", { rank, step }), proceed, { class: "primary" }),
  });
}

/** Return whether the address names a rank or step that the dump does not have. @param {Page} page */
function namesUnknownStep({ app, summary }) {
  const { rank, step } = readState(app);
  const entry = summary?.ranks.find((known) => known.rank === rank);
  if (app.url.get("rank") !== null && !entry) return true;
  return app.url.get("step") !== null && entry !== undefined && !entry.steps.includes(step);
}

/**
 * Return the dump of a shown run. Without one it is the first dump, or "" if the address chooses runs or
 * there are no dumps.
 * @param {Page} page
 */
function firstChoice({ app, dumps }) {
  const shown = app.selection.runs();
  const runs = new Set(shown.map((run) => run.id));
  const chosen = app.url.get("runs") !== null && shown.length > 0;
  return (dumps.find(({ run }) => runs.has(run)) ?? (chosen ? undefined : dumps[0]))?.id ?? "";
}
