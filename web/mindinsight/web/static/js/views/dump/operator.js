// Panel of one operator: source line, tensors, values of one tensor, and neighbours.

import { button, iconButton } from "../../components/button.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "../../components/dump/failure.js";
import { argumentList, callStacks, graphLink, links, sourceLine } from "./operator_facts.js";
import { slotText } from "../../components/dump/rows.js";
import { position } from "../../components/dump/state.js";
import { tensorTable } from "../../components/dump/tensor_table.js";
import { PairView, shownComparison } from "./pair.js";
import { TensorView } from "./values.js";

/** @typedef {import("../../core/answers.js").OperatorFacts} OperatorFacts */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../dump.js").Page} Page */

const POLL = 1000; // ms between requests while its statistics are not known
/** Choices that need another operator. */
const KEYS = ["operator", "graph", "tensor", "dump", "rank", "step", "tab"];

/** Create the panel of the chosen operator in `side`. @param {Page} page @param {HTMLElement} side */
export function operatorPanel(page, side) {
  return new OperatorPanel(page, side);
}

/** Panel that follows the chosen operator. */
class OperatorPanel {
  /** @param {Page} page @param {HTMLElement} side what it is shown in */
  constructor(page, side) {
    this.page = page;
    this.side = side;
    this.requests = latest();
    /**
     * What is shown, to be brought up to date while statistics are counted.
     * @type {{key: string, update: (operator: OperatorFacts) => void} | null}
     */
    this.shown = null;
    /** View of the chosen tensor. @type {TensorView | PairView | undefined} */
    this.view = undefined;
  }

  /** Redraw if the changed parts of the state concern the operator. @param {string[]} keys of the state */
  changed(keys) {
    if (keys.some((key) => KEYS.includes(key))) this.draw();
  }

  /** Request the operator and show it; hide the panel if none is chosen. */
  draw() {
    const { side } = this;
    const { app, state } = this.page;
    side.hidden = !state.operator;
    if (!state.operator) {
      this.requests.end();
      this.clear();
      return;
    }
    const params = { ...position(state), graph: state.graph, recorded: state.operator };
    this.requests.ask(
      (signal) => app.api.get("v2/dump/operator", params, { signal }),
      (operator) => this.show(operator),
      (error) => {
        this.clear();
        replace(side, this.head(state.operator), failure(app, error));
      },
    );
  }

  /** Remove what is shown. */
  clear() {
    this.shown = null;
    this.view?.end();
    this.view = undefined;
    this.page.app.charts.removeAll(this.side);
  }

  /**
   * Show an operator. The operator that is already shown here is updated, any other is built anew.
   * @param {OperatorFacts} operator
   */
  show(operator) {
    const { state } = this.page;
    const values = this.chosen(operator)?.values;
    const key = JSON.stringify([
      operator.operator,
      position(state),
      state.graph,
      state.operator,
      state.tensor,
      values,
      shownComparison(this.page),
    ]);
    if (this.shown?.key === key) this.shown.update(operator);
    else this.build(key, operator);
    const counting = operator.tensors.some((tensor) => !tensor.known);
    if (counting) this.requests.later(() => this.draw(), POLL);
  }

  /** Return the tensor whose values are shown, or undefined. @param {OperatorFacts} operator */
  chosen(operator) {
    return operator.tensors.find((tensor) => slotKey(tensor) === this.page.state.tensor);
  }

  /** Create the content of the panel. @param {string} key @param {OperatorFacts} operator */
  build(key, operator) {
    const { page } = this;
    this.clear();
    const table = h("div", null, tensorSection(page, operator.tensors));
    const tensor = this.chosen(operator);
    const comparison = shownComparison(page);
    const view =
      tensor && (comparison ? new PairView(page, tensor, comparison) : new TensorView(page, tensor));
    this.view = view;
    const update = (/** @type {OperatorFacts} */ newer) => {
      renew(table, tensorSection(page, newer.tensors));
      const next = this.chosen(newer);
      if (next) view?.update(next);
    };
    this.shown = { key, update };
    replace(this.side, this.head(operator.operator), content(page, operator, table), view?.element);
  }

  /** Create the header of the panel. @param {string} name */
  head(name) {
    const close = () => this.page.change({ graph: "", operator: "", tensor: "" });
    return h(
      "header",
      { class: "row" },
      h("h2", { class: "grow wrapped" }, name),
      iconButton("close", this.page.app.t("common.close"), close),
    );
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
    this.view?.end();
  }
}

/**
 * Return the name of a tensor in the address: "direction/slot".
 * @param {{direction: string, slot: string}} tensor
 */
function slotKey(tensor) {
  return `${tensor.direction}/${tensor.slot}`;
}

/**
 * Create the description of an operator.
 * @param {Page} page
 * @param {OperatorFacts} operator
 * @param {HTMLElement} table of its tensors
 */
function content(page, operator, table) {
  const { t } = page.app;
  const order = operator.order >= 0 && t("dump.order", { order: operator.order });
  return [
    h("p", { class: "muted" }, [operator.type, operator.graph, order].filter(Boolean).join(" · ")),
    graphLink(page, operator),
    sourceLine(page, operator.source),
    operator.stack?.length > 1 && callStacks(page, operator),
    links(page, operator, "inputs"),
    table,
    links(page, operator, "outputs"),
    operator.arguments?.length > 0 && argumentList(page, operator.arguments),
  ];
}

/** Create the table of the operator's tensors. @param {Page} page @param {Tensor[]} tensors */
function tensorSection(page, tensors) {
  const { app, state } = page;
  const isOpen = (/** @type {Tensor} */ tensor) => state.tensor === slotKey(tensor);
  const slot = (/** @type {Tensor} */ tensor) => {
    const toggle = () => page.change({ tensor: isOpen(tensor) ? "" : slotKey(tensor) });
    return button(slotText(app, tensor), toggle, { class: "link", "aria-expanded": isOpen(tensor) });
  };
  return h("section", null, h("h3", null, app.t("dump.tensors_of")), tensorTable(app, tensors, slot, isOpen));
}
