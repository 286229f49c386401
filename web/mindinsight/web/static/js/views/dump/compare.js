// This step beside another one, of the same dump or of another: rows, verdicts, and where the two part.

import { button } from "../../components/button.js";
import { searchBox, select } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { saveButton } from "../../core/share.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { comparedTable, verdict } from "./compared.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {{dump: string, rank: number, step: number}} Place */

const ASKING = 700;
const SORTS = ["sequence", "lost", "cosine", "max_absolute", "max_relative", "one_thousandth", "norm_error"];
const ONLY = ["", "beyond", "warning", "error", "alone"];

/** @param {Page} page */
export function comparePart(page) {
  const { app, state } = page;
  const { t } = app;
  const results = resultPart(page);
  const starting = latest();
  const choice = choicePart(page, (reference, names) => {
    results.wait();
    const body = { target: { dump: state.dump, rank: state.rank, step: state.step }, reference, names };
    starting.ask(
      () => app.api.send("POST", "v2/dump/compare", body),
      ({ comparison }) => {
        page.comparison = comparison; // the graph can be coloured by it
        results.follow(comparison, [state, reference].map((side) => sideText(app, side)).join(" ↔ "));
      },
      results.fail,
    );
  });
  const head = h(
    "section",
    { class: "panel stack" },
    h("h2", null, t("dump.compare.title")),
    h("p", { class: "muted" }, t("dump.compare.how")),
    choice.element,
  );
  return {
    element: h("div", { class: "stack" }, head, results.element),
    end() {
      starting.end();
      choice.end();
      results.end();
    },
  };
}

/**
 * What to compare with.
 * @param {Page} page @param {(reference: Place, names: Record<string, string>) => void} start
 */
function choicePart(page, start) {
  const { app, state, dumps } = page;
  const { t, url } = app;
  const other = {
    dump: url.get("with") || state.dump,
    rank: Number(url.get("with_rank", String(state.rank))),
    step: Number(url.get("with_step", String(state.step))),
  };
  const asking = latest();
  const element = h("div", { class: "toolbar" });
  /** @type {Record<string, string>} */
  let names = {};

  const read = () =>
    asking.ask(
      () => app.api.get("v2/dump/summary", { dump: other.dump }),
      (summary) => {
        const rank =
          summary.ranks.find((/** @type {any} */ one) => one.rank === other.rank) ?? summary.ranks[0];
        other.rank = rank?.rank ?? 0;
        if (rank && !rank.steps.includes(other.step)) other.step = rank.steps[0] ?? 0;
        draw(summary, rank?.steps ?? []);
      },
      (error) => replace(element, failure(app, error)),
    );

  /** @param {Partial<Place>} some */
  const pick = (some) => {
    Object.assign(other, some);
    url.set({
      with: other.dump === state.dump ? null : other.dump,
      with_rank: other.rank,
      with_step: other.step,
    });
    read();
  };

  /** @param {any} summary @param {number[]} steps */
  const draw = (summary, steps) => {
    const file = h("input", {
      type: "file",
      class: "unseen",
      accept: ".json,.csv,.txt",
      onchange: () => readNames(file),
    });
    const count = Object.keys(names).length;
    const map = h(
      "label",
      { class: "button", title: t("dump.compare.map_how") },
      icon("file"),
      count ? t("dump.compare.mapped", { n: count }) : t("dump.compare.map"),
      file,
    );
    replace(
      element,
      select({
        label: t("dump.compare.with"),
        options: dumps.map((one) => ({ value: one.id, label: one.id.slice(2) || "." })),
        value: other.dump,
        onchange: (dump) => pick({ dump }),
      }),
      select({
        label: t("dump.rank"),
        options: summary.ranks.map((/** @type {any} */ one) => ({
          value: String(one.rank),
          label: String(one.rank),
        })),
        value: String(other.rank),
        onchange: (rank) => pick({ rank: Number(rank) }),
      }),
      select({
        label: t("common.step"),
        options: steps.map((step) => ({ value: String(step), label: String(step) })),
        value: String(other.step),
        onchange: (step) => pick({ step: Number(step) }),
      }),
      map,
      button(t("dump.compare.start"), () => start({ ...other }, names), { class: "primary" }),
    );
  };

  /** @param {any} file an input with a file that maps names */
  const readNames = async (file) => {
    names = mapped(await file.files[0].text());
    read();
  };

  read();
  return { element, end: asking.end };
}

/**
 * What a report has to say of where its numbers are from.
 * @param {import("../../core/types.js").App} app
 * @param {Place} side
 */
function sideText({ t }, side) {
  return `${side.dump.slice(2) || "."}, ${t("dump.rank")} ${side.rank}, ${t("common.step")} ${side.step}`;
}

/**
 * A map of names: a JSON object, or lines of two names; {} when it is neither.
 * @param {string} text
 * @returns {Record<string, string>}
 */
function mapped(text) {
  try {
    if (text.trimStart().startsWith("{")) return JSON.parse(text);
  } catch {
    return {};
  }
  const lines = text.split("\n").filter((line) => line.includes(","));
  return Object.fromEntries(lines.map((line) => line.split(",", 2).map((part) => part.trim())));
}

/** The rows of a comparison as they come; what is typed into the search stays. @param {Page} page */
function resultPart(page) {
  const { app } = page;
  const { t } = app;
  const look = { q: "", only: "", sort: "sequence" };
  const asking = latest();
  let comparison = 0;
  let sides = "";
  const told = h("div");
  const file = h("a", { class: "button", download: "" }, "CSV");
  const only = ONLY.map((value) => ({ value, label: t(`dump.compare.only.${value || "all"}`) }));
  const narrow = (/** @type {Partial<typeof look>} */ some) => {
    Object.assign(look, some);
    ask();
  };
  const tools = h(
    "div",
    { class: "toolbar" },
    searchBox({ label: t("dump.filter.operator"), onchange: (q) => narrow({ q }) }),
    select({
      label: t("dump.compare.only"),
      options: only,
      value: "",
      onchange: (value) => narrow({ only: value }),
    }),
    select({
      label: t("dump.compare.sort"),
      options: SORTS.map((value) => ({ value, label: t(`dump.column.${value}`) })),
      value: "sequence",
      onchange: (sort) => narrow({ sort }),
    }),
    file,
    saveButton(app, () => element, t("dump.compare.report")),
  );
  const box = h("section", { class: "panel stack", hidden: true }, told, tools);
  const rows = h("div");
  const element = h("div", { class: "stack" }, box, rows);

  const ask = () =>
    asking.ask(
      () => app.api.get(`v2/dump/compare/${comparison}`, { ...look, limit: 1000 }),
      (answer) => {
        replace(told, h("p", { class: "muted" }, sides), verdict(page, answer));
        replace(rows, comparedTable(page, answer));
        tools.hidden = false;
        if (!answer.done) asking.later(ask, ASKING);
      },
      fail,
    );

  const fail = (/** @type {any} */ error) => {
    box.hidden = false;
    replace(told, failure(app, error));
  };

  return {
    element,
    fail,
    wait() {
      asking.end();
      box.hidden = false;
      tools.hidden = true;
      replace(told, h("p", { class: "booting", role: "status" }, t("common.loading")));
      replace(rows);
    },
    /** @param {number} number @param {string} names of the two sides */
    follow(number, names) {
      comparison = number;
      sides = names;
      file.href = app.api.build(`v2/dump/compare/${number}/csv`);
      ask();
    },
    end: asking.end,
  };
}
