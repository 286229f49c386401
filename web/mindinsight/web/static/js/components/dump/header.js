// Header of the dump pages: choice of dump, rank and step, and the actions on them.

import { button, segments } from "../button.js";
import { select, slider } from "../field.js";
import { icon } from "../icons.js";
import { searchSelect } from "../search_select.js";
import { h } from "../../core/dom.js";

/** @typedef {import("./state.js").Page} Page */

const MANY = 8; // dumps beyond which they are searched

/**
 * Create the header of the dump pages: choice of dump, rank and step, and actions on them.
 * @param {Page} page
 */
export function header(page) {
  const { app, state, summary, dumps, change } = page;
  const { t } = app;
  const tabs = ["tensors", "tree", "graph", "check", "compare"];
  if (summary?.logs) tabs.push("logs");
  const mode = segments({
    label: t("dump.view"),
    options: tabs.map((value) => ({ value, label: t(`dump.tab.${value}`) })),
    value: state.tab,
    onchange: (tab) => change({ tab: /** @type {import("./state.js").State["tab"]} */ (tab) }),
  });
  const steps = summary?.ranks.some((rank) => rank.steps.length);
  const find = () => {
    page.asked = false;
    change({ tab: "check", operator: "", tensor: "" });
  };
  const fault = button(t("dump.find_fault"), find, { class: "primary" });
  fault.prepend(icon("search"));
  const origin =
    summary &&
    [summary.layout, summary.framework, summary.version, summary.device, summary.level, summary.task]
      .filter(Boolean)
      .join(" · ");
  return [
    h(
      "div",
      { class: "toolbar" },
      h("h1", null, t("nav.dump")),
      origin && h("span", { class: "badge" }, origin),
      h("span", { class: "grow" }),
      steps && fault,
    ),
    h("div", { class: "toolbar" }, mode, dumps.length > 0 && chooser(page)),
    ...(summary?.damage ?? []).map((record) => damage(page, record)),
  ];
}

/** Create the choice of a dump. @param {Page} page */
function chooser(page) {
  const { app, state, dumps, change } = page;
  const known = dumps.some(({ id }) => id === state.dump);
  const fields = {
    label: app.t("dump.dump"),
    options: [...(known ? [] : [{ id: state.dump }]), ...dumps].map(({ id }) => ({
      value: id,
      label: id ? dumpName(id) : app.t("dump.choose"),
    })),
    value: state.dump,
    onchange: (/** @type {string} */ dump) => change({ dump, operator: "", tensor: "" }),
  };
  return [
    dumps.length > MANY
      ? searchSelect({ ...fields, id: "dumps" })
      : (dumps.length > 1 || !known) && select(fields),
    placeChooser(page),
  ];
}

/**
 * Return a dump's name without the leading "./"; "." for the base directory itself.
 * @param {string} id "./job/dump"
 */
export function dumpName(id) {
  return id.slice(2) || ".";
}

/**
 * Create the select of a dump's rank, false if it has one rank, and the slider of its step, or its only step
 * as text.
 * @param {{app: import("../../core/types.js").App, summary: import("../../core/answers.js").DumpSummary |
 *   null, state: {rank: number, step: number}, change:
 *   (some: {rank?: number, step?: number}) => void}} page
 */
export function placeChooser({ app, state, summary, change }) {
  const { t } = app;
  const ranks = summary?.ranks ?? [];
  const steps = ranks.find((rank) => rank.rank === state.rank)?.steps ?? [];
  return [
    ranks.length > 1 &&
      select({
        label: t("dump.rank"),
        options: ranks.map((rank) => ({
          value: String(rank.rank),
          label: String(rank.rank),
        })),
        value: String(state.rank),
        onchange: (rank) => change({ rank: Number(rank) }),
      }),
    steps.length > 1 &&
      slider({
        label: t("common.step"),
        values: steps,
        value: state.step,
        delay: 150,
        onchange: (step) => change({ step }),
      }),
    steps.length === 1 && h("span", { class: "badge" }, `${t("common.step")} ${steps[0]}`),
  ];
}

/**
 * Create the line about a file that could not be read.
 * @param {{app: import("../../core/types.js").App}} page
 * @param {{file: string, reason: string, detail: string}} file
 */
export function damage({ app }, file) {
  return h(
    "div",
    { class: "banner warn", role: "note" },
    icon("warning"),
    h(
      "div",
      null,
      h("strong", null, file.file),
      ": ",
      app.t(file.reason),
      file.detail && ` (${file.detail})`,
    ),
  );
}
