// Mark values above, below, between or outside of limits; for this tag or for several.

import { button } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { Threshold, parseThreshold } from "./threshold.js";

const KINDS = ["above", "below", "between", "outside"];

/** @param {import("./card.js").Page} page @param {string} tag @param {() => void} close */
export function thresholdForm(page, tag, close) {
  const { app } = page;
  const now = parseThreshold(page.options().thresholds.get(tag));
  let kind = now?.kind ?? "above";
  const low = h("input", {
    type: "number",
    step: "any",
    value: String(now?.low ?? ""),
    "aria-label": app.t("scalar.threshold.low"),
  });
  const high = h("input", {
    type: "number",
    step: "any",
    value: String(now?.high ?? ""),
    "aria-label": app.t("scalar.threshold.high"),
  });
  const everywhere = h("input", { type: "checkbox" });
  const options = KINDS.map((value) => ({ value, label: app.t(`scalar.threshold.${value}`) }));
  const choose = select({
    label: app.t("scalar.threshold.mark"),
    options,
    value: kind,
    onchange: (value) => {
      kind = /** @type {any} */ (value);
      showHigh();
    },
  });
  const showHigh = () => (high.hidden = kind === "above" || kind === "below");
  showHigh();

  const tags = () => (everywhere.checked ? page.shown() : [tag]);

  /** @param {string | null} text */
  const set = (text) => {
    const thresholds = new Map(page.options().thresholds);
    for (const one of tags()) text === null ? thresholds.delete(one) : thresholds.set(one, text);
    page.change({ thresholds });
    close();
  };

  const apply = () => {
    const made = new Threshold(
      /** @type {any} */ (kind),
      Number(low.value),
      high.hidden ? Number(low.value) : Number(high.value),
    );
    const text = low.value === "" || (!high.hidden && high.value === "") ? null : made.toString();
    if (text && parseThreshold(text)) set(text);
    else low.setAttribute("aria-invalid", "true");
  };

  return h(
    "form",
    {
      class: "stack scalar-threshold",
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), apply()),
    },
    h("div", { class: "row" }, choose, low, high),
    h("label", { class: "check" }, everywhere, h("span", null, app.t("scalar.threshold.everywhere"))),
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, app.t("scalar.threshold.apply")),
      button(app.t("scalar.threshold.clear"), () => set(null)),
    ),
  );
}
