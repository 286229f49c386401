// Files of weights: statistics of each tensor, and what changed between two files.

import { empty } from "../../components/empty.js";
import { select } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { number, shapeText } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

const ASKING = 700;
const STATISTICS = ["minimum", "maximum", "mean", "std", "norm", "zeros", "nans"];

/** @param {Page} page */
export function checkpointsPart(page) {
  const { app } = page;
  const { t, url, format } = app;
  const choose = h("div", { class: "toolbar" });
  const told = h("p", { role: "status" });
  const body = h("div", { class: "panel scroll dump-compared", tabindex: "0" });
  const element = h("div", { class: "stack" }, choose, told, body);
  /** @type {any[]} */
  let files = [];
  let first = url.get("file", "");
  let second = url.get("second", "");
  let timer = 0;
  let ended = false;

  const start = async () => {
    files = (await app.api.get("v2/dump/checkpoints")).checkpoints;
    if (ended) return;
    if (!files.length) {
      replace(element, empty({ title: t("dump.weights.none"), text: t("dump.weights.none_how"), code: 'mindspore.save_checkpoint(net, "net.ckpt")' }));
      return;
    }
    if (!files.some((file) => file.id === first)) first = files[0].id;
    drawChoice();
    ask();
  };

  const drawChoice = () => {
    const options = files.map((file) => ({ value: file.id, label: `${file.id.slice(2)} (${format.bytes(file.size)})` }));
    replace(
      choose,
      select({ label: t("dump.weights.file"), options, value: first, onchange: (value) => pick(value, second) }),
      select({ label: t("dump.weights.second"), options: [{ value: "", label: "–" }, ...options], value: second, onchange: (value) => pick(first, value) }),
    );
  };

  /** @param {string} one @param {string} two */
  const pick = (one, two) => {
    [first, second] = [one, two];
    url.set({ file: first, second });
    ask();
  };

  const ask = async () => {
    clearTimeout(timer);
    try {
      const answer = second ? await app.api.get("v2/dump/checkpoint/difference", { first, second }) : await app.api.get("v2/dump/checkpoint", { file: first });
      if (ended) return;
      second ? drawDifference(answer) : drawTensors(answer);
      if (!answer.done) timer = window.setTimeout(ask, ASKING);
    } catch (/** @type {any} */ error) {
      told.textContent = "";
      replace(body, h("div", { class: "banner bad", role: "alert" }, icon("warning"), t(error.key ?? "error.view", error.vars)));
    }
  };

  /** @param {any} answer */
  const drawTensors = (answer) => {
    const lost = answer.tensors.filter((/** @type {any} */ one) => one.statistics && one.statistics.nans + one.statistics.positive_infs + one.statistics.negative_infs);
    told.textContent = [answer.format, t("dump.weights.tensors", { n: answer.tensors.length }), lost.length && t("dump.not_finite", { n: lost.length }), !answer.done && t("common.loading")].filter(Boolean).join(" · ");
    const heads = [h("th", null, t("dump.column.name")), h("th", null, t("dump.column.dtype")), h("th", null, t("dump.column.shape")), STATISTICS.map((key) => h("th", { class: "number" }, t(`dump.column.${key}`)))];
    const row = (/** @type {any} */ one) => h("tr", null, h("td", { class: "name" }, one.name), h("td", null, one.dtype), h("td", { class: "mono" }, shapeText(one.shape)), one.error ? h("td", { class: "strange", colspan: STATISTICS.length }, t(one.error.reason)) : STATISTICS.map((key) => h("td", { class: key === "nans" && one.statistics?.nans ? "number strange" : "number" }, one.statistics ? number(app, one.statistics[key]) : "")));
    replace(body, h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, answer.tensors.map(row))));
  };

  /** @param {any} answer */
  const drawDifference = (answer) => {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const one of answer.differences) counts[one.state] = (counts[one.state] ?? 0) + 1;
    told.textContent = Object.entries(counts).map(([state, n]) => `${n} ${t(`dump.weights.state.${state}`)}`).join(", ");
    const heads = ["name", "state"].map((key) => h("th", null, t(`dump.column.${key}`)));
    const measures = ["max_absolute", "relative_distance", "equal", "cosine"].map((key) => h("th", { class: "number" }, t(`dump.column.${key}`)));
    const value = (/** @type {any} */ found) => h("td", { class: "number" }, found === null || found === undefined ? "–" : number(app, found));
    const row = (/** @type {any} */ one) =>
      h("tr", null, h("td", { class: "name" }, one.name), h("td", null, h("span", { class: one.state === "unchanged" ? "badge" : "badge warn" }, t(`dump.weights.state.${one.state}`))), value(one.measures?.max_absolute), value(one.measures?.relative_distance), value(one.equal), value(one.measures?.cosine), h("td", { class: "mono" }, [one.first, one.second].filter(Boolean).map((side) => shapeText(side.shape)).join(" → ")));
    const order = (/** @type {any} */ one) => (one.state === "unchanged" ? 1 : 0);
    replace(body, h("table", { class: "table" }, h("thead", null, h("tr", null, heads, measures, h("th", null, t("dump.column.shape")))), h("tbody", null, [...answer.differences].sort((a, b) => order(a) - order(b)).map(row))));
  };

  start();
  return {
    element,
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
