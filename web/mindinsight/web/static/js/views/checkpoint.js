// Checkpoint page: weights over a training, the tensors of one file, and the differences between two files.

import { empty } from "../components/empty.js";
import { searchBox } from "../components/field.js";
import { headCell, virtualTable } from "../components/virtual.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { failure, reasonText } from "../components/dump/failure.js";
import { linkedClaim } from "./checkpoint/linked_claim.js";
import { noFile, toolbar } from "./checkpoint/controls.js";
import { readLoss, runOf } from "./checkpoint/origin.js";
import { kindOf, shownRows } from "./checkpoint/rows.js";
import { tensorPanel } from "./checkpoint/panel.js";
import { readState, settle, timelinePart, unknownFile, writeState } from "./checkpoint/state.js";
import { cells, columnsOf } from "./checkpoint/tables.js";
import { changeScale, legend, timelineCells } from "./checkpoint/timeline.js";
import { timelineHeads } from "./checkpoint/timeline_heads.js";

/** @typedef {import("../core/answers.js").SavedAnswer} SavedAnswer */
/** @typedef {import("../core/answers.js").SavedRow} SavedRow */
/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./checkpoint/state.js").State} State */
/** @typedef {import("./checkpoint/timeline.js").Saved} Saved */

export const alone = true;

const POLL = 700; // ms between requests while the server reads
const ROW = 31; // px
const SAVE = 'mindspore.save_checkpoint(net, "net-1_100.ckpt")';
/** Choices that need another answer. */
const READ = ["mode", "series", "part", "file", "second"];

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Checkpoints(root, app);
  await view.load();
  return {
    update(change) {
      if (change.list) view.load(leaveAsIs);
    },
    unmount: () => view.end(),
  };
}

/** Page of checkpoints: the table of tensors, and the panel of the chosen one. */
export class Checkpoints {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.state = readState(app.url);
    /**
     * @type {{checkpoints: {id: string, size: number, modified: number}[], series: {key: string,
     *   checkpoints: Saved[]}[]}}
     */
    this.listed = { checkpoints: [], series: [] };
    /** @type {SavedRow[]} */
    this.rows = [];
    /** The answer without its rows. @type {SavedAnswer | null} */
    this.answer = null;
    /** @type {{tag: string, step: ArrayLike<number>, value: ArrayLike<number>} | null} */
    this.loss = null;
    /** Ends of the colours of a timeline. @type {[number, number] | null} */
    this.scale = null;
    /** Whether the next drawn state is a new entry of the browser's history. */
    this.entry = false;
    this.head = h("div");
    this.status = h("p", { role: "status" });
    this.story = h("div", { class: "checkpoint-story" });
    this.table = virtualTable({ label: app.t("nav.checkpoint"), height: ROW, row: (i) => this.row(i) });
    this.side = h("aside", { class: "dump-side", hidden: true, "aria-label": app.t("checkpoint.values") });
    this.panel = tensorPanel(this, this.side);
    this.search = searchBox({
      label: app.t("checkpoint.search"),
      value: this.state.q,
      onchange: (q) => this.change({ q }),
    });
    this.main = h(
      "div",
      { class: "dump-main dump-table checkpoint-table" },
      h("div", { class: "table-holder panel" }, this.table.element),
    );
    this.requests = latest(root);
    this.lossRequests = latest(root);
    this.listing = latest(root);
    this.offs = [app.url.on(() => this.reread()), app.theme.on(() => this.draw())];
  }

  /**
   * Request the list of checkpoints and show the chosen ones if the list is new.
   * @param {(error: Failure) => unknown} [failed]
   */
  load(failed) {
    return this.listing.ask(
      () => this.app.api.get("v2/dump/checkpoints"),
      (listed) => {
        const known = JSON.stringify(this.listed) === JSON.stringify(listed) && this.answer;
        this.listed = listed;
        if (!known) this.start();
      },
      failed,
    );
  }

  /** Show what the address names after it changed. */
  reread() {
    this.state = readState(this.app.url);
    this.start();
  }

  /** Show the table, or why there is none. */
  start() {
    const { app, root, listed } = this;
    if (!listed.checkpoints.length) {
      const message = { title: app.t("dump.weights.none"), text: app.t("dump.weights.none_how"), code: SAVE };
      replace(root, h("h1", null, app.t("nav.checkpoint")), empty(message));
      return;
    }
    const file = unknownFile(this.state, listed);
    if (file) {
      replace(root, noFile(this, file));
      return;
    }
    this.open();
  }

  /** Build the page and fetch the rows. */
  open() {
    const { head, status, story, main, side } = this;
    replace(this.root, head, status, story, h("div", { class: "dump-body" }, main, side));
    this.fetch();
  }

  /** Change the state, and fetch other rows if needed. @param {Partial<State>} changes */
  change(changes) {
    const keys = Object.keys(changes);
    this.entry = isStep(this.state, changes);
    if (changes.mode && changes.mode !== this.state.mode) {
      Object.assign(changes, { sort: "", descending: false, unchanged: false, only: "", tensor: "", at: "" });
    }
    Object.assign(this.state, changes);
    if (keys.some((key) => READ.includes(key))) this.open();
    else this.draw();
  }

  /** Return all checkpoints of the chosen series in order. @returns {Saved[]} */
  whole() {
    return this.listed.series.find(({ key }) => key === this.state.series)?.checkpoints ?? [];
  }

  /** Return the checkpoints that the timeline shows. @returns {Saved[]} */
  series() {
    return timelinePart(this.whole(), this.state.part);
  }

  /** Return the files whose tensors the rows show, newest last. @returns {string[]} */
  files() {
    const { mode, file, second } = this.state;
    if (mode === "timeline") return this.series().map(({ id }) => id);
    return mode === "compare" ? [file, second] : [file];
  }

  /** Return the run that the shown files belong to, or null. */
  run() {
    return runOf(this.app.selection.everything(), this.files()[0] ?? "");
  }

  /** Fetch the rows, and the loss of the run for a timeline. */
  fetch() {
    settle(this.state, this.listed);
    this.rows = [];
    this.answer = null;
    this.loss = null;
    this.status.textContent = this.app.t("common.loading");
    this.draw();
    this.poll();
    const run = this.state.mode === "timeline" && this.run();
    if (!run) return;
    this.lossRequests.ask(
      (signal) => readLoss(this.app, run, signal),
      (loss) => {
        this.loss = loss;
        this.draw();
      },
      leaveAsIs,
    );
  }

  /** Request rows until the server has read all files. */
  poll() {
    const { app, state } = this;
    const { file, second } = state;
    const question = {
      timeline: () =>
        app.api.get("v2/dump/checkpoint/timeline", { file: this.files(), offset: this.rows.length }),
      tensors: () => app.api.get("v2/dump/checkpoint", { file }),
      compare: () => app.api.get("v2/dump/checkpoint/difference", { first: file, second }),
    }[state.mode];
    this.requests.ask(
      question,
      (answer) => {
        const rows = answer.rows ?? answer.tensors ?? answer.differences;
        this.rows = answer.rows ? [...this.rows, ...rows] : rows;
        this.answer = answer;
        this.draw();
        if (!answer.done) this.requests.later(() => this.poll(), POLL);
      },
      (/** @type {Failure} */ error) => {
        this.status.textContent = "";
        replace(this.story, failure(app, error));
      },
    );
  }

  /** Return the filtered and sorted rows. */
  shown() {
    return shownRows(this.rows, this.state);
  }

  /** Redraw everything. */
  draw() {
    const { app, state } = this;
    writeState(app.url, state, this.entry);
    this.entry = false;
    this.visible = this.shown();
    this.scale = state.mode === "timeline" ? changeScale(this.rows) : null;
    replace(this.head, toolbar(this));
    this.table.setHead(state.mode === "timeline" ? timelineHeads(this) : this.heads());
    this.table.table.classList.toggle("timeline", state.mode === "timeline");
    if (this.answer) this.tell();
    this.table.update(this.visible.length);
    this.panel.draw();
  }

  /** Create the header cells. */
  heads() {
    const { app, state } = this;
    return columnsOf(/** @type {"tensors" | "compare"} */ (state.mode)).map(({ key, number }) =>
      headCell({
        label: app.t(`dump.column.${key}`),
        number,
        sorted: state.sort === key ? (state.descending ? "descending" : "ascending") : null,
        onsort: () => this.sort(key, Boolean(number)),
      }),
    );
  }

  /**
   * Sort by a column. Repeated clicks reverse the order, then restore the original one.
   * @param {string} key
   * @param {boolean} number
   */
  sort(key, number) {
    const { sort, descending } = this.state;
    if (sort !== key) this.change({ sort: key, descending: number });
    else if (descending === number) this.change({ descending: !number });
    else this.change({ sort: "", descending: false });
  }

  /** Show the numbers of rows and the claims about them. */
  tell() {
    const { app, state, answer, rows } = this;
    const { t } = app;
    const kind = kindOf(state.mode);
    const lost = rows.filter((row) => kind.lost(row) > 0).length;
    if (!answer) return;
    const all = answer.total ?? rows.length;
    const damage = (answer.damage ?? []).map((item) => reasonText(app, item));
    const parts = [
      answer.format,
      t("dump.weights.tensors", { n: all }),
      rows.length < all && t("checkpoint.read", { n: rows.length }),
      this.visible && this.visible.length < rows.length && t("checkpoint.chosen", { n: this.visible.length }),
      ...Object.entries(answer.counts ?? {}).map(([name, n]) => t(`dump.weights.count.${name}`, { n })),
      lost && state.mode !== "timeline" && t("dump.not_finite", { n: lost }),
      !answer.done && t("common.loading"),
      answer.error,
    ];
    this.status.textContent = parts.filter(Boolean).join(" · ");
    const bad = (/** @type {string} */ text) => h("div", { class: "banner bad" }, text);
    const claims = answer.claims ?? [];
    const saved = state.mode === "timeline" ? this.series() : [];
    replace(
      this.story,
      damage.map(bad),
      claims.map((claim) => linkedClaim(app, claim, saved, (changes) => this.change(changes))),
      state.mode === "timeline" && legend(app, this.scale),
    );
  }

  /** Create a row. @param {number} i @returns {HTMLElement} */
  row(i) {
    const { app, state } = this;
    const row = /** @type {SavedRow[]} */ (this.visible)[i];
    const [file] = this.files().slice(-1);
    const current = row.name === state.tensor;
    const open = (/** @type {string} */ at) => this.change({ tensor: row.name, at });
    if (state.mode !== "timeline") {
      const attrs = {
        class: current ? "current" : null,
        onclick: () => open(row.second === null ? state.file : file),
      };
      return h(
        "tr",
        attrs,
        cells(app, state.mode, row, () => {}),
      );
    }
    const saved = this.series();
    return h(
      "tr",
      { class: current ? "current" : null },
      h("th", { scope: "row", class: "name", title: row.name }, row.name),
      timelineCells(
        app,
        /** @type {import("./checkpoint/timeline.js").Row} */ (row),
        saved,
        this.scale,
        current ? saved.findIndex(({ id }) => id === state.at) : -1,
        (at) => open(saved[at].id),
      ),
    );
  }

  /** Leave the page. */
  end() {
    this.offs.forEach((off) => off());
    this.requests.end();
    this.lossRequests.end();
    this.listing.end();
    this.panel.end();
    this.table.close();
  }
}

/**
 * Return whether a change shows another mode or other values, from where Back leads to those before.
 * @param {State} state
 * @param {Partial<State>} changes
 */
function isStep(state, { mode = state.mode, tensor = state.tensor, at = state.at }) {
  return mode !== state.mode || tensor !== state.tensor || (tensor !== "" && at !== state.at);
}
