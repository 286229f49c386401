// Header of the timeline: each checkpoint with the run's loss at its step, if it is known.

import { h } from "../../core/dom.js";
import { lossAt } from "./origin.js";

/**
 * Create the header cells of the timeline, one for each checkpoint with the run's loss at its step.
 * @param {import("../checkpoint.js").Checkpoints} view
 * @returns {HTMLElement[]}
 */
export function timelineHeads(view) {
  const { app, loss } = view;
  const { t, format } = app;
  const value = (/** @type {number | null} */ step) =>
    loss && step !== null ? (lossAt(loss, step) ?? null) : null;
  const heads = view.series().map(({ id, label, step }) => {
    const at = value(step);
    const before = at !== null && at.step !== step && t("checkpoint.step", { step: at.step });
    const words = [
      id.slice(2),
      step !== null && t("checkpoint.step", { step }),
      at !== null && `${loss?.tag}: ${format.number(at.value)}`,
      before && t("checkpoint.loss_before", { step: at.step }),
    ];
    return h(
      "th",
      { scope: "col", class: "timeline-head", title: words.filter(Boolean).join(" · ") },
      h("button", { type: "button", onclick: () => view.change({ mode: "tensors", file: id }) }, label),
      loss && h("span", { class: "small muted" }, at === null ? "–" : format.number(at.value, 3)),
      before && h("span", { class: "small muted" }, before),
    );
  });
  const name = h("th", { scope: "col", class: "name" }, t("dump.column.name"));
  if (loss) name.append(h("span", { class: "small muted" }, loss.tag));
  return [name, ...heads];
}
