// Selection of the shown runs, shared by all pages and stored in the address.
//
// Without a choice by the user the newest ten jobs are shown, and new ones appear by themselves. The ranks of
// a job are one entry until the job is expanded.

import { tell } from "./dom.js";
import { send } from "./api.js";
import { Colouring } from "./colouring.js";
import { colourOf, COLOURS, dashesOf, DASHES, giveColours } from "./colours.js";
import { countJobs, foldedJobs, hasRecords, lowestRank, ofNewestJobs, withoutOtherRanks } from "./jobs.js";
import { idOf, parseChoice, writeChoice } from "./names.js";
import { Following } from "./run_list.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./names.js").Choice} Choice */
/**
 * @typedef {{run: string, name?: string, note?: string, labels?: string[], group?: string, hidden?: boolean,
 *   archived?: boolean, pinned?: boolean, colour?: string}} RunChange what a person changes of a run
 */
/** @typedef {"list" | "runs"} Reason "runs": another choice; "list": the runs themselves changed */

export const NEWEST = 10; // jobs

/** Shown runs, their colours and dashes, and the list of all runs. */
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

  /**
   * Return another selection from the same list of runs, stored in another address.
   * @param {import("./url.js").Url} url
   */
  beside(url) {
    return new Selection(url, this.#live, this.#theme, this);
  }

  /**
   * Return the selection as written in an address. The runs are named even if the user has not chosen any.
   */
  asText() {
    return writeChoice(this.#choice ?? { inverted: false, ids: this.#on() });
  }

  /** Fetch the list of runs again. */
  refresh() {
    return this.#following.refresh();
  }

  /** Fetch the first list of runs, then follow the server's changes. */
  begin() {
    return this.#following.begin();
  }

  /** Return the newest list of runs. */
  list() {
    return this.#following.list;
  }

  /** Return all runs that are neither hidden nor archived, newest first. */
  all() {
    return this.list().runs.filter((run) => !run.hidden && !run.archived);
  }

  /** Return all runs, including hidden and archived ones. */
  everything() {
    return this.list().runs;
  }

  /** Return a run by its id, or undefined. @param {string} id */
  run(id) {
    return this.#following.byId.get(id);
  }

  /** Return the shown runs, newest first. */
  runs() {
    const on = this.#on();
    return this.all().filter((run) => on.has(run.id));
  }

  /**
   * Return the run in the address, otherwise the first shown one that has data of its own, not only dumps;
   * undefined if there is no run.
   * @returns {Run | undefined}
   */
  named() {
    const id = this.#url.get("run");
    if (id !== null) return this.run(idOf(id));
    const runs = [...this.runs(), ...this.all()];
    return runs.find(hasRecords) ?? runs[0];
  }

  /** Put the first rank into the address for a job that it names as a run. */
  nameRanks() {
    for (const key of ["run", "baseline"]) {
      const name = this.#url.get(key);
      if (name === null || this.run(idOf(name))) continue;
      const rank = lowestRank(this.everything(), idOf(name));
      if (rank) this.#url.set({ [key]: rank.id });
    }
  }

  /** Return the shown runs, with only the lowest rank of each folded job, newest first. */
  entries() {
    return withoutOtherRanks(this.runs(), this.folded());
  }

  /**
   * Return the runs that an answer is about: the shown ones, or all until the user has chosen, because the
   * charts then show only the newest. Of each folded job it has only the lowest rank.
   */
  asked() {
    return this.automatic() ? this.#allEntries() : this.entries();
  }

  /** Return all runs, with only the lowest rank of each job that the user has not expanded, newest first. */
  #allEntries() {
    const all = this.all();
    return withoutOtherRanks(all, foldedJobs(all, all, this.#unfolded));
  }

  /** Return the jobs that are shown as one entry. @returns {Set<string>} */
  folded() {
    this.#folded ??= foldedJobs(this.runs(), this.all(), this.#unfolded);
    return this.#folded;
  }

  /** Return whether the user has expanded a job. @param {string} job */
  unfolded(job) {
    return this.#unfolded.has(job);
  }

  /** Expand a job to its ranks, or collapse it again. @param {string} job */
  fold(job) {
    const next = new Set(this.#unfolded);
    if (!next.delete(job)) next.add(job);
    this.#unfolded = next;
    this.#url.set({ ranks: next.size ? writeChoice({ inverted: false, ids: next }) : null });
    this.#tell("runs");
  }

  /** Return whether a run is shown. @param {string} id */
  has(id) {
    return this.#on().has(id);
  }

  /** Return whether the user has not chosen, so that the newest jobs are shown. */
  automatic() {
    return this.#choice === null;
  }

  /** Return the ids of chosen runs that do not exist. */
  missing() {
    const ids = this.#choice && !this.#choice.inverted ? [...this.#choice.ids] : [];
    return ids.filter((id) => !this.#following.byId.has(id));
  }

  /** Return whether older jobs are left out because the user has not chosen. */
  leavesOut() {
    return this.automatic() && countJobs(this.all()) > NEWEST && countJobs(this.runs()) === NEWEST;
  }

  /** Return the pinned run, or null. */
  baseline() {
    return this.list().runs.find((run) => run.pinned) ?? null;
  }

  /**
   * Return a run's colour as "#rrggbb": its group's, otherwise the one the user gave it, otherwise that of
   * the colouring, otherwise the palette's.
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

  /**
   * Return Plotly's dash style of a run. It tells runs of the same palette colour apart.
   * @param {string} id
   */
  dash(id) {
    if (!this.colouring.dashed()) return DASHES[0];
    this.#dashes ??= dashesOf(this.entries(), (other) => this.colour(other));
    return DASHES[this.#dashes.get(id) ?? 0];
  }

  /** Show or hide a run; without `on`, invert it. @param {string} id @param {boolean} [on] */
  toggle(id, on) {
    this.toggleMany([id], on ?? !this.has(id));
  }

  /** Show or hide several runs. @param {Iterable<string>} ids @param {boolean} on */
  toggleMany(ids, on) {
    const next = new Set(this.#on());
    for (const id of ids) on ? next.add(id) : next.delete(id);
    this.#choose(next);
  }

  /** Show only these runs. @param {Iterable<string>} ids */
  only(ids) {
    this.#choose(new Set(ids));
  }

  /** Write the shown runs to the address, or remove them, if the user has not chosen. @param {boolean} on */
  nameInAddress(on) {
    if (this.#choice === null) {
      this.#url.set({ runs: on ? writeChoice({ inverted: false, ids: this.#on() }) : null });
    }
  }

  /** Return to showing the newest ten jobs. */
  reset() {
    this.#choice = null;
    this.#url.set({ runs: null });
    this.#tell("runs");
  }

  /** Read the selection from the address after it changed. */
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
    const later = this.all().filter((run) => run.created > since && hasRecords(run));
    const newer = ofNewestJobs(later, NEWEST).map((run) => run.id);
    if (newer.length) this.toggleMany(newer, true);
    else if (![...choice.ids].some((id) => this.run(id))) this.reset();
  }

  /**
   * Return the address of a view that shows only the given runs.
   * @param {string} view
   * @param {string | string[]} id
   * @param {Record<string, unknown>} [more]
   */
  linkOnly(view, id, more = {}) {
    return this.#url.link(view, { runs: writeChoice(this.#choiceOf(new Set([id].flat()))), ...more });
  }

  /** Store changes of runs on the server, then refresh the list. @param {RunChange[]} changes */
  async annotate(changes) {
    await send("PATCH", "v2/runs/notes/many", { changes });
    await this.refresh();
  }

  /**
   * Subscribe to changes of the selection or of the runs.
   * @param {(reason: Reason) => void} callback
   * @returns {() => void} off
   */
  on(callback) {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Announce the run under the pointer, or null when the pointer has left it. @param {string | null} id */
  point(id) {
    tell(this.#pointed, id);
  }

  /**
   * Subscribe to the run under the pointer.
   * @param {(id: string | null) => void} callback
   * @returns {() => void} off
   */
  onPoint(callback) {
    this.#pointed.add(callback);
    return () => this.#pointed.delete(callback);
  }

  /** Return the ids of the shown runs, computed once after each change. */
  #on() {
    this.#shown ??= this.#runs();
    return this.#shown;
  }

  /** Compute the ids of the shown runs. @returns {Set<string>} */
  #runs() {
    const runs = this.all();
    const choice = this.#choice;
    if (choice && !choice.inverted) return choice.ids;
    if (choice) return new Set(runs.map((run) => run.id).filter((id) => !choice.ids.has(id)));
    return new Set(this.#newest().map((run) => run.id));
  }

  /** Return the runs of the newest jobs. */
  #newest() {
    // A hidden run is among the newest: no other is charted in its place.
    const newest = ofNewestJobs(
      this.list().runs.filter((run) => !run.archived && hasRecords(run)),
      NEWEST,
    ).filter((run) => !run.hidden);
    return newest.length ? newest : ofNewestJobs(this.all(), NEWEST);
  }

  /** Return a choice of the shown runs, or the hidden ones if those are fewer. @param {Set<string>} next */
  #choiceOf(next) {
    if (next.size <= NEWEST) return { inverted: false, ids: next };
    const ids = this.all().map((run) => run.id);
    const inverted = next.size > ids.length / 2;
    return { inverted, ids: inverted ? new Set(ids.filter((id) => !next.has(id))) : next };
  }

  /** Store the user's choice in the address. @param {Set<string>} next */
  #choose(next) {
    this.#choice = this.#choiceOf(next);
    this.#url.set({ runs: writeChoice(this.#choice) });
    this.#tell("runs");
  }

  /**
   * Give runs colours: the newest first, then as many others as there are colours, so that the colours do not
   * depend on which runs or which page is opened first. Return whether a colour changed.
   */
  #giveColours() {
    const plain = (/** @type {Run[]} */ runs) => runs.filter((run) => !run.chosen && hasRecords(run));
    const newest = new Set(this.#newest());
    const entries = this.#allEntries();
    const inOrder = [...entries.filter((run) => newest.has(run)), ...entries, ...this.all()];
    const first = [...new Set(plain(inOrder))].slice(0, COLOURS);
    const fresh = [first.slice(0, NEWEST), first].filter(
      (runs) => !runs.every(({ id }) => this.#given.has(id)),
    );
    return [...fresh, plain(this.entries())].map((runs) => giveColours(runs, this.#given)).some(Boolean);
  }

  /** Recompute folded jobs, dashes and colours, then tell subscribers. @param {Reason} reason */
  #tell(reason) {
    this.#shown = this.#folded = this.#dashes = null;
    if (this.#giveColours()) this.#url.keepColours([...this.#given]);
    this.colouring.follow(this.runs());
    tell(this.#callbacks, reason);
  }
}
