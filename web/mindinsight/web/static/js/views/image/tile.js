// Overview tile with the newest image.

import { h, replace } from "../../core/dom.js";
import { mainTag } from "../../components/main_tag.js";

/** @type {import("../../core/types.js").TileKind} */
const imageTile = {
  kind: "image",
  title: "nav.image",
  view: "image",
  has: (run) => Boolean(run.kinds.image),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "image", run: run.id }, { signal });
    const tag = mainTag(tags, /.*/);
    const steps = await app.api.get("v2/image/steps", { run: run.id, tag }, { signal });
    return (box, figures) => {
      const column = app.api.column(steps.step);
      const row = column.length - 1;
      const caption = app.t("overview.at", { step: column[row] });
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, caption),
        h("span", null, `${steps.width} × ${steps.height}`),
      );
      const src = app.api.build("v2/image/picture", { run: run.id, tag, row });
      if (box.querySelector("img")?.getAttribute("src") !== src) {
        replace(box, h("img", { class: "picture", src, alt: `${tag}, ${caption}` }));
      }
    };
  },
};

export const tiles = [imageTile];
