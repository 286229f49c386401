// Toolbar of the landscape page.

import { button, segments } from "../../components/button.js";
import { check, select, slider } from "../../components/field.js";
import { icon } from "../../components/icons.js";
import { h, replace } from "../../core/dom.js";
import { MAPS } from "./figures.js";
import { labelOf } from "../../components/landscape/intervals.js";

/** @typedef {import("../landscape.js").Landscapes} Landscapes */

/** Create the toolbar of the landscape page. `tell()` updates it. @param {Landscapes} view */
export function toolbar(view) {
  const { app, state } = view;
  const { t } = app;
  const modes = ["lines", "map", "surface"].map((value) => ({ value, label: t(`landscape.mode.${value}`) }));
  const intervals = view.intervals().map((value) => ({ value, label: labelOf(t, value) }));
  const colours = MAPS.map((value) => ({ value, label: value || t("landscape.colours.page") }));
  const path = pathControls(view);
  const element = h(
    "div",
    { class: "toolbar" },
    segments({
      label: t("landscape.mode"),
      options: modes,
      value: state.mode,
      onchange: (mode) => view.change({ mode }),
    }),
    select({
      label: t("landscape.interval"),
      options: intervals,
      value: state.interval,
      onchange: (interval) => view.change({ interval }),
    }),
    view.now().length > 1 &&
      check({ label: t("landscape.over"), checked: state.over, onchange: (over) => view.change({ over }) }),
    select({
      label: t("landscape.colours"),
      options: colours,
      value: state.colours,
      onchange: (value) => view.change({ colours: value }),
    }),
    state.mode !== "surface" &&
      slider({
        label: t("landscape.lines"),
        min: 5,
        max: 60,
        step: 1,
        value: state.lines,
        onchange: (lines) => view.change({ lines }),
      }),
    path?.element,
  );
  return { element, tell: () => path?.tell() };
}

/**
 * Create the controls of the path, or return null if it has fewer than two points.
 * @param {Landscapes} view
 */
function pathControls(view) {
  const { t } = view.app;
  const longest = view.longest();
  if (longest < 2) return null;
  const at = () => Math.min(view.state.shown, longest);
  const move = slider({
    label: t("landscape.path"),
    min: 1,
    max: longest,
    step: 1,
    value: at(),
    onchange: (point) => view.step(point),
  });
  const play = button("", () => (view.playing ? view.step(Infinity) : view.play()), { class: "icon quiet" });
  const tell = () => {
    const label = t(view.playing ? "landscape.pause" : "landscape.play");
    play.setAttribute("aria-label", label);
    play.title = label;
    replace(play, icon(view.playing ? "pause" : "play"));
    move.set(at());
  };
  tell();
  return { element: h("div", { class: "row" }, play, move), tell };
}
