// Card of one landscape, or of several over each other.

import { iconButton } from "../../components/button.js";
import { card } from "../../components/card.js";
import { icon } from "../../components/icons.js";
import { pinButton } from "../../components/pin_button.js";
import { h } from "../../core/dom.js";
import { whenNear } from "../../core/lazy_work.js";
import { saveButton } from "../../components/share.js";
import { landscapeFigure, name } from "./figures.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./figures.js").Landscape} Landscape */

/**
 * Create the card of a landscape, or of several over each other.
 * @param {import("../landscape.js").Landscapes} view
 * @param {Landscape[]} landscapes
 */
export function landscapeCard(view, landscapes) {
  const { app } = view;
  const { t } = app;
  const label = landscapes.map((landscape) => `${name(app, landscape)} ${landscape.tag}`).join(", ");
  const plot = h("div", { class: "chart landscape-chart", role: "img", "aria-label": label });
  const facts = landscapes.map((landscape) =>
    h(
      "span",
      { class: "row" },
      h("i", {
        class: "swatch",
        "data-run": landscape.run,
        style: { background: app.selection.colour(landscape.run) },
      }),
      name(app, landscape),
      ending(app, landscape),
    ),
  );
  const title = landscapes.length > 1 ? t("landscape.together") : landscapes[0].tag;
  const picture = iconButton("download", t("landscape.png"), () =>
    app.charts.download(plot, {
      format: "png",
      filename: label.replace(/[^\w.-]+/g, "_"),
      width: 1200,
      height: 900,
    }),
  );
  const tools = [picture, pinButton(app, () => element), saveButton(app, () => element, title)];
  const element = card({
    title,
    tools,
    body: plot,
    foot: h("div", { class: "row small wrap" }, facts),
    full: { label: t("common.fullscreen"), close: t("common.close") },
  });
  const draw = () =>
    app.charts.draw(
      plot,
      () => landscapeFigure(app, landscapes, view.look()),
      (chart) =>
        chart.on("plotly_relayout", (change) => {
          if (change["scene.camera"]) view.turn(change["scene.camera"], draw);
        }),
    );
  const visibility = whenNear(element, draw);
  visibility.ask();
  return { element, draw, end: () => (visibility.end(), app.charts.remove(plot)) };
}

/**
 * Create the text with the final loss and the method of reduction.
 * @param {App} app
 * @param {Landscape} landscape
 */
function ending({ t, format }, { convergence, decomposition }) {
  const loss = convergence && format.number(convergence.z[0], 5);
  const text = loss ? `${t("landscape.end")}: ${loss} · ${decomposition}` : decomposition;
  return h("span", { class: "muted" }, text);
}

/** Create the warning that landscapes over each other lie in different planes. @param {App} app */
export function planesNote({ t }) {
  return h("div", { class: "banner warn", role: "note" }, icon("warning"), t("landscape.planes"));
}
