// Statistics and values of one tensor.

import { h, replace } from "../../core/dom.js";
import { slotText } from "../../components/dump/rows.js";
import { tensorPlace } from "../../components/dump/state.js";
import { tensorFacts } from "../../components/dump/tensor_facts.js";
import { firstLook, ValueWindow } from "../../components/dump/value_window.js";

/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../dump.js").Page} Page */

/** Statistics and values of one tensor. The values stay while statistics are being computed. */
export class TensorView {
  /** @param {Page} page @param {Tensor} tensor a row of the server's response */
  constructor(page, tensor) {
    const { app } = page;
    this.app = app;
    const place = tensorPlace(page.state);
    const key = JSON.stringify(place);
    if (page.look?.key !== key) page.look = firstLook(key); // kept when the panel is drawn anew
    this.facts = h("div", null, tensorFacts(app, tensor));
    this.values =
      tensor.values && new ValueWindow(app, { routes: "v2/dump", tensor: place, look: page.look });
    this.element = h(
      "section",
      { class: "dump-tensor" },
      h("h3", null, slotText(app, tensor)),
      this.facts,
      this.values ? this.values.element : h("p", { class: "muted" }, app.t("dump.only_statistics")),
    );
    if (this.values) this.values.draw();
  }

  /** Drop requests in flight. */
  end() {
    if (this.values) this.values.end();
  }

  /** Show newer statistics. @param {Tensor} tensor the newer row */
  update(tensor) {
    replace(this.facts, tensorFacts(this.app, tensor));
  }
}
