// Tools of a card: pinning, downloads, thresholds.

import { iconButton } from "../../components/button.js";
import { menu } from "../../components/dialog.js";
import { pinButton } from "../../components/pin_button.js";
import { h } from "../../core/dom.js";
import { savePage } from "../../components/share.js";
import { arrangeItems } from "./arrange_menu.js";
import { chartTitle, FORMULA, tagText } from "./options.js";
import { pictureOf } from "./picture.js";
import { thresholdForm } from "./threshold_form.js";

/** @typedef {import("./card.js").Page} Page */

/**
 * Create the buttons of a chart card: pinning, downloads, thresholds. `draw()` updates them.
 * @param {Page} page
 * @param {string[]} tags
 * @param {HTMLElement} plot
 */
export function toolsOf(page, tags, plot) {
  const { app } = page;
  const key = tags.join("|");
  const pinned = () => page.options().pins.includes(key);
  const pin = iconButton("pin", app.t("scalar.pin"), () => {
    const pins = page.options().pins.filter((other) => other !== key);
    page.change({ pins: pinned() ? pins : [...pins, key] });
  });
  const draw = () => pin.setAttribute("aria-pressed", String(pinned()));
  const more = iconButton("more", app.t("scalar.more"), () => {
    const box = menu(
      more,
      moreItems(page, tags, plot, () => box.close()),
      app.t("scalar.more"),
    );
  });
  const report = pinButton(app, () => /** @type {Element} */ (plot.closest(".card")));
  return { elements: [pin, report, more], draw };
}

/**
 * Create the entries of the menu.
 * @param {Page} page
 * @param {string[]} tags
 * @param {HTMLElement} plot
 * @param {() => void} close
 */
function moreItems(page, tags, plot, close) {
  const { app } = page;
  const runs = app.selection.runs().map((run) => run.id);
  const name = tags.join("_").replace(/[^\w.-]+/g, "_");
  const picture = (/** @type {string} */ format) => () => {
    close();
    const { x, y } = page.options();
    const scale = y === "linear" ? "" : ` (${app.t(`scalar.scale.${y}`)})`;
    const names = {
      title: chartTitle(app.t, tags),
      x: x.startsWith("tag:") ? x.slice("tag:".length) : app.t(`scalar.x.${x}`),
      y: `${tags.length > 1 ? app.t("scalar.tip.value") : tagText(tags[0])}${scale}`,
      text: app.theme.colour("--text"),
      background: app.theme.colour("--panel"),
    };
    const size = { width: 1200, height: 640 };
    app.charts.download(plot, { format, filename: name, ...size }, (figure) => pictureOf(figure, names));
  };
  const recorded = tags.filter((tag) => !tag.startsWith(FORMULA));
  const link = app.api.build("v2/scalar/download", { tag: recorded, run: runs });
  const items = [
    recorded.length > 0 &&
      h("a", { href: link, download: `${name}.csv`, class: "button item" }, app.t("scalar.csv")),
    h("button", { type: "button", class: "item", onclick: picture("png") }, app.t("scalar.png")),
    h("button", { type: "button", class: "item", onclick: picture("svg") }, app.t("scalar.svg")),
    h(
      "button",
      {
        type: "button",
        class: "item",
        onclick: () => (close(), savePage(app, plot.closest(".card") ?? plot, chartTitle(app.t, tags))),
      },
      app.t("share.card"),
    ),
  ];
  if (page.options().mixes.some((mix) => mix.join("|") === tags.join("|"))) {
    const drop = () =>
      page.change({ mixes: page.options().mixes.filter((mix) => mix.join("|") !== tags.join("|")) });
    items.push(h("button", { type: "button", class: "item", onclick: drop }, app.t("scalar.unmix")));
  }
  const arranging = arrangeItems(page, tags.join("|"), close);
  return [h("div", { class: "stack" }, arranging, items, thresholdForm(page, tags[0], close))];
}
