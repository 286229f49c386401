// Frozen card: the content of a card or page at the time it was pinned, independent of its runs.

import { decodeFigure } from "../../core/frozen_figures.js";
import { decodeTree } from "../../core/frozen_tree.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { whenNear } from "../../core/lazy_work.js";
import { offlineTip } from "../../core/offline_tip.js";
import { legend } from "./legend.js";

/** Content loaded when the card comes near the window. */
export class FrozenCard {
  /**
   * @param {import("../../core/types.js").App} app @param {string} path
   * @param {import("./block.js").Block} block
   */
  constructor(app, path, block) {
    this.app = app;
    this.path = path;
    this.block = block;
    this.element = h("div", { class: "pinned" }, h("p", { class: "booting" }, app.t("page.loading")));
    this.requests = latest(this.element);
    this.visibility = whenNear(this.element, () => this.load());
    this.visibility.ask();
  }

  /** Request the content. */
  load() {
    const { app } = this;
    this.requests.ask(
      (signal) => app.api.get(this.path, {}, { signal }),
      (content) => this.draw(content),
      () => replace(this.element, h("p", { class: "muted" }, app.t("reports.unreadable"))),
    );
  }

  /**
   * Draw the content.
   * @param {{tree?: unknown, figures?: unknown, legend?: unknown, at?: unknown}} content
   */
  draw({ tree, figures, legend: entries, at }) {
    const { app } = this;
    const root = /** @type {Element} */ (decodeTree(tree));
    const runs = Array.isArray(entries) ? entries : [];
    const named = root.querySelector(".curve-legend.complete");
    const when = typeof at === "number" && Number.isFinite(at) ? app.format.time(at) : "?";
    replace(
      this.element,
      h("div", { class: `view-${this.block.view} frozen-view` }, root),
      legend(app, named ? [] : runs, app.t("reports.frozen_at", { time: when })),
    );
    const list = Array.isArray(figures) ? figures : [];
    this.element.querySelectorAll("[data-figure]").forEach((/** @type {Element} */ box) => {
      const figure = list[Number(box.getAttribute("data-figure"))];
      box.removeAttribute("data-figure");
      if (!figure || !Array.isArray(figure.data)) return;
      const current = () => decodeFigure(figure, (name) => app.theme.colour(name));
      app.charts.draw(box, current, offlineTip);
    });
  }

  /** Return null: there is nothing newer to freeze. */
  shown() {
    return null;
  }

  update() {}

  /** Remove the content. */
  end() {
    this.requests.end();
    this.visibility.end();
    this.app.charts.removeAll(this.element);
  }
}
