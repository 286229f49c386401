// Form of a threshold for one tag or all shown ones.

import { button } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { Threshold, parseThreshold } from "./threshold.js";

/** @typedef {import("./card.js").Page} Page */

const KINDS = ["above", "below", "between", "outside"];

/**
 * Create the form that sets the threshold of one tag, or of all shown ones.
 * @param {Page} page
 * @param {string} tag
 * @param {() => void} close
 */
export function thresholdForm(page, tag, close) {
  const { t } = page.app;
  const everywhere = h("input", { type: "checkbox" });
  const limits = limitFields(page, tag);

  /** @param {string | null} text */
  const set = (text) => {
    const thresholds = new Map(page.options().thresholds);
    for (const marked of everywhere.checked ? page.shown() : [tag]) {
      if (text === null) thresholds.delete(marked);
      else thresholds.set(marked, text);
    }
    page.change({ thresholds });
    close();
  };

  /** @param {Event} event */
  const onsubmit = (event) => {
    event.preventDefault();
    const text = limits.read();
    if (text) set(text);
  };

  return h(
    "form",
    { class: "stack scalar-threshold", onsubmit },
    h("div", { class: "row" }, limits.elements),
    h("label", { class: "check" }, everywhere, h("span", null, t("scalar.threshold.everywhere"))),
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, t("scalar.threshold.apply")),
      button(t("scalar.threshold.clear"), () => set(null)),
    ),
  );
}

/**
 * Create the inputs of kind and limits. `read()` returns the threshold as text, or null if a limit is
 * missing.
 * @param {Page} page
 * @param {string} tag
 */
function limitFields(page, tag) {
  const { t } = page.app;
  const current = parseThreshold(page.options().thresholds.get(tag));
  /** @type {Threshold["kind"]} */
  let kind = current?.kind ?? "above";
  const field = (/** @type {"low" | "high"} */ end) =>
    h("input", {
      type: "number",
      step: "any",
      value: String(current?.[end] ?? ""),
      "aria-label": t(`scalar.threshold.${end}`),
    });
  const [low, high] = [field("low"), field("high")];
  const showHigh = () => (high.hidden = kind === "above" || kind === "below");
  showHigh();
  const chooser = select({
    label: t("scalar.threshold.mark"),
    options: KINDS.map((value) => ({ value, label: t(`scalar.threshold.${value}`) })),
    value: kind,
    onchange: (value) => {
      kind = /** @type {Threshold["kind"]} */ (value);
      showHigh();
    },
  });
  return {
    elements: [chooser, low, high],
    /** The threshold as the address has it; null, and marked as invalid, when limits are missing or wrong. */
    read() {
      const upper = high.hidden ? low : high;
      const complete = low.value !== "" && upper.value !== "";
      const threshold = new Threshold(kind, Number(low.value), Number(upper.value));
      const text = complete ? threshold.toString() : null;
      if (text && parseThreshold(text)) return text;
      low.setAttribute("aria-invalid", "true");
      return null;
    },
  };
}
