// Console page: what a training printed, as it comes, with a search and the way to the charts of a moment.

import { button } from "../components/button.js";
import { emptyState } from "../components/nothing.js";
import { h, replace } from "../core/dom.js";
import { bytes } from "../core/format.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { whenSaved } from "../core/lazy_work.js";
import { idOf } from "../core/names.js";
import { failureNote, LevelCounts, LEVELS } from "./console/levels.js";
import { controls, leftOut } from "./console/controls.js";
import { addFound, cutLines, lineElement, newRows } from "./console/line.js";

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
    this.level = ""; // of the listed lines; "" for all lines
    this.follow = true;
    /** Places to go on from. @type {{first: string | null, last: string, next: string | null}} */
    this.places = { first: null, last: "", next: null };
    this.size = 0; // bytes of the recording
    this.newest = 0; // time of the newest line
    this.atEnd = false; // all lines up to the newest are on the page
    this.head = h("div", { class: "toolbar" });
    this.lines = h("div", { class: "console-lines", tabindex: "0", role: "log", "aria-live": "off" });
    this.status = h("p", { class: "small muted", role: "status" });
    this.ending = h("div");
    this.levels = new LevelCounts(app, (level) => this.go({ level, q: null, at: null, t: null }));
    this.lines.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.requests = latest(root);
    this.more = latest(root);
    this.timer = setInterval(() => this.poll(), POLL);
    this.offs = [
      app.url.on(() => this.open().catch(leaveAsIs)),
      app.selection.on(() => this.rechosen()),
      whenSaved(() => this.fill().catch(leaveAsIs)),
    ];
  }

  /** Whether the page lists lines from different parts of the console, by a text or a level. */
  get isListing() {
    return Boolean(this.query || this.level);
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
    this.level = this.query ? "" : (LEVELS.find((level) => level === app.url.get("level")) ?? "");
    if (!this.run) {
      delete this.root.dataset.object;
      replace(this.root, emptyState(app, { kind: "console", filter: "", code: "record.record_console()" }));
      return;
    }
    replace(this.root, h("div", { class: "console-page" }, this.head, this.status, this.lines, this.ending));
    this.drawHead(runs);
    await Promise.all([this.count(), this.load()]);
  }

  /** Request the lines that are to be shown, and name them for a saved page. */
  load() {
    const listed = this.query || (this.level && this.app.t(`console.level.${this.level}`));
    this.root.dataset.object = [this.run?.id, listed].filter(Boolean).join(" ");
    replace(this.ending, failureNote(this.app, this.run));
    return this.isListing ? this.list() : this.read();
  }

  /** Count the errors and warnings of the run. */
  count() {
    return this.levels.count(
      this.run?.id,
      () => this.level,
      () => this.size && !this.isListing && this.describe(),
    );
  }

  /** Open again where other runs are chosen and the one shown is none of them. */
  rechosen() {
    const current = this.run && this.app.selection.run(this.run.id);
    const isNamed = Boolean(this.app.url.get("run"));
    const isShown = current && (isNamed || this.runs().some(({ id }) => id === current.id));
    if (isShown) {
      this.run = current;
      replace(this.ending, failureNote(this.app, current));
    } else this.open().catch(leaveAsIs);
  }

  /** Show something else. @param {Record<string, string | null>} where */
  go(where) {
    this.app.url.set(where);
    this.open().catch(leaveAsIs);
  }

  /** Draw the controls. @param {Run[]} runs */
  drawHead(runs) {
    if (!this.run) return;
    const { following, elements } = controls(this.app, this.run, runs, {
      query: this.query,
      follow: this.follow,
      levels: this.levels.element,
      choose: (id) => this.go({ run: id.slice(2) || ".", t: null, at: null }),
      find: (q) => this.find(q),
      setFollow: (on) => this.setFollow(on),
      end: () => this.go({ q: null, level: null, at: null, t: null }),
    });
    this.following = following;
    replace(this.head, elements);
  }

  /** List the lines with a text; "" shows the newest lines. @param {string} q */
  find(q) {
    this.app.url.set({ q, level: null, at: null, t: null });
    [this.query, this.level] = [q, ""];
    this.levels.draw("");
    this.load().catch(leaveAsIs);
  }

  /** Follow new lines or stay. @param {boolean} on */
  setFollow(on) {
    this.follow = on;
    if (this.following) this.following.box.checked = on;
    if (on) this.lines.scrollTop = this.lines.scrollHeight;
  }

  /** Read the last lines, or those that the address names by time or place. */
  read() {
    const { api, url } = this.app;
    const time = url.get("t");
    const place = url.get("at");
    const where = time ? { time } : place ? { after: place } : {};
    return this.requests.ask(
      (signal) => api.get("v2/console/lines", { run: this.run?.id, ...where, n: COUNT }, { signal }),
      (/** @type {Part} */ part) => {
        const named = Boolean(time || place);
        this.places = { first: part.first, last: part.last, next: null };
        this.atEnd = !named || part.lines.length < COUNT;
        this.follow = !named;
        if (this.following) this.following.box.checked = this.follow;
        this.size = part.size;
        const lines = part.lines.map((row) => this.line(row));
        replace(this.lines, lines.length ? lines : h("p", { class: "muted" }, this.app.t("console.empty")));
        this.describe();
        if (named) this.mark();
        else this.lines.scrollTop = this.lines.scrollHeight;
      },
    );
  }

  /** @param {Row} row */
  line(row) {
    this.newest = Math.max(this.newest, row[0]);
    const isFound = this.isListing && row[5] !== "trace"; // a traceback is found as a whole
    const found = isFound ? () => this.go({ q: null, level: null, at: row[3], t: null }) : undefined;
    return lineElement(this.app, this.run?.id ?? "", row, this.query, found);
  }

  /** Describe the recording, and which of its lines are not on the page. */
  describe() {
    const shown = /** @type {NodeListOf<HTMLElement>} */ (this.lines.querySelectorAll("[data-time]"));
    const left = this.isListing ? null : leftOut(this.app, shown, this.places.first !== null, !this.atEnd);
    const size = this.app.t("console.size", { size: bytes(this.size) });
    this.status.textContent = [size, ...this.levels.texts(), left].filter(Boolean).join(" · ");
  }

  /** Load further lines before the page is saved, as many as it holds. */
  async fill() {
    for (let before = -1; before < this.lines.children.length;) {
      before = this.lines.children.length;
      if (before + COUNT > MOST) return;
      if (this.isListing) await (this.places.next && this.list(this.places.next));
      else if (this.places.first) await this.earlier();
      else if (!this.atEnd) await this.later();
    }
  }

  /** Mark the first line as the one that was looked for, and read what is before it. */
  mark() {
    const [first] = this.lines.children;
    first?.classList.add("current");
    this.earlier().then(() => first?.scrollIntoView({ block: "center" }), leaveAsIs);
  }

  /**
   * Read lines before or after those on the page, one request at a time.
   * @param {Record<string, string>} where
   * @param {(part: Part) => void} use
   */
  async readOn(where, use) {
    if (this.isListing || this.isReading) return;
    this.isReading = true;
    try {
      await this.more.ask(
        (signal) =>
          this.app.api.get("v2/console/lines", { run: this.run?.id, ...where, n: COUNT }, { signal }),
        use,
      );
    } finally {
      this.isReading = false;
    }
  }

  /** Read earlier lines, and keep what is in the window where it is. */
  async earlier() {
    const before = this.places.first;
    if (!before) return;
    await this.readOn({ before }, (part) => {
      const { scrollHeight, scrollTop } = this.lines;
      this.places.first = part.lines.length ? part.first : null;
      this.lines.prepend(...part.lines.map((row) => this.line(row)));
      this.lines.scrollTop = scrollTop + this.lines.scrollHeight - scrollHeight;
      this.cut("end");
      this.describe();
    });
  }

  /** Read later lines. */
  later() {
    return this.readOn({ after: this.places.last }, (part) => this.append(part));
  }

  /** Show later lines below the others, in place of what was unfinished. @param {Part} part */
  append(part) {
    const [hadAll, isFull] = [this.atEnd, part.lines.length === COUNT];
    this.atEnd = !isFull;
    this.places.last = part.last;
    this.size = part.size;
    if (!part.lines.length) return this.describe();
    const rows = newRows(this.lines, part.lines);
    this.lines.append(...rows.map((row) => this.line(row)));
    if (hadAll) this.levels.add(rows, this.level);
    else if (!isFull) this.count(); // of lines that came while the page did not follow them
    const { scrollHeight, scrollTop } = this.lines;
    this.cut("start");
    const top = scrollTop - scrollHeight + this.lines.scrollHeight;
    this.lines.scrollTop = this.follow ? this.lines.scrollHeight : top;
    return this.describe();
  }

  /** Take lines beyond the most from the page. @param {"start" | "end"} side */
  cut(side) {
    const edge = cutLines(this.lines, MOST, side);
    if (edge === null) return;
    if (side === "start") this.places.first = edge;
    else [this.places.last, this.atEnd] = [edge, false];
  }

  /**
   * List the lines with the text or level from the beginning, or go on.
   * @param {string | null} [after]
   */
  list(after = null) {
    const { api, t } = this.app;
    const { query, level, run } = this;
    const path = query ? "v2/console/search" : "v2/console/levels";
    const request = { run: run?.id, query: query || null, level: level || null, after };
    return this.requests.ask(
      (signal) => api.get(path, request, { signal }),
      (/** @type {{lines: Row[], next: string | null}} */ { lines, next }) => {
        this.places.next = next;
        if (!after) replace(this.lines);
        const go = () => this.list(next).catch(leaveAsIs);
        const further = next === null ? null : button(t("console.further"), go);
        const found = lines.map((row) => this.line(row));
        const n = addFound(this.lines, found, further);
        const all = level ? `console.count.${level}` : "console.found";
        this.status.textContent = t(next ? "console.found_so_far" : all, { n, count: n });
      },
    );
  }

  /** Read on where somebody scrolls to an end of what is shown. */
  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.lines;
    const toEnd = scrollHeight - scrollTop - clientHeight;
    if (this.isListing) return;
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
    this.levels.end();
  }
}
