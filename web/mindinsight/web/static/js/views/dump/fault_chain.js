// Path of a value to the operator of a fault, from the batch or a weight on, with the graph around it.

import { button } from "../../components/button.js";
import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { createCanvas } from "../../components/graph/canvas.js";
import { SIGNS } from "../../components/graph/dump_marks.js";
import { errorText } from "../../components/dump/failure.js";
import { nonFiniteCount, number, short } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").ChainPicture} ChainPicture */
/** @typedef {import("../../core/answers.js").Fault} Fault */
/** @typedef {import("../../core/answers.js").Frame} Frame */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../dump.js").Page} Page */
/** @typedef {import("../../core/answers.js").ChainLink} ChainLink */

const POLL = 1000; // ms between two requests while tensors are measured
const FIRST = 2; // links shown at the beginning of a long chain
const LAST = 5; // and at its end
const LEGIBLE = 0.8; // smallest scale at which badges can be read

/**
 * Return the links to show in execution order. Null stands for the omitted middle of a long chain.
 * @param {ChainLink[]} chain from the fault back
 * @param {boolean} whole
 * @returns {(ChainLink | null)[]}
 */
export function shownLinks(chain, whole) {
  const forward = [...chain].reverse();
  if (whole || forward.length <= FIRST + LAST + 1) return forward;
  return [...forward.slice(0, FIRST), null, ...forward.slice(-LAST)];
}

/** Create the chain of a fault. @param {Page} page @param {Fault} fault */
export function faultChain(page, fault) {
  return new FaultChain(page, fault);
}

/** List and drawing of one chain. */
class FaultChain {
  /** @param {Page} page @param {Fault} fault */
  constructor(page, fault) {
    this.page = page;
    this.fault = fault;
    this.whole = false;
    this.requests = latest();
    this.list = h("ol", { class: "fault-links" });
    this.note = h("p", { class: "muted small" });
    this.canvas = createCanvas(page.app, {
      select: (id) => this.pick(id),
      outer: () => undefined,
      toggle: () => undefined,
      key: () => false,
    });
    this.element = h("div", { class: "fault-chain", hidden: true });
    this.resizes = new ResizeObserver(() => this.arrange()); // a panel beside it takes room
    this.resizes.observe(this.canvas.element);
    this.ask();
  }

  /** Request the chain until all tensors are measured, because later measurements could change it. */
  ask() {
    const { page, fault } = this;
    const [tensor] = fault.tensors;
    const step = fault.claims.find(({ key }) => key === "claim.cause.source");
    const params = {
      dump: page.state.dump,
      rank: fault.rank,
      step: fault.step,
      graph: tensor.graph,
      operator: fault.operator?.recorded ?? tensor.recorded,
      source: String(step?.values.source ?? ""),
    };
    this.requests.ask(
      () => page.app.api.get("v2/dump/chain", params),
      (answer) => {
        if (answer.done) return this.show(answer);
        // What is not measured yet may change the way back, so that nothing is shown until all is.
        this.element.hidden = false;
        replace(
          this.element,
          h("p", { class: "booting", role: "status" }, this.page.app.t("common.loading")),
        );
        return this.requests.later(() => this.ask(), POLL);
      },
      (error) => {
        this.element.hidden = false;
        replace(this.element, h("p", { class: "muted" }, errorText(page.app, error)));
      },
    );
  }

  /**
   * Show the chain. Chains of one operator are hidden.
   * @param {import("../../core/answers.js").Answer<"v2/dump/chain">} answer
   */
  show(answer) {
    const { t } = this.page.app;
    this.element.hidden = answer.chain.length < 2;
    if (this.element.hidden) return;
    this.drawList(answer.chain);
    this.note.textContent = answer.certain ? "" : t("dump.uncertain_why");
    replace(
      this.element,
      h("div", null, h("h3", null, t("dump.chain.title")), this.list, this.note),
      answer.picture && this.canvas.element,
    );
    if (answer.picture) this.drawGraph(answer.picture);
  }

  /** Draw the list of operators. @param {ChainLink[]} chain */
  drawList(chain) {
    const { t } = this.page.app;
    const left = chain.length - FIRST - LAST;
    const rest = () => ((this.whole = true), this.drawList(chain));
    replace(
      this.list,
      shownLinks(chain, this.whole).map((link) =>
        link
          ? this.item(link, link === chain[0])
          : h("li", null, button(t("dump.chain.more", { n: left }), rest, { class: "link" })),
      ),
    );
  }

  /** Create the entry of an operator. @param {ChainLink} link @param {boolean} faulty */
  item(link, faulty) {
    const { t } = this.page.app;
    const { source } = link;
    const kind = link.carrier === "operator" ? link.type : t(`dump.chain.${link.carrier}`);
    const name = link.recorded
      ? button(short(link.operator), () => this.open(link.recorded), {
          class: "link wrapped",
          title: link.operator,
        })
      : link.operator;
    return h(
      "li",
      { class: faulty ? "faulty" : null },
      name,
      " ",
      h("span", { class: "muted" }, kind),
      " ",
      link.tensor && this.range(link.tensor),
      link.late && h("span", { class: "muted" }, ` ${t("dump.after_update")}`),
      source &&
        h("code", { class: "muted" }, `${source.file.split("/").pop()}:${source.line} ${source.code}`),
      link.claims.map((claim) => claimElement(this.page.app, claim)),
    );
  }

  /** Return the range of a tensor, or its number of non-finite elements. @param {Tensor} tensor */
  range({ statistics, finite }) {
    const { app } = this.page;
    if (!statistics) return null;
    const { minimum, maximum } = statistics;
    const ends =
      minimum === null
        ? ""
        : app.t("dump.chain.range", { low: number(app, minimum), high: number(app, maximum) });
    if (finite !== false) return h("span", { class: "mono" }, ends);
    const lost = nonFiniteCount(statistics);
    return h(
      "span",
      { class: "strange" },
      lost === null ? app.t("dump.chain.non_finite") : app.t("dump.not_finite", { n: lost }),
    );
  }

  /** Draw the graph around the chain. @param {ChainPicture} picture */
  drawGraph(picture) {
    const { t } = this.page.app;
    const culprit = picture.boxes.find((box) => box.place === 0);
    if (culprit) {
      const label = t("graph.symptom.fault", { n: 1 });
      culprit.badge = { kind: "ill fault", text: SIGNS.fault, label };
    }
    this.boxes = picture.boxes;
    this.canvas.show(picture);
    const chained = picture.boxes.filter((box) => box.place !== null);
    this.canvas.light(new Set(chained.map((box) => box.id)));
    this.arrange();
  }

  /** Show the last operators of the chain, as many as are legible. */
  arrange() {
    const chained = (this.boxes ?? []).filter((box) => box.place !== null);
    if (!chained.length) return;
    const room = this.canvas.element.clientHeight / LEGIBLE;
    const end = Math.max(...chained.map(({ y, h: high }) => y + high));
    const near = chained.filter(({ y }) => end - y <= room);
    this.canvas.gather(near.length ? near : chained);
  }

  /** Open the operator of a box. @param {number | null} id of a box */
  pick(id) {
    const box = this.boxes?.find((candidate) => candidate.id === id);
    if (box?.recorded) this.open(box.recorded);
  }

  /** Open an operator. @param {string} operator as recorded */
  open(operator) {
    const { fault, page } = this;
    const { rank, step } = fault;
    page.change({ rank, step, graph: fault.tensors[0].graph, operator, tensor: "" });
  }

  /** Drop requests in flight. */
  end() {
    this.resizes.disconnect();
    this.requests.end();
  }
}
