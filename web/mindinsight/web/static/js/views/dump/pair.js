// Values of a compared tensor: their difference, this side and the reference.

import { segments } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { number, slotText } from "../../components/dump/rows.js";
import { tensorPlace } from "../../components/dump/state.js";
import { firstLook, ValueWindow } from "../../components/dump/value_window.js";
import { TensorView } from "./values.js";

/** @typedef {import("../../core/answers.js").ComparedPair} ComparedPair */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../dump.js").Page} Page */
/** @typedef {"difference" | "target" | "reference"} Shown */

const STATISTICS = ["min", "max", "mean", "l2norm"];
const MEASURES = ["max_absolute", "max_relative", "cosine"];

/** Return the number of the comparison that the Compare tab shows, or 0. @param {Page} page */
export function shownComparison({ app, comparison, state }) {
  return state.tab === "compare" ? comparison || Number(app.url.get("compared", "0")) || 0 : 0;
}

/** A tensor beside its partner in a comparison; alone if it has none. */
export class PairView {
  /** @param {Page} page @param {Tensor} tensor @param {number} comparison */
  constructor(page, tensor, comparison) {
    this.page = page;
    this.own = new TensorView(page, tensor);
    this.tensor = tensor;
    this.routes = `v2/dump/compare/${comparison}`;
    this.requests = latest();
    this.body = h("div");
    /** @type {ValueWindow | null} */
    this.values = null;
    this.element = h("div", null, this.own.element);
    const { graph, operator, direction, slot } = tensorPlace(page.state);
    this.slot = { graph, operator, direction, slot };
    this.requests.ask(
      () => page.app.api.get(`${this.routes}/pair`, this.slot),
      (pair) => this.show(pair),
      () => {}, // the tensor stays without a partner
    );
  }

  /** Show newer statistics of this side. @param {Tensor} tensor */
  update(tensor) {
    this.own.update(tensor);
  }

  /** Show both sides. @param {ComparedPair} pair */
  show(pair) {
    if (!pair.has_difference || !pair.request) return;
    const { app } = this.page;
    const { t } = app;
    const { reference } = pair.request;
    app.charts.removeAll(this.element);
    this.own.end();
    const shown = segments({
      label: t("dump.pair.shown"),
      options: ["difference", "target", "reference"].map((value) => ({
        value,
        label: t(`dump.pair.${value}`),
      })),
      value: "difference",
      onchange: (value) => this.draw(pair, reference, /** @type {Shown} */ (value)),
    });
    replace(
      this.element,
      h(
        "section",
        { class: "dump-tensor stack" },
        h("h3", null, pair.parameter || slotText(app, this.tensor)),
        pairTable(this.page, pair),
        pairFacts(this.page, pair),
        shown,
        this.body,
      ),
    );
    this.draw(pair, reference, "difference");
  }

  /**
   * Show the values of a side or their difference.
   * @param {ComparedPair} pair
   * @param {import("../../core/answers.js").Position} reference step of the reference
   * @param {Shown} shown
   */
  draw(pair, reference, shown) {
    const { app, state } = this.page;
    const { graph, recorded, direction, slot } = pair.reference_tensor;
    const { dump, rank, step } = reference;
    const places = {
      difference: this.slot,
      target: tensorPlace(state),
      reference: { dump, rank, step, graph, operator: recorded, direction, slot },
    };
    this.values?.end();
    app.charts.removeAll(this.body);
    const mode = this.values?.look.mode ?? "heat";
    this.values = new ValueWindow(app, {
      routes: shown === "difference" ? `${this.routes}/difference` : "v2/dump",
      tensor: places[shown],
      look: { ...firstLook(shown), mode },
    });
    replace(this.body, this.values.element);
    this.values.draw();
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
    this.values?.end();
    this.own.end();
  }
}

/** Create the table of the statistics of both sides. @param {Page} page @param {ComparedPair} pair */
function pairTable({ app }, pair) {
  const { t } = app;
  const row = (/** @type {string} */ side, /** @type {string} */ label) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, label),
      STATISTICS.map((name) => h("td", { class: "number" }, number(app, cell(pair[`${side}_${name}`])))),
    );
  const names = { min: "minimum", max: "maximum", mean: "mean", l2norm: "norm" };
  return h(
    "div",
    { class: "scroll", tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th"),
          Object.values(names).map((key) => h("th", { class: "number" }, t(`dump.column.${key}`))),
        ),
      ),
      h("tbody", null, row("target", t("dump.pair.target")), row("reference", t("dump.pair.reference"))),
    ),
  );
}

/** Create the list of the measures of the difference. @param {Page} page @param {ComparedPair} pair */
function pairFacts({ app }, pair) {
  const { t } = app;
  const fact = (/** @type {string} */ label, /** @type {string | null} */ value) =>
    value === null ? null : [h("dt", null, label), h("dd", null, value)];
  return h(
    "dl",
    { class: "facts dump-facts" },
    fact(t("dump.pair.differing"), pair.differing === null ? null : `${pair.differing} / ${pair.count}`),
    MEASURES.map((key) =>
      fact(t(`dump.column.${key}`), pair[key] === null ? null : number(app, cell(pair[key]))),
    ),
    fact(t("dump.pair.largest"), pair.largest && `[${pair.largest.join(", ")}]`),
  );
}

/** Return a value of the answer as a number or text. @param {unknown} value */
function cell(value) {
  return /** @type {number | string | null} */ (value ?? null);
}
