// The graph of a step, coloured by a statistic of the outputs or by how far they are off.

import { iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { createCanvas } from "../graph/canvas.js";
import { inWords } from "./failure.js";
import { number } from "./rows.js";
import { place, STATISTICS } from "./state.js";

/** @typedef {import("../dump.js").Page} Page */

const COUNTING = 1500; // ms between two pictures while statistics are counted

/** @param {Page} page */
export function graphPart(page) {
  const { app, state } = page;
  const { t } = app;
  const look = { colour: app.url.get("paint", "nans"), open: /** @type {number[] | null} */ (null) };
  /** @type {any} */
  let picture = null;
  const asking = latest();
  const canvas = createCanvas(app, { select: pick, outer: () => undefined, toggle, key: () => false });
  const tools = h("div", { class: "toolbar" });
  const told = h("span", { class: "muted", role: "status" });
  const element = h("div", { class: "panel dump-graph" }, tools, canvas.element);

  /** @param {number | null} id */
  function pick(id) {
    const box = picture?.boxes.find((/** @type {any} */ one) => one.id === id);
    canvas.select(id);
    told.textContent = box && box.value !== null ? `${box.label}: ${label()} ${number(app, box.value)}` : "";
    if (box?.recorded) page.change({ graph: box.graph, operator: box.recorded, tensor: "" });
  }

  /** @param {number} id */
  function toggle(id) {
    const open = new Set(picture.open);
    if (!open.delete(id)) open.add(id);
    look.open = [...open];
    draw(id);
  }

  const label = () => (look.colour === "error" ? t("dump.graph.error") : t(`dump.statistic.${look.colour}`));

  /** @param {number} [keep] a place that stays where it is */
  const draw = (keep) => {
    const params = {
      ...place(state),
      colour: look.colour,
      open: look.open?.join(",") ?? null,
      comparison: page.comparison || null,
    };
    asking.ask(
      () => app.api.get("v2/dump/picture", params),
      (found) => {
        picture = found;
        for (const box of picture.boxes) box.heat = box.share;
        canvas.show(picture, { keep });
        if (!picture.done) asking.later(() => draw(0), COUNTING);
      },
      (error) => (told.textContent = inWords(app, error)),
    );
  };

  const drawTools = () => {
    const options = [...STATISTICS, ...(page.comparison ? ["error"] : [])].map((value) => ({
      value,
      label: value === "error" ? t("dump.graph.error") : t(`dump.statistic.${value}`),
    }));
    const colour = select({
      label: t("dump.graph.colour"),
      options,
      value: look.colour,
      onchange: (value) => {
        look.colour = value;
        app.url.set({ paint: value === "nans" ? null : value });
        draw(0);
      },
    });
    replace(
      tools,
      colour,
      iconButton("plus", t("dump.graph.in"), () => canvas.zoom(1.25)),
      iconButton("minus", t("dump.graph.out"), () => canvas.zoom(0.8)),
      iconButton("reset", t("dump.graph.fit"), () => canvas.fit()),
      told,
    );
  };

  drawTools();
  draw();
  return {
    element,
    refresh: () => draw(0),
    end: asking.end,
  };
}
