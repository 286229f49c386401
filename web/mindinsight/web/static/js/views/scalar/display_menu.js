// Panel of less frequent chart settings: x axis, kind of smoothing, size, order of the tooltip.

import { menu } from "../../components/dialog.js";
import { check, select } from "../../components/field.js";
import { h } from "../../core/dom.js";
import { changedSettings } from "./options.js";
import { smoothing, smoothingKind, xAxis, yScale } from "./controls.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {import("./options.js").Options} Options */

/**
 * Create the button of the panel, with the number of settings that differ from the defaults.
 * @param {Page} page
 */
export function displayButton(page) {
  const { t } = page.app;
  const title = t("scalar.display");
  const count = h("span", { class: "badge" });
  const opener = h(
    "button",
    {
      type: "button",
      class: "opens",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      onclick: () => {
        const open = box?.isConnected;
        if (open) box?.close();
        else {
          box = menu(opener, h("div", { class: "stack chart-settings" }, displayControls(counting())), title);
        }
      },
    },
    title,
    count,
  );
  /** @type {ReturnType<typeof menu> | null} */
  let box = null;
  const draw = () => {
    const n = changedSettings(page.options(), page.kind).length;
    count.hidden = !n;
    count.textContent = n ? String(n) : "";
    opener.title = n ? t("scalar.display.changed", { n }) : "";
    return opener;
  };
  const counting = () => ({
    ...page, // as it is when the panel opens: the tags may come after the button
    change: (/** @type {Partial<Options>} */ changes) => {
      page.change(changes);
      draw();
    },
  });
  return { drawn: draw };
}

/**
 * Create the controls. What the toolbar of a narrow window has no room for is among them.
 * @param {Page} page
 */
function displayControls(page) {
  const { t } = page.app;
  const options = page.options();
  const size = select({
    label: t("scalar.size"),
    options: ["small", "medium", "large"].map((value) => ({ value, label: t(`scalar.size.${value}`) })),
    value: options.size,
    onchange: (value) => page.change({ size: /** @type {Options["size"]} */ (value) }),
  });
  const order = select({
    label: t("scalar.tip.order"),
    options: ["distance", "value", "name"].map((value) => ({ value, label: t(`scalar.tip.by.${value}`) })),
    value: options.tip,
    onchange: (value) => page.change({ tip: /** @type {Options["tip"]} */ (value) }),
  });
  const overwritten = check({
    label: t("scalar.overwritten"),
    checked: options.overwritten,
    onchange: (on) => page.change({ overwritten: on }),
  });
  const { selection } = page.app;
  const dashes = check({
    label: t("scalar.dashes"),
    checked: selection.colouring.dashed(),
    onchange: (on) => selection.colouring.useDashes(on),
  });
  const clip = check({
    label: t("scalar.clip"),
    checked: options.clip,
    onchange: (on) => page.change({ clip: on }),
  });
  const facts = check({
    label: t("scalar.facts"),
    checked: options.facts,
    onchange: (on) => page.change({ facts: on }),
  });
  const narrow = matchMedia("(max-width: 760px)").matches && [smoothing(page), yScale(page)];
  return [narrow, smoothingKind(page), xAxis(page), clip, facts, size, order, overwritten, dashes];
}
