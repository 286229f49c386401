// This step beside another one, of the same dump or of another: rows, verdicts, and where the two part.

import { button } from "../../components/button.js";
import { select } from "../../components/field.js";
import { searchBox } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { number, short, slotText } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

const ASKING = 700;
const MEASURES = ["cosine", "max_absolute", "max_relative", "one_thousandth", "five_thousandths", "norm_error"];
const SORTS = ["sequence", "cosine", "max_absolute", "max_relative", "one_thousandth", "norm_error"];

/** @param {Page} page */
export function comparePart(page) {
  const { app, state, dumps } = page;
  const { t, url } = app;
  const other = { dump: url.get("with") || state.dump, rank: Number(url.get("with_rank", String(state.rank))), step: Number(url.get("with_step", String(state.step))) };
  const look = { q: "", only: "", sort: "sequence" };
  /** @type {any} */
  let summary = null;
  /** @type {Record<string, string>} */
  let names = {};
  let comparison = 0;
  let timer = 0;
  let ended = false;
  const choose = h("div", { class: "toolbar" });
  const told = h("div", { class: "stack" });
  const rows = h("div");
  const element = h("div", { class: "stack" }, h("section", { class: "panel stack" }, h("h2", null, t("dump.compare.title")), h("p", { class: "muted" }, t("dump.compare.how")), choose), told, rows);

  const readOther = async () => {
    summary = await app.api.get("v2/dump/summary", { dump: other.dump });
    const rank = summary.ranks.find((/** @type {any} */ one) => one.rank === other.rank) ?? summary.ranks[0];
    other.rank = rank?.rank ?? 0;
    if (rank && !rank.steps.includes(other.step)) other.step = rank.steps[0] ?? 0;
    if (!ended) drawChoice(rank?.steps ?? []);
  };

  /** @param {Partial<typeof other>} some */
  const pick = (some) => {
    Object.assign(other, some);
    url.set({ with: other.dump === state.dump ? null : other.dump, with_rank: other.rank, with_step: other.step });
    return readOther();
  };

  /** @param {number[]} steps */
  const drawChoice = (steps) => {
    const file = h("input", { type: "file", class: "unseen", accept: ".json,.csv,.txt", onchange: () => readNames(file) });
    const map = h("label", { class: "button" }, icon("file"), Object.keys(names).length ? t("dump.compare.mapped", { n: Object.keys(names).length }) : t("dump.compare.map"), file);
    map.title = t("dump.compare.map_how");
    replace(
      choose,
      select({ label: t("dump.compare.with"), options: dumps.map((one) => ({ value: one.id, label: one.id.slice(2) || "." })), value: other.dump, onchange: (dump) => pick({ dump }) }),
      select({ label: t("dump.rank"), options: summary.ranks.map((/** @type {any} */ one) => ({ value: String(one.rank), label: String(one.rank) })), value: String(other.rank), onchange: (rank) => pick({ rank: Number(rank) }) }),
      select({ label: t("common.step"), options: steps.map((step) => ({ value: String(step), label: String(step) })), value: String(other.step), onchange: (step) => pick({ step: Number(step) }) }),
      map,
      button(t("dump.compare.start"), start, { class: "primary" }),
    );
  };

  /** @param {any} file an input with a file that maps names */
  const readNames = async (file) => {
    const text = await file.files[0].text();
    try {
      names = text.trimStart().startsWith("{") ? JSON.parse(text) : Object.fromEntries(text.split("\n").filter((/** @type {string} */ line) => line.includes(",")).map((/** @type {string} */ line) => line.split(",").map((part) => part.trim())));
    } catch {
      names = {};
    }
    readOther();
  };

  const start = async () => {
    clearTimeout(timer);
    replace(told, h("p", { class: "booting", role: "status" }, t("common.loading")));
    replace(rows);
    try {
      const body = { target: { dump: state.dump, rank: state.rank, step: state.step }, reference: { ...other }, names };
      comparison = (await app.api.send("POST", "v2/dump/compare", body)).comparison;
      page.comparison = comparison; // the graph can be coloured by it
      await ask();
    } catch (/** @type {any} */ error) {
      replace(told, h("div", { class: "banner bad", role: "alert" }, icon("warning"), t(error.key ?? "error.view", error.vars)));
    }
  };

  const ask = async () => {
    clearTimeout(timer);
    const answer = await app.api.get(`v2/dump/compare/${comparison}`, { ...look, limit: 1000 });
    if (ended) return;
    replace(told, verdict(answer));
    replace(rows, table(answer));
    if (!answer.done) timer = window.setTimeout(ask, ASKING);
  };

  /** @param {any} answer */
  const verdict = (answer) => {
    const { divergence, levels } = answer;
    const [tensor] = divergence?.tensors ?? [];
    const open = () => page.change({ graph: tensor.graph, operator: tensor.recorded, tensor: `${tensor.direction}/${tensor.slot}` });
    const parts = divergence
      ? h("p", null, h("span", { class: "badge bad" }, t(`dump.compare.${divergence.kind}`)), " ", h("button", { type: "button", class: "link wrapped", onclick: open }, tensor.operator), " ", h("span", { class: "muted" }, slotText(app, tensor)))
      : h("p", null, answer.done ? t("dump.compare.agree") : t("common.loading"));
    const counts = h("p", { role: "status" }, t("dump.compare.counted", { done: answer.compared, all: answer.all }), " · ", t("dump.compare.levels", { pass: levels.pass, warning: levels.warning, error: levels.error }), " · ", t("dump.compare.beyond", { n: answer.beyond }));
    const file = h("a", { class: "button", href: app.api.build(`v2/dump/compare/${comparison}/csv`), download: "" }, "CSV");
    const only = ["", "beyond", "warning", "error", "alone"].map((value) => ({ value, label: t(`dump.compare.only.${value || "all"}`) }));
    const tools = h(
      "div",
      { class: "toolbar" },
      searchBox({ label: t("dump.filter.operator"), value: look.q, onchange: (q) => ((look.q = q), ask()) }),
      select({ label: t("dump.compare.only"), options: only, value: look.only, onchange: (value) => ((look.only = value), ask()) }),
      select({ label: t("dump.compare.sort"), options: SORTS.map((value) => ({ value, label: t(`dump.column.${value}`) })), value: look.sort, onchange: (value) => ((look.sort = value), ask()) }),
      file,
    );
    return h("section", { class: "panel stack" }, parts, counts, answer.error && h("p", { class: "strange" }, answer.error), tools);
  };

  /** @param {any} answer */
  const table = (answer) => {
    const heads = ["operator", "slot", "matched", ...MEASURES, "result"].map((key) => h("th", { class: MEASURES.includes(key) ? "number" : null }, t(`dump.column.${key}`)));
    return h("div", { class: "panel scroll dump-compared", tabindex: "0" }, h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, answer.rows.map(row))), answer.total > answer.rows.length && h("p", { class: "muted" }, t("dump.compare.more", { n: answer.total - answer.rows.length })));
  };

  /** @param {any} one */
  const row = (one) => {
    const tensor = one.target_tensor ?? one.reference_tensor;
    const mine = Boolean(one.target_tensor);
    const open = () => mine && page.change({ graph: tensor.graph, operator: tensor.recorded, tensor: `${tensor.direction}/${tensor.slot}` });
    const level = { pass: "ok", warning: "warn", error: "bad" }[/** @type {"pass"} */ (one.result)];
    const why = one.codes.map((/** @type {string} */ code) => t(`dump.compare.code.${code}`)).join("; ");
    const alone = !one.target_tensor || !one.reference_tensor;
    return h(
      "tr",
      { class: one.beyond ? "far" : null },
      h("td", { class: "name" }, mine ? h("button", { type: "button", class: "link", title: `${one.target} ↔ ${one.reference ?? "–"}`, onclick: open }, short(tensor.operator)) : h("span", { title: tensor.operator }, short(tensor.operator))),
      h("td", null, slotText(app, tensor)),
      h("td", { class: "muted" }, alone ? t(`dump.compare.alone.${mine ? "target" : "reference"}`) : t(`dump.compare.by.${one.matched_by}`)),
      MEASURES.map((key) => h("td", { class: "number" }, one[key] === null ? "–" : number(app, one[key]))),
      h("td", { title: why }, h("span", { class: `badge ${level}` }, t(`dump.compare.level.${one.result}`)), why && h("span", { class: "muted" }, ` ${why}`), one.target_argument !== null && h("span", { class: "mono" }, ` ${one.target_argument} ↔ ${one.reference_argument}`), one.damage && h("span", { class: "strange" }, ` ${t(one.damage.reason)} ${one.damage.detail}`)),
    );
  };

  readOther();
  return {
    element,
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
