// Dialog that adds a chart: a formula over scalars, several tags over each other, or both.

import { button } from "../../components/button.js";
import { checklist } from "../../components/checklist.js";
import { dialog } from "../../components/dialog.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { FORMULA } from "./options.js";

/** @typedef {import("./card.js").Page} Page */

const LONGEST = 500; // characters of a formula that the server reads

/** Create the button that opens the dialog for a new chart. @param {Page} page */
export function addChartButton(page) {
  return button([icon("plus"), page.app.t("scalar.add")], () => new AddChart(page));
}

/** The open dialog. */
class AddChart {
  /** @param {Page} page */
  constructor(page) {
    const { t } = page.app;
    this.page = page;
    /** @type {Set<string>} */
    this.checked = new Set();
    this.formula = h("input", {
      type: "text",
      class: "mono",
      placeholder: "log(train/loss)",
      maxlength: LONGEST,
      spellcheck: "false",
    });
    this.fault = h("p", { class: "fault small", role: "alert" });
    this.requests = latest(this.fault);
    const tags = checklist({
      label: t("scalar.mix"),
      filter: t("scalar.filter"),
      allLabel: t("common.all"),
      noneLabel: t("common.none"),
      items: page.tags.map((tag) => ({ value: tag, label: tag })),
      checked: this.checked,
      onchange: () => {},
    });
    const onsubmit = (/** @type {Event} */ event) => (event.preventDefault(), this.add());
    const form = h(
      "form",
      { id: "add-chart", class: "stack", onsubmit },
      h("label", { class: "field" }, h("span", { class: "label" }, t("scalar.formula")), this.formula),
      h("p", { class: "muted small" }, t("scalar.formula.how")),
      this.fault,
    );
    const submit = h(
      "button",
      { type: "submit", form: "add-chart", class: "primary" },
      t("scalar.add_apply"),
    );
    this.box = dialog({
      title: t("scalar.add"),
      body: [form, h("p", { class: "label" }, t("scalar.mix")), tags],
      actions: [submit],
      close: t("common.close"),
    });
    this.formula.focus();
  }

  /** Add the chart, once the server has read the formula. */
  add() {
    const { app } = this.page;
    const formula = this.formula.value.trim().replace(/^=\s*/, ""); // people type it as in links
    if (!formula) {
      this.close([...this.checked]);
      return;
    }
    const run = app.selection.runs().map(({ id }) => id);
    this.requests.ask(
      (signal) => app.api.get("v2/scalar/formula", { formula, run }, { signal }),
      ({ missing }) => {
        if (!missing.length) this.close([FORMULA + formula, ...this.checked]);
        else replace(this.fault, app.t("scalar.formula.unknown", { tags: missing }));
      },
      (error) => replace(this.fault, app.t(error.key ?? "error.http", error.vars)),
    );
  }

  /** Close the dialog and add a chart of these tags, if there are any. @param {string[]} tags */
  close(tags) {
    this.box.close();
    const { mixes } = this.page.options();
    const known = mixes.some((mix) => mix.join("|") === tags.join("|"));
    if (tags.length && !known) this.page.change({ mixes: [...mixes, tags] });
  }
}
