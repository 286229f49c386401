// Overview tile with the newest text.

import { h, replace } from "../../core/dom.js";
import { mainTag } from "../../components/main_tag.js";
import { markdown } from "../../components/markdown.js";

/** @type {import("../../core/types.js").TileKind} */
const textTile = {
  kind: "text",
  title: "nav.text",
  view: "text",
  has: (run) => Boolean(run.kinds.text),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "text", run: run.id }, { signal });
    const tag = mainTag(tags, /.*/);
    const steps = await app.api.get("v2/text/steps", { run: run.id, tag }, { signal });
    const row = app.api.column(steps.step).length - 1;
    const { tree, step } = await app.api.get("v2/text/content", { run: run.id, tag, row }, { signal });
    return (box, figures) => {
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, app.t("overview.at", { step })),
      );
      replace(box, h("div", { class: "text-tile" }, markdown(tree)));
    };
  },
};

export const tiles = [textTile];
