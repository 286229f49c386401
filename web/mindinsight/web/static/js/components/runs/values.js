// Lookup of a run's values by name: facts, hyper-parameters, scalars. Scalars are fetched for all runs at
// once.

import { latest } from "../../core/latest.js";
import { interest } from "./joined.js";
import { createOrder } from "./tag_order.js";

/** @typedef {import("../../core/answers.js").RunsTable} RunsTable */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {{last: Map<string, number>, min: Map<string, number>, max: Map<string, number>}} Numbers */

// The server's side is curves/importance.py. Words of a name are compared as a whole; the last that says
// something counts.
const WORDS = /[^\p{L}\p{N}]+|(?<=[a-z0-9])(?=[A-Z][a-z])/gu;
const END = new RegExp(
  "_(?:((?:loss(?:es)?|err|errors?|perplexity|ppl|r?mse|mae|nll|wer|cer|fid|latency|time)\\d*" +
    "|[^_]*(?:损失|误差|错误率|困惑度))" +
    "|((?:acc|accuracy|[a-z]*auc|auroc|f1|map|bleu|rouge[a-z]?|recall|precision|scores?|rewards?" +
    "|psnr|ssim|[a-z]?iou|dice|ndcg|mrr|r2|throughput|speed|per_sec(?:ond)?|returns?|hits?|elbo|log_?prob" +
    "|(?:log_?)?likelihood|win_rate|success|kappa|mcc|chrf|meteor|cider|spearman|pearson|exact_match" +
    "|elo|top(?=\\d))\\d*|[^_]*(?:准确率|精度|精确率|召回率|得分|奖励)))(?=_)",
  "g",
);
const NEGATED = /_(?:neg|negative|minus)$/; // before the word: a negated loss is best at its highest
const OTHER = /_(?:scale|scaling|scaler|ratio|weight|factor|coef|coeff|drop|free|gap)(?=_)/;
const TURNED = /_(?:non?|not)$/; // before the word; as is a difference from one
const FROM_ONE = /(?:^|[/:(])1\s*[-−]/;

/**
 * Return whether the best value of a scalar is its smallest or largest; null if its name does not say.
 * @param {string} tag
 * @returns {"min" | "max" | null}
 */
export function bestEnd(tag) {
  const words = `_${tag.replace(WORDS, "_").toLowerCase()}_`;
  const last = [...words.matchAll(END)].at(-1);
  if (!last || OTHER.test(words.slice(last.index + last[0].length)) || FROM_ONE.test(tag)) return null;
  const before = words.slice(0, last.index);
  if (TURNED.test(before)) return null;
  return Boolean(last[1]) !== NEGATED.test(before) ? "min" : "max";
}

/**
 * Return a run's state: "finished" or "failed" if the writer closed the files; "unrecorded" without event
 * files; "stopped" if its job left it behind; otherwise "running" up to two minutes after the last event,
 * "quiet" up to an hour, then "stopped". `store/run.py` is the server's version.
 * @param {Run} run
 * @param {number} now
 */
export function stateOf(run, now) {
  if (run.finished) return run.failure ? "failed" : "finished";
  if (!run.events) return "unrecorded";
  if (run.left) return "stopped";
  const age = now - run.last_event;
  return age < 120 ? "running" : age < 3600 ? "quiet" : "stopped";
}

const STATES = ["running", "quiet", "stopped", "failed", "finished", "unrecorded"];
const AFTER_ALL = 1e11; // seconds: later than the last event of any run

/** Return a number that orders runs by state, then the newest first. @param {Run} run @param {number} now */
export function stateOrder(run, now) {
  return (STATES.indexOf(stateOf(run, now)) + 1) * AFTER_ALL - run.last_event;
}

/**
 * Return whether a file of the run ends in an incomplete record that nobody will complete.
 * @param {Run} run
 * @param {number} now
 */
export function isTorn(run, now) {
  return run.torn_since !== null && now >= run.torn_since;
}

/** Return the run's last step, which may be negative; undefined if it has none. @param {Run} run */
export function lastStep(run) {
  return run.step >= 0 || "scalar" in run.kinds ? run.step : undefined;
}

/** Return when a run started in Unix seconds; undefined if its clock went back. @param {Run} run */
export function startOf(run) {
  return run.clock.length ? undefined : run.first_event;
}

/** Return how many seconds a run took; undefined if its clock went back or it is empty. @param {Run} run */
export function durationOf(run) {
  return run.clock.length || !run.total ? undefined : run.last_event - run.first_event;
}

const MEANT = 5; // tags that a short name may mean

/**
 * Create the lookup of runs' values by name: facts, hyperparameters and scalars, which are requested at first
 * use.
 * @param {App} app
 * @param {Element} element what the values are shown in
 */
export function createValues(app, element) {
  const [askedTags, askedTables] = [latest(element), latest(element)];
  /** @type {Map<string, Numbers>} */
  const tables = new Map();
  /** @type {string[]} */
  let tags = [];
  const order = createOrder(app, element);

  /**
   * Tags that a name may mean: those of the column with this name, else those that hold it, short first.
   * @param {string} name
   */
  const tagsFor = (name) => {
    const column = order.column(name);
    if (column) return column;
    const holding = tags.filter((tag) => tag.toLowerCase().includes(name.toLowerCase()));
    const first = (/** @type {string} */ tag) => Number(tag !== name);
    return holding
      .sort((a, b) => first(a) - first(b) || a.length - b.length || a.localeCompare(b))
      .slice(0, MEANT);
  };

  return {
    tags: () => tags,
    tagsFor,

    order,

    /** The tag behind a column that a run has. @param {Run} run @param {string} name */
    memberOf: (run, name) => order.members(name).find((tag) => tables.get(tag)?.last.has(run.id)),

    /** Whether the values of a column have come. @param {string} name */
    known: (name) => order.members(name).some((tag) => tables.has(tag)),

    loadTags() {
      return askedTags.ask(
        (signal) => app.api.get("v2/tags", { kind: "scalar", brief: true }, { signal }),
        (response) => {
          tags = inOrder(response.tags);
          order.take(response.tags);
        },
      );
    },

    /**
     * Fetch what is needed for these tags, again if they may have changed.
     * @param {string[]} needed all there are
     * @param {boolean} stale
     */
    need(needed, stale = false) {
      const missing = needed.filter((tag) => stale || !tables.has(tag));
      const fetch = (/** @type {AbortSignal} */ signal) =>
        Promise.all(missing.map((tag) => app.api.get("v2/runs/columns", { tag: [tag] }, { signal })));
      return askedTables.ask(fetch, (answers) =>
        missing.forEach((tag, i) => tables.set(tag, numbersOf(app, answers[i].tables[tag]))),
      );
    },

    /** @param {Run} run @param {string} tag @param {"last" | "min" | "max" | "best"} statistic */
    scalar(run, tag, statistic) {
      const member = this.memberOf(run, tag);
      if (member === undefined) return undefined;
      const part = statistic === "best" ? bestEnd(tag) : statistic;
      return part === null ? undefined : tables.get(member)?.[part].get(run.id);
    },

    /**
     * For a comparison: a fact, a hyper-parameter, or the last value of a scalar.
     * @param {Run} run
     * @param {string} name
     */
    lookup(run, name) {
      const recorded = factOf(app, run, name);
      if (recorded !== undefined) return recorded;
      const tag = tagsFor(name).find((candidate) => tables.get(candidate)?.last.has(run.id));
      return tag === undefined ? named(run.metrics, name) : tables.get(tag)?.last.get(run.id);
    },
  };
}

/**
 * Return the columns of a table as numbers by run.
 * @param {App} app
 * @param {RunsTable} table
 * @returns {Numbers}
 */
function numbersOf(app, table) {
  const numbers = (/** @type {"last" | "min" | "max"} */ statistic) => {
    const values = app.api.column(table[statistic]);
    return new Map(table.runs.map((run, i) => [run, values[i]]));
  };
  return { last: numbers("last"), min: numbers("min"), max: numbers("max") };
}

/**
 * Sort tags: losses, accuracies, others; within these by the number of runs.
 * @param {{tag: string, count: number}[]} rows
 */
function inOrder(rows) {
  const sorted = [...rows].sort((a, b) => interest(b.tag) - interest(a.tag) || b.count - a.count);
  return sorted.map((row) => row.tag);
}

/**
 * Return the name of the run's base directory; undefined if there is only one.
 * @param {App} app
 * @param {Run} run
 */
export function directoryOf(app, run) {
  return app.selection.list().bases.some((base) => base.name) ? run.id.split("/")[1] : undefined;
}

/** @type {Record<string, (run: Run, now: number) => unknown>} */
const FACTS = {
  state: stateOf,
  nan: (run) => run.divergence.length > 0,
  step: lastStep,
  size: (run) => run.size,
  rank: (run) => run.rank,
  damage: (run) => run.damage,
  pinned: (run) => run.pinned,
  group: (run) => run.group || undefined,
  archived: (run) => run.archived,
};

/**
 * Return what the list of runs has under a name: a directory, a fact or a hyperparameter; else undefined.
 * @param {App} app
 * @param {Run} run
 * @param {string} name
 */
export function factOf(app, run, name) {
  const directory = name.toLowerCase() === "dir" ? directoryOf(app, run) : undefined;
  if (directory !== undefined) return directory;
  const fact = FACTS[name.toLowerCase()];
  return fact ? fact(run, app.selection.list().now) : named(run.hyper, name);
}

/** Short names that people and papers use. @type {Record<string, string>} */
const SHORT = { lr: "learning_rate", bs: "batch_size", epochs: "epoch", optimiser: "optimizer" };

/**
 * Return a setting by its name, or undefined.
 * @param {Record<string, unknown>} settings
 * @param {string} name
 */
function named(settings, name) {
  if (Object.hasOwn(settings, name)) return settings[name];
  const lowered = name.toLowerCase();
  const key = Object.keys(settings).find(
    (candidate) => candidate.toLowerCase() === lowered || candidate.toLowerCase() === SHORT[lowered],
  );
  return key === undefined ? undefined : settings[key];
}
