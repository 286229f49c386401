// Dumps: what every operator took and gave, where it went wrong first, and how two dumps differ.

import { empty } from "../components/empty.js";
import { viewPath } from "../components/icons.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { failure } from "./dump/failure.js";
import { checkPart } from "./dump/check.js";
import { checkpointsPart } from "./dump/checkpoints.js";
import { comparePart } from "./dump/compare.js";
import { graphPart } from "./dump/graph.js";
import { header } from "./dump/header.js";
import { logsPart } from "./dump/logs.js";
import { operatorPanel } from "./dump/operator.js";
import { readState, settlePlace, writeState } from "./dump/state.js";
import { tensorsPart } from "./dump/tensors.js";
import { treePart } from "./dump/tree.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./dump/state.js").State} State */
/**
 * @typedef {Object} Part
 * @property {HTMLElement} element
 * @property {(keys: string[]) => void} [changed]
 * @property {() => void} [refresh]
 * @property {() => void} [end]
 */
/**
 * @typedef {Object} Page
 * @property {App} app
 * @property {State} state
 * @property {any} summary
 * @property {any[]} dumps
 * @property {number} comparison
 * @property {any} look
 * @property {(some: Partial<State>) => void} change
 */

export const alone = true;

const PARTS = {
  tensors: tensorsPart,
  tree: treePart,
  graph: graphPart,
  check: checkPart,
  compare: comparePart,
  checkpoints: checkpointsPart,
  logs: logsPart,
};
/** Changes that need another part. */
const ANEW = ["dump", "rank", "step", "tab"];

/** @param {HTMLElement} root @param {App} app */
export async function mount(root, app) {
  const head = h("div");
  const main = h("div", { class: "dump-main" });
  const side = h("aside", { class: "dump-side", hidden: true, "aria-label": app.t("dump.operator") });
  replace(root, head, h("div", { class: "dump-body" }, main, side));
  const reading = latest();
  /** @type {Page} */
  const page = { app, state: readState(app), summary: null, dumps: [], comparison: 0, look: null, change };
  const parts = shownPart(page, head, main);
  const panel = operatorPanel(page, side);

  /** @param {Partial<State>} some */
  function change(some) {
    const keys = Object.keys(some).filter(
      (key) => page.state[/** @type {keyof State} */ (key)] !== some[/** @type {keyof State} */ (key)],
    );
    Object.assign(page.state, some);
    if (keys.includes("dump")) read(() => changed(keys));
    else changed(keys);
  }

  /** @param {string[]} keys */
  const changed = (keys) => {
    writeState(app, page.state);
    parts.changed(keys);
    panel.changed(keys);
  };

  /** Read what the chosen dump holds. @param {() => void} then */
  const read = (then) =>
    reading.ask(
      async () => (page.state.dump ? app.api.get("v2/dump/summary", { dump: page.state.dump }) : null),
      (summary) => {
        page.summary = summary;
        settle(page);
        then();
      },
      parts.fail,
    );

  const start = async () => {
    page.dumps = (await app.api.get("v2/dump/list")).dumps;
    if (!page.dumps.some((one) => one.id === page.state.dump)) page.state.dump = chosen(page.dumps, app);
    await read(() => {
      parts.build();
      panel.changed(["operator"]);
    });
  };

  const listing = latest();
  /** The runs have changed: the dump may be gone, or back. */
  const listed = () =>
    listing.ask(
      () => app.api.get("v2/dump/list"),
      ({ dumps }) => {
        page.dumps = dumps;
        const here = dumps.some((/** @type {any} */ one) => one.id === page.state.dump);
        if (page.state.dump && !here) parts.gone();
        else if (page.summary) parts.refresh();
        else start().catch(parts.fail);
      },
      leaveAsIs,
    );

  const offUrl = app.url.on(() => {
    page.state = Object.assign(page.state, readState(app));
    start().catch(parts.fail);
  });
  await start();

  return {
    /** @param {import("../core/types.js").Change} change */
    update(change) {
      if (change.list) listed();
      else if (page.summary && grownRuns(app, change, "dump").length) parts.refresh();
    },
    unmount() {
      offUrl();
      listing.end();
      reading.end();
      parts.leave();
      panel.end();
    },
  };
}

/**
 * The header and the part of the page that is open.
 * @param {Page} page
 * @param {Element} head
 * @param {Element} main
 */
function shownPart(page, head, main) {
  const { app } = page;
  const { t } = app;
  /** @type {Part | null} */
  let part = null;

  const leave = () => {
    part?.end?.();
    part = null;
    app.charts.removeAll(main);
  };

  const build = () => {
    leave();
    replace(head, header(page));
    if (!page.dumps.length && page.state.tab !== "checkpoints") {
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
    part = PARTS[page.state.tab](page);
    replace(main, part.element);
  };

  return {
    build,
    leave,
    /** @param {string[]} keys */
    changed(keys) {
      if (keys.some((key) => ANEW.includes(key))) build();
      else part?.changed?.(keys);
    },
    refresh: () => part?.refresh?.(),
    /** The dump is not there any more: others can still be chosen. */
    gone() {
      leave();
      page.summary = null;
      replace(head, header(page));
      replace(
        main,
        empty({
          icon: viewPath(page.app, "dump"),
          title: t("dump.gone", { dump: page.state.dump }),
          text: t("dump.gone_how"),
        }),
      );
    },
    /** The dump cannot be read: others can still be chosen. @param {any} error */
    fail(error) {
      leave();
      page.summary = null;
      replace(head, header(page));
      replace(main, failure(app, error));
    },
  };
}

/** A rank and a step that the dump has, and a tab that shows something. @param {Page} page */
function settle({ state, summary }) {
  settlePlace(state, summary);
  const onlyLogs = summary?.logs && !summary.ranks.some((/** @type {any} */ one) => one.steps.length);
  if (onlyLogs && state.tab === "tensors") state.tab = "logs";
  if (!summary?.logs && state.tab === "logs") state.tab = "tensors";
}

/** The dump of a selected run if there is one, else the first. @param {any[]} dumps @param {App} app */
function chosen(dumps, app) {
  const runs = new Set(app.selection.runs().map((run) => run.id));
  return (dumps.find((one) => runs.has(one.run)) ?? dumps[0])?.id ?? "";
}
