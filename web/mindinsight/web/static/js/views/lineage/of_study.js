// What a study says about the runs of its trials: the objective, names of parameters, and the order.

import { bestEnd } from "../../components/runs/values.js";
import { labelOf } from "./columns.js";

/** @typedef {import("./axes.js").Column} Column */
/** @typedef {import("./axes.js").Row} Row */
/** @typedef {import("../../core/types.js").App["selection"]} Selection */
/** @typedef {Pick<import("./study/types.js").Study, "targets" | "trials" | "parameters">} Study */

/**
 * Return the study that runs belong to: the shown one if most of the runs are its trials, otherwise null.
 * @param {Study | null} study
 * @param {Row[]} rows
 */
export function studyOf(study, rows) {
  const trials = new Set(study?.trials.map(({ run }) => run));
  return 2 * rows.filter(({ run }) => trials.has(run)).length > rows.length ? study : null;
}

/**
 * Return false if the user chose runs, but no study, and the runs belong to none.
 * @param {Pick<import("../../core/types.js").App, "selection" | "url">} app
 * @param {Study | null} own study of the runs
 */
export function isAbout({ selection, url }, own) {
  return own !== null || selection.automatic() || url.get("study") !== null;
}

/**
 * Return the runs with lineage that are trials of a study, empty if the user has chosen runs.
 * @param {Selection} selection
 * @param {Study | null} [study]
 */
export function trialsAmong(selection, study) {
  const trials = selection.automatic() ? (study?.trials ?? []) : [];
  return new Set(trials.flatMap(({ run }) => (run !== null && selection.run(run)?.lineage ? [run] : [])));
}

/**
 * Return the ids of the runs with lineage: the chosen ones. If the user has not chosen, return the trials of
 * the study, or all runs without a study or with `all`.
 * @param {Selection} selection
 * @param {Study | null | undefined} study
 * @param {boolean} all
 */
export function runsAmong(selection, study, all) {
  const trials = trialsAmong(selection, study);
  const isShown = (/** @type {string} */ run) =>
    selection.automatic() ? all || !trials.size || trials.has(run) : selection.has(run);
  return selection.all().flatMap(({ id, lineage }) => (lineage && isShown(id) ? [id] : []));
}

/** Return the keys under which a table may have the first target of a study. @param {Study | null} study */
export function targetKeys(study) {
  const target = study?.targets[0];
  if (!target) return [];
  const groups = target.group === "scalar" ? ["scalar"] : ["metric", "train"];
  return groups.map((group) => `${group}:${target.name}`);
}

/**
 * Return the columns with their labels. A parameter of the study has the name that the study gives it.
 * @param {import("../../core/types.js").Translate} t
 * @param {Omit<Column, "label">[]} columns
 * @param {Study | null} study
 * @returns {Column[]}
 */
export function labelled(t, columns, study) {
  const names = new Set(study?.parameters.map(({ name }) => name));
  return columns.map((column) => {
    const name = column.key.slice(column.key.indexOf(":") + 1);
    const isParameter = /^(train|user):/.test(column.key) && names.has(name);
    return { ...column, label: isParameter ? name : labelOf(t, column.key) };
  });
}

/**
 * Return how rows are sorted: as chosen, otherwise by the objective, best first, or lowest first if it is
 * unknown which end is better.
 * @param {{sort: string, down: boolean, objective: string}} state
 * @param {Study | null} study
 * @returns {{key: string, down: boolean}}
 */
export function orderOf({ sort, down, objective }, study) {
  if (sort || !objective) return { key: sort, down };
  const goal = targetKeys(study).includes(objective) ? study?.targets[0].goal : null;
  return { key: objective, down: goal ? goal === "maximize" : bestEnd(objective) === "max" };
}
