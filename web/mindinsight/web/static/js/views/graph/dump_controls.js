// Controls of the dump overlay: dump, rank, step and colouring.

import { iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { dumpName, placeChooser } from "../../components/dump/header.js";
import { STATISTICS } from "../../components/dump/state.js";
import { h } from "../../core/dom.js";
import { SYMPTOMS } from "./dump_state.js";

/** @typedef {import("../../core/answers.js").DumpSummary} DumpSummary */
/** @typedef {import("./dump_state.js").State} State */
/**
 * @typedef {Object} Actions
 * @property {(dump: string) => void} choose
 * @property {(some: Partial<State>) => void} change
 * @property {() => void} toFault
 */

/**
 * Create the controls of the dump overlay: dump, rank, step and colouring. Without a chosen dump there is
 * only its selector.
 * @param {import("../../core/types.js").App} app
 * @param {{id: string}[]} dumps
 * @param {State} state
 * @param {DumpSummary | null} summary of the chosen dump
 * @param {Actions} actions
 */
export function dumpControls(app, dumps, state, summary, { choose, change, toFault }) {
  const { t } = app;
  const names = dumps.map(({ id }) => ({ value: id, label: dumpName(id) }));
  const statistics = STATISTICS.map((value) => ({ value, label: t(`dump.statistic.${value}`) }));
  const dump = select({
    label: t("dump.dump"),
    options: [{ value: "", label: t("graph.dump.none") }, ...names],
    value: state.dump,
    onchange: choose,
  });
  if (state.dump === "") return [dump];
  const colour = select({
    label: t("dump.graph.colour"),
    options: [{ value: SYMPTOMS, label: t("graph.dump.symptoms") }, ...statistics],
    value: state.paint,
    onchange: (paint) => change({ paint }),
  });
  const check = () => change({ check: !state.check });
  return [
    dump,
    placeChooser({ app, state, summary, change }),
    colour,
    state.paint === SYMPTOMS &&
      iconButton("check", t("dump.check.common"), check, { "aria-pressed": state.check }),
    iconButton("search", t("dump.find_fault"), toFault),
  ];
}

/**
 * Return a link to the comparison of a run's graph with that of a dump's run, or null if they are one run.
 * @param {import("../../core/types.js").App} app
 * @param {{id: string, run: string}[]} dumps
 * @param {string} dump
 * @param {{id: string} | null} run
 */
export function compareGraphs({ t, url }, dumps, dump, run) {
  const other = dumps.find(({ id }) => id === dump)?.run;
  if (!other || !run || other === run.id) return null;
  const href = url.link("graph", { m: "compare", run: run.id, run2: other });
  return h("a", { href }, t("graph.dump.compare_graphs"));
}
