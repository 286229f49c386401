// Which runs are shown: one choice for all pages, kept in the address.
//
// Without a choice the newest ten jobs are on, and new ones come in as they appear. The ranks of a job are
// one entry until it is unfolded.

import { tell } from "./dom.js";
import { send } from "./api.js";
import { Colouring } from "./colouring.js";
import { colourOf, dashesOf, DASHES, giveColours } from "./colours.js";
import { countJobs, foldedJobs, ofNewestJobs, withoutOtherRanks } from "./jobs.js";
import { parseChoice, writeChoice } from "./names.js";
import { Following } from "./run_list.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./names.js").Choice} Choice */
/** @typedef {"list" | "runs"} Reason "runs": another choice; "list": the runs themselves changed */

export const NEWEST = 10; // jobs

export class Selection {
  /** @type {Following} */
  #following;
  #url;
  #live;
  #theme;
  /** @type {Choice | null} */
  #choice;
  /** Ids of the runs that are shown, until something changes. @type {Set<string> | null} */
  #shown = null;
  /** Jobs whose ranks are shown one by one. @type {Set<string>} */
  #unfolded;
  /** Jobs that are shown as one, until something changes. @type {Set<string> | null} */
  #folded = null;
  /** Numbers of colours that shown runs were given, before the newest. @type {Map<string, number>} */
  #given;
  /** Places in `DASHES`, until something changes. @type {Map<string, number> | null} */
  #dashes = null;
  /** @type {Set<(reason: Reason) => void>} */
  #callbacks = new Set();
  /** @type {Set<(id: string | null) => void>} */
  #pointed = new Set();

  /**
   * @param {import("./url.js").Url} url
   * @param {import("./live.js").Live} live
   * @param {import("./theme.js").Theme} theme
   * @param {Selection} [source] whose list of runs this one chooses from, in place of one of its own
   */
  constructor(url, live, theme, source) {
    this.#url = url;
    this.#live = live;
    this.#theme = theme;
    this.#choice = parseChoice(url.get("runs"));
    this.#unfolded = parseChoice(url.get("ranks"))?.ids ?? new Set();
    this.#following = source ? source.#following : new Following(live, () => this.#tell("list"));
    this.#given = source ? source.#given : new Map();
    this.colouring = new Colouring(url, theme);
    /** No longer follow the source. */
    this.end = source ? source.on((reason) => reason === "list" && this.#tell("list")) : () => {};
    if (source) this.#tell("list");
  }

  /** Another choice among the same runs, kept in another address. @param {import("./url.js").Url} url */
  beside(url) {
    return new Selection(url, this.#live, this.#theme, this);
  }

  /** The choice as it is written in an address; what nobody chose is named, too. */
  asText() {
    return writeChoice(this.#choice ?? { inverted: false, ids: this.#on() });
  }

  refresh() {
    return this.#following.refresh();
  }

  /** Fetch the list for the first time, and follow the server from there on. */
  begin() {
    return this.#following.begin();
  }

  list() {
    return this.#following.list;
  }

  /** Runs that may be shown, newest first. */
  all() {
    return this.list().runs.filter((run) => !run.hidden);
  }

  /** With the hidden ones. */
  everything() {
    return this.list().runs;
  }

  /** @param {string} id */
  run(id) {
    return this.#following.byId.get(id);
  }

  /** What is shown, newest first. */
  runs() {
    const on = this.#on();
    return this.all().filter((run) => on.has(run.id));
  }

  /** What is shown with one run, the lowest rank, for each folded job; newest first. */
  entries() {
    return withoutOtherRanks(this.runs(), this.folded());
  }

  /** Jobs whose shown ranks are one entry. @returns {Set<string>} */
  folded() {
    this.#folded ??= foldedJobs(this.runs(), this.all(), this.#unfolded);
    return this.#folded;
  }

  /** Whether the ranks of a job are shown one by one. @param {string} job */
  unfolded(job) {
    return this.#unfolded.has(job);
  }

  /** Show the ranks of a job one by one, or as one again. @param {string} job */
  fold(job) {
    const next = new Set(this.#unfolded);
    if (!next.delete(job)) next.add(job);
    this.#unfolded = next;
    this.#url.set({ ranks: next.size ? writeChoice({ inverted: false, ids: next }) : null });
    this.#tell("runs");
  }

  /** @param {string} id */
  has(id) {
    return this.#on().has(id);
  }

  /** Whether nobody has chosen, and the newest are on. */
  automatic() {
    return this.#choice === null;
  }

  /** Whether the newest jobs are on, and there are others. */
  leavesOut() {
    return this.automatic() && countJobs(this.all()) > NEWEST;
  }

  baseline() {
    return this.list().runs.find((run) => run.pinned) ?? null;
  }

  /**
   * A run's colour as "#rrggbb", the same on all pages: its group's, else its own, else what it says of the
   * run, else the palette's.
   * @param {string} id
   */
  colour(id) {
    const run = this.run(id);
    return (
      this.colouring.groups()?.of.get(id) ||
      run?.chosen ||
      this.colouring.colours()?.of.get(id) ||
      this.#theme.colour(`--run-${(this.#given.get(id) ?? (run ? colourOf(run) : 0)) + 1}`)
    );
  }

  /** Plotly's dash for a run: solid, unless somebody wants dashes where colours repeat. @param {string} id */
  dash(id) {
    if (!this.colouring.dashed()) return DASHES[0];
    this.#dashes ??= dashesOf(this.entries(), (other) => this.colour(other));
    return DASHES[this.#dashes.get(id) ?? 0];
  }

  /** @param {string} id @param {boolean} [on] */
  toggle(id, on) {
    this.toggleMany([id], on ?? !this.has(id));
  }

  /** @param {Iterable<string>} ids @param {boolean} on */
  toggleMany(ids, on) {
    const next = new Set(this.#on());
    for (const id of ids) on ? next.add(id) : next.delete(id);
    this.#choose(next);
  }

  /** @param {Iterable<string>} ids */
  only(ids) {
    this.#choose(new Set(ids));
  }

  /** Name the shown runs in the address even where nobody chose them. @param {boolean} on */
  nameInAddress(on) {
    if (this.#choice === null) {
      this.#url.set({ runs: on ? writeChoice({ inverted: false, ids: this.#on() }) : null });
    }
  }

  /** Back to the newest ten jobs. */
  reset() {
    this.#choice = null;
    this.#url.set({ runs: null });
    this.#tell("runs");
  }

  /** The address has changed under us. */
  reread() {
    this.#choice = parseChoice(this.#url.get("runs"));
    this.#unfolded = parseChoice(this.#url.get("ranks"))?.ids ?? new Set();
    this.#tell("runs");
  }

  /**
   * Give runs the colours of an earlier day; beside the runs of that day, show those that began since.
   * @param {number | null} since epoch seconds; null where the address says what is shown
   */
  resume(since) {
    this.#url.colours().forEach(([id, number]) => this.#given.set(id, number));
    this.reread();
    const choice = this.#choice;
    if (since === null || !choice || choice.inverted) return;
    const later = this.all().filter((run) => run.created > since);
    const newer = ofNewestJobs(later, NEWEST).map((run) => run.id);
    if (newer.length) this.toggleMany(newer, true);
    else if (![...choice.ids].some((id) => this.run(id))) this.reset();
  }

  /**
   * The address of a view that shows one run alone, or some.
   * @param {string} view
   * @param {string | string[]} id
   * @param {Record<string, any>} [more]
   */
  linkOnly(view, id, more = {}) {
    return this.#url.link(view, {
      runs: writeChoice({ inverted: false, ids: new Set([id].flat()) }),
      ...more,
    });
  }

  /**
   * Keep a note, labels, colour, hidden or pinned.
   * @param {string} id
   * @param {{note?: string, labels?: string[], hidden?: boolean, pinned?: boolean, colour?: string}} fields
   */
  async annotate(id, fields) {
    await send("PATCH", "v2/runs/notes", { run: id, ...fields });
    await this.refresh();
  }

  /** @param {(reason: Reason) => void} callback @returns {() => void} off */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Somebody points at a run, or at none any more. @param {string | null} id */
  point(id) {
    tell(this.#pointed, id);
  }

  /** @param {(id: string | null) => void} callback @returns {() => void} off */
  onPoint(callback) {
    this.#pointed.add(callback);
    return () => this.#pointed.delete(callback);
  }

  #on() {
    this.#shown ??= this.#runs();
    return this.#shown;
  }

  /** @returns {Set<string>} */
  #runs() {
    const runs = this.all();
    const choice = this.#choice;
    if (choice && !choice.inverted) return choice.ids;
    if (choice) return new Set(runs.map((run) => run.id).filter((id) => !choice.ids.has(id)));
    return new Set(ofNewestJobs(runs, NEWEST).map((run) => run.id));
  }

  /** @param {Set<string>} next */
  #choose(next) {
    const ids = this.all().map((run) => run.id);
    const inverted = next.size > ids.length / 2 && next.size > NEWEST;
    this.#choice = inverted
      ? { inverted, ids: new Set(ids.filter((id) => !next.has(id))) }
      : { inverted, ids: next };
    this.#url.set({ runs: writeChoice(this.#choice) });
    this.#tell("runs");
  }

  /** @param {Reason} reason */
  #tell(reason) {
    this.#shown = this.#folded = this.#dashes = null;
    const entries = this.entries();
    const plain = entries.filter((run) => !run.chosen);
    if (giveColours(plain, this.#given)) this.#url.keepColours([...this.#given]);
    this.colouring.follow(this.runs());
    tell(this.#callbacks, reason);
  }
}
