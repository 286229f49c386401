// Selectors of run, rank and graph.

import { select } from "../../components/field.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

/**
 * Create the selects of run, rank and graph. Rank and graph are left out if there is no choice.
 * @param {App} app
 * @param {Run[]} runs
 * @param {{run: string, tag: string, view: string | null}} state
 * @param {{tags: string[]}} graphs
 * @param {(some: {run?: string, tag?: string}) => void} change
 */
export function chooser(app, runs, state, graphs, change) {
  const { t } = app;
  const selected = runs.find((run) => run.id === state.run);
  const job = selected?.job ?? "";
  const ranks = runs
    .filter((run) => run.job === job && run.rank !== null)
    .sort((a, b) => Number(a.rank) - Number(b.rank));
  /** @type {Map<string, Run>} */
  const jobs = new Map();
  for (const run of runs) if (!jobs.has(run.job)) jobs.set(run.job, run);
  const jobOptions = [...jobs].map(([id, run]) => ({
    value: id,
    label: run.rank === null ? run.name : id.replace(/^\.\//, "") || run.name,
  }));
  const labels = graphs.tags.map((tag) => tagLabel(app, tag));
  const unique = new Set(labels).size === labels.length;
  const tags = graphs.tags.map((value, i) => ({ value, label: unique ? labels[i] : value }));
  return [
    select({
      label: t("common.run"),
      options: jobOptions,
      value: job,
      onchange: (id) => change({ run: first(runs, id, selected?.rank ?? null).id }),
    }),
    ranks.length > 1
      ? select({
          label: t("graph.rank"),
          options: ranks.map((run) => ({ value: run.id, label: String(run.rank) })),
          value: state.run,
          onchange: (run) => change({ run }),
        })
      : null,
    state.view !== "dataset" && tags.length > 1
      ? select({
          label: t("graph.file"),
          options: tags,
          value: state.tag,
          onchange: (tag) => change({ tag }),
        })
      : null,
  ];
}

const EVENTS = /^(?:.*\/)?events\.out\.events\.summary\.(\d{9,10})\./; // ends with a number and the host

/**
 * Return a name of a graph: the time at which its event file began, otherwise its file.
 * @param {App} app
 * @param {string} tag
 */
export function tagLabel({ format }, tag) {
  const began = EVENTS.exec(tag);
  return began ? format.time(Number(began[1])) : tag;
}

/**
 * Return the run to open where the address names none: the first chosen run with the wanted view, otherwise
 * the first with a graph. A single chosen run is returned even without a graph. Before runs are chosen, all
 * runs serve. Return undefined if none of the chosen runs has a graph.
 * @param {App} app
 * @param {Run[]} runs with graphs or data pipelines
 * @param {string | null} view in the address
 */
export function firstRun({ selection }, runs, view) {
  const chosen = selection.runs();
  const isChoice = !selection.automatic();
  if (isChoice && chosen.length === 1) return chosen[0];
  const shown = runs.filter((run) => selection.has(run.id));
  const candidates = shown.length || isChoice ? shown : runs;
  const wanted = candidates.find((run) => (view === "dataset" ? run.pipeline : run.kinds.graph));
  return wanted ?? candidates[0];
}

/**
 * Return the run of a job with the given rank, otherwise its first run.
 * @param {Run[]} runs
 * @param {string} job
 * @param {number | null} rank
 */
function first(runs, job, rank) {
  const members = runs.filter((run) => run.job === job);
  return members.find((run) => run.rank === rank) ?? members[0];
}
