// Console page: what a training printed, as it comes, with a search and the way to the charts of a moment.

import { button } from "../components/button.js";
import { check, searchBox, select } from "../components/field.js";
import { emptyState } from "../components/nothing.js";
import { h, replace } from "../core/dom.js";
import { bytes } from "../core/format.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { idOf } from "../core/names.js";
import { lineElement } from "./console/line.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Run} Run */
/** @typedef {import("./console/line.js").Row} Row */
/** @typedef {{lines: Row[], first: string | null, last: string, size: number}} Part */

const COUNT = 500; // lines of a request
const MOST = 5000; // lines on the page; further ones make it slow
const POLL = 2000; // ms between two looks for new lines of a running training
const AT_END = 40; // px from the end within which the page follows new lines
const RUNNING = 120; // s without an event or a line after which no new ones are asked for

/** Mount the page. @param {HTMLElement} root @param {App} app */
export async function mount(root, app) {
  const view = new Console(root, app);
  await view.open();
  return {
    update: (/** @type {import("../core/types.js").Change} */ change) => view.changed(change),
    unmount: () => view.end(),
  };
}

/** Lines of one run. */
class Console {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    /** @type {Run | undefined} */
    this.run = undefined;
    this.query = "";
    this.follow = true;
    /** Places to go on from. @type {{first: string | null, last: string, next: string | null}} */
    this.places = { first: null, last: "", next: null };
    this.newest = 0; // time of the newest line
    this.atEnd = false; // all lines up to the newest are on the page
    this.head = h("div", { class: "toolbar" });
    this.lines = h("div", { class: "console-lines", tabindex: "0", role: "log", "aria-live": "off" });
    this.status = h("p", { class: "small muted", role: "status" });
    this.lines.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.requests = latest(root);
    this.more = latest(root);
    this.timer = setInterval(() => this.poll(), POLL);
    this.offs = [app.url.on(() => this.open().catch(leaveAsIs)), app.selection.on(() => this.rechosen())];
  }

  /** Return the shown runs with a console. */
  runs() {
    return this.app.selection.runs().filter((run) => run.kinds.console);
  }

  /** Show what the address names. */
  async open() {
    const { app } = this;
    const runs = this.runs();
    const named = app.url.get("run", "");
    const asked = named && app.selection.run(idOf(named));
    this.run = asked && asked.kinds.console ? asked : runs[0];
    this.query = app.url.get("q", "");
    if (!this.run) {
      replace(this.root, emptyState(app, { kind: "console", filter: "", code: "record.record_console()" }));
      return;
    }
    replace(this.root, h("div", { class: "console-page" }, this.head, this.status, this.lines));
    this.drawHead(runs);
    await (this.query ? this.search() : this.read());
  }

  /** Open again where other runs are chosen and the one shown is none of them. */
  rechosen() {
    const current = this.run && this.app.selection.run(this.run.id);
    const isNamed = Boolean(this.app.url.get("run"));
    const isShown = current && (isNamed || this.runs().some(({ id }) => id === current.id));
    if (isShown) this.run = current;
    else this.open().catch(leaveAsIs);
  }

  /** Show something else. @param {Record<string, string | null>} where */
  go(where) {
    this.app.url.set(where);
    this.open().catch(leaveAsIs);
  }

  /** Draw the controls. @param {Run[]} runs */
  drawHead(runs) {
    const { app, run } = this;
    const { t } = app;
    if (!run) return;
    const choices = runs.some(({ id }) => id === run.id) ? runs : [run, ...runs];
    const chooser = select({
      label: t("console.run"),
      options: choices.map(({ id, name }) => ({ value: id, label: name })),
      value: run.id,
      onchange: (id) => this.go({ run: id.slice(2) || ".", t: null, at: null }),
    });
    const find = searchBox({
      label: t("console.find"),
      value: this.query,
      delay: 300,
      onchange: (q) => {
        app.url.set({ q, at: null, t: null });
        this.query = q;
        (q ? this.search() : this.read()).catch(leaveAsIs);
      },
    });
    this.following = check({
      label: t("console.follow"),
      checked: this.follow,
      onchange: (on) => this.setFollow(on),
    });
    const end = button(t("console.end"), () => this.go({ q: null, at: null, t: null }));
    replace(this.head, choices.length > 1 && chooser, find, this.following, end);
  }

  /** Follow new lines or stay. @param {boolean} on */
  setFollow(on) {
    this.follow = on;
    if (this.following) this.following.box.checked = on;
    if (on) this.lines.scrollTop = this.lines.scrollHeight;
  }

  /** Return the query of a request. @param {Record<string, unknown>} more */
  asking(more) {
    return { run: this.run?.id, ...more };
  }

  /** Read the last lines, or those that the address names by time or place. */
  read() {
    const { api, url } = this.app;
    const time = url.get("t");
    const place = url.get("at");
    const where = time ? { time } : place ? { after: place } : {};
    return this.requests.ask(
      (signal) => api.get("v2/console/lines", this.asking({ ...where, n: COUNT }), { signal }),
      (/** @type {Part} */ part) => {
        const named = Boolean(time || place);
        this.places = { first: part.first, last: part.last, next: null };
        this.atEnd = !named || part.lines.length < COUNT;
        this.follow = !named;
        if (this.following) this.following.box.checked = this.follow;
        this.status.textContent = this.app.t("console.size", { size: bytes(part.size) });
        this.show(part.lines);
        if (named) this.mark();
        else this.lines.scrollTop = this.lines.scrollHeight;
      },
    );
  }

  /** Show lines in place of all others. @param {Row[]} rows */
  show(rows) {
    const { t } = this.app;
    const elements = rows.map((row) => this.line(row));
    replace(this.lines, elements.length ? elements : h("p", { class: "muted" }, t("console.empty")));
  }

  /** @param {Row} row */
  line(row) {
    this.newest = Math.max(this.newest, row[0]);
    const found = this.query ? () => this.go({ q: null, at: row[3], t: null }) : undefined;
    return lineElement(this.app, this.run?.id ?? "", row, this.query, found);
  }

  /** Mark the first line as the one that was looked for, and read what is before it. */
  mark() {
    const [first] = this.lines.children;
    first?.classList.add("current");
    this.earlier().then(() => first?.scrollIntoView({ block: "center" }), leaveAsIs);
  }

  /** Read earlier lines, and keep what is in the window where it is. */
  async earlier() {
    const before = this.places.first;
    if (!before || this.query || this.isReading) return;
    this.isReading = true;
    try {
      await this.more.ask(
        (signal) => this.app.api.get("v2/console/lines", this.asking({ before, n: COUNT }), { signal }),
        (/** @type {Part} */ part) => {
          const { scrollHeight, scrollTop } = this.lines;
          this.places.first = part.lines.length ? part.first : null;
          this.lines.prepend(...part.lines.map((row) => this.line(row)));
          this.lines.scrollTop = scrollTop + this.lines.scrollHeight - scrollHeight;
          this.cut("end");
        },
      );
    } finally {
      this.isReading = false;
    }
  }

  /** Read later lines. */
  async later() {
    if (this.query || this.isReading) return;
    this.isReading = true;
    const after = this.places.last;
    try {
      await this.more.ask(
        (signal) => this.app.api.get("v2/console/lines", this.asking({ after, n: COUNT }), { signal }),
        (/** @type {Part} */ part) => this.append(part),
      );
    } finally {
      this.isReading = false;
    }
  }

  /** Show later lines below the others, in place of what was unfinished. @param {Part} part */
  append(part) {
    this.atEnd = part.lines.length < COUNT;
    this.places.last = part.last;
    this.status.textContent = this.app.t("console.size", { size: bytes(part.size) });
    if (!part.lines.length) return;
    this.lines.querySelectorAll(".unfinished, p.muted").forEach((line) => line.remove());
    const lines = /** @type {HTMLElement[]} */ ([...this.lines.children]);
    const shown = new Set(lines.map((line) => line.dataset.place));
    this.lines.append(...part.lines.filter((row) => !shown.has(row[3])).map((row) => this.line(row)));
    const { scrollHeight, scrollTop } = this.lines;
    this.cut("start");
    const removed = scrollHeight - this.lines.scrollHeight;
    this.lines.scrollTop = this.follow ? this.lines.scrollHeight : scrollTop - removed;
  }

  /** Take lines beyond the most from the page. @param {"start" | "end"} side */
  cut(side) {
    const extra = this.lines.children.length - MOST;
    for (let i = 0; i < extra; i++) {
      this.lines[side === "start" ? "firstElementChild" : "lastElementChild"]?.remove();
    }
    if (extra <= 0) return;
    const edge = this.lines[side === "start" ? "firstElementChild" : "lastElementChild"];
    const place = /** @type {HTMLElement | null} */ (edge)?.dataset.place ?? "";
    if (side === "start") this.places.first = place;
    else [this.places.last, this.atEnd] = [place, false];
  }

  /** Search from the beginning, or go on. @param {string | null} [after] */
  search(after = null) {
    const { api, t } = this.app;
    const { query } = this;
    const request = after ? { query, after } : { query };
    return this.requests.ask(
      (signal) => api.get("v2/console/search", this.asking(request), { signal }),
      (/** @type {{lines: Row[], next: string | null}} */ { lines, next }) => {
        if (!after) replace(this.lines);
        this.lines.querySelector(".console-further")?.remove();
        this.lines.append(...lines.map((row) => this.line(row)));
        const n = this.lines.querySelectorAll(".console-line").length;
        this.status.textContent = t(next ? "console.found_so_far" : "console.found", { n });
        if (next) {
          const further = button(t("console.further"), () => this.search(next).catch(leaveAsIs));
          this.lines.append(h("p", { class: "console-further" }, further));
        }
      },
    );
  }

  /** Read on where somebody scrolls to an end of what is shown. */
  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.lines;
    const toEnd = scrollHeight - scrollTop - clientHeight;
    if (this.query) return;
    if (toEnd > 4 * AT_END && this.follow) this.setFollow(false);
    else if (toEnd < AT_END && this.atEnd && !this.follow) this.setFollow(true);
    if (scrollTop < clientHeight / 2) this.earlier().catch(leaveAsIs);
    if (toEnd < clientHeight / 2 && !this.atEnd) this.later().catch(leaveAsIs);
  }

  /** Look for new lines of a training that goes on. */
  poll() {
    const { run } = this;
    const newest = Math.max(run?.last_event ?? 0, this.newest);
    const isRunning = run && !run.finished && Date.now() / 1000 - newest < RUNNING;
    if (isRunning && this.atEnd && !document.hidden) this.later().catch(leaveAsIs);
  }

  /** Look for new lines of a run that was written to. @param {import("../core/types.js").Change} change */
  changed(change) {
    const { run } = this;
    if (!run) {
      if (this.runs().length) this.open().catch(leaveAsIs);
    } else if (this.atEnd && (change.everything || run.id in change.runs)) this.later().catch(leaveAsIs);
  }

  /** Leave the page. */
  end() {
    clearInterval(this.timer);
    this.offs.forEach((off) => off());
    this.requests.end();
    this.more.end();
  }
}
