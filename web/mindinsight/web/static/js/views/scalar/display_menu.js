// Menu of less frequent chart settings: size, order of the tooltip, overwritten points.

import { menu } from "../../components/dialog.js";
import { check, select } from "../../components/field.js";
import { h } from "../../core/dom.js";

/** @typedef {import("./card.js").Page} Page */

/** Create the button of the menu. @param {Page} page */
export function displayButton(page) {
  const { t } = page.app;
  const title = t("scalar.display");
  const opener = h(
    "button",
    {
      type: "button",
      class: "opens",
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
      onclick: () => {
        if (box?.isConnected) box.close();
        else box = menu(opener, h("div", { class: "stack" }, displayControls(page)), title);
      },
    },
    title,
  );
  /** @type {ReturnType<typeof menu> | null} */
  let box = null;
  return opener;
}

/** Create the controls. @param {Page} page */
function displayControls(page) {
  const { t } = page.app;
  const options = page.options();
  const size = select({
    label: t("scalar.size"),
    options: ["small", "medium", "large"].map((value) => ({ value, label: t(`scalar.size.${value}`) })),
    value: options.size,
    onchange: (value) => page.change({ size: /** @type {any} */ (value) }),
  });
  const order = select({
    label: t("scalar.tip.order"),
    options: ["distance", "value", "name"].map((value) => ({ value, label: t(`scalar.tip.by.${value}`) })),
    value: options.tip,
    onchange: (value) => page.change({ tip: /** @type {any} */ (value) }),
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
  return [size, order, overwritten, dashes];
}
