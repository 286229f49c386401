// Card with charts. It loads when it comes near the window, drops stale responses and removes its charts at
// the end.

import { h } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { whenNear } from "../core/lazy_work.js";
import { saveButton } from "./share.js";
import { card } from "./card.js";
import { lookAlikeMark } from "./look_alike.js";
import { pinButton } from "./pin_button.js";

/** Create the element that a chart is drawn in. @param {string} label for screen readers */
export function plotArea(label) {
  return h("div", { class: "chart", role: "img", "aria-label": label });
}

/**
 * Create a card around charts. `load()` fetches data once the card is near the window; `end()` removes the
 * charts.
 * @param {import("../core/types.js").App} app
 * @param {Object} options
 * @param {string} options.title
 * @param {HTMLElement[]} options.plots made by `plotArea`
 * @param {HTMLElement} [options.body] what holds the plots where there is more than one
 * @param {HTMLElement} [options.foot]
 * @param {() => void} options.load fetch the data
 * @param {() => import("../core/dom.js").Child} [options.controls] of a chart that fills the window
 */
export function chartCard(app, { title, plots, body = plots[0], foot, load, controls }) {
  /** @type {HTMLElement} */
  const element = card({
    title,
    mark: lookAlikeMark(app, title),
    tools: [pinButton(app, () => element), saveButton(app, () => element, title)],
    body,
    foot,
    full: { label: app.t("common.fullscreen"), close: app.t("common.close"), controls },
  });
  const requests = latest(element);
  const near = whenNear(element, load);
  return {
    element,
    requests,
    /** Fetch the data now if the card is near the window, else when it comes near. */
    load: near.ask,
    end() {
      requests.end();
      near.end();
      plots.forEach((plot) => app.charts.remove(plot));
    },
  };
}
