// Overview tile with the newest PR curve.

import { h, replace } from "../../core/dom.js";
import { mainTag } from "../../components/main_tag.js";
import { curveFigure } from "./figures.js";

const NEWEST = Number.MAX_SAFE_INTEGER;

/** @type {import("../../core/types.js").TileKind} */
const prCurveTile = {
  kind: "pr_curve",
  title: "nav.pr_curve",
  view: "pr_curve",
  has: (run) => Boolean(run.kinds.pr_curve),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "pr_curve", run: run.id }, { signal });
    const tag = mainTag(tags, /.*/);
    const query = { run: [run.id], tag, step: NEWEST };
    const { runs } = await app.api.columns("v2/pr_curve/at", query, { signal });
    return (box, figures) => {
      const [curve] = runs;
      const average = app.format.number(curve.average_precision);
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, app.t("overview.at", { step: curve.step })),
        h("span", null, app.t("pr_curve.average", { value: average })),
      );
      if (!box.querySelector(".chart")) {
        replace(box, h("div", { class: "chart", role: "img", "aria-label": tag }));
      }
      const plot = /** @type {Element} */ (box.querySelector(".chart"));
      app.charts.draw(plot, () => curveFigure(app, runs));
    };
  },
};

export const tiles = [prCurveTile];
