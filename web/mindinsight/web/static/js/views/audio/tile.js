// Overview tile with the waveform of the newest sound.

import { h, replace } from "../../core/dom.js";
import { mainTag } from "../../components/main_tag.js";
import { factsOf, problemsOf } from "./facts.js";
import { drawWaveform } from "./waveform.js";

/** @type {import("../../core/types.js").TileKind} */
const audioTile = {
  kind: "audio",
  title: "nav.audio",
  view: "audio",
  has: (run) => Boolean(run.kinds.audio),
  async load(app, run, signal) {
    const { tags } = await app.api.get("v2/tags", { kind: "audio", run: run.id }, { signal });
    const tag = mainTag(tags, /.*/);
    const steps = await app.api.get("v2/audio/steps", { run: run.id, tag }, { signal });
    const column = app.api.column(steps.step);
    const row = column.length - 1;
    const query = { run: run.id, tag, row, columns: 300 };
    const facts = await app.api.columns("v2/audio/waveform", query, { signal });
    return (box, figures) => {
      replace(
        figures,
        h("span", { class: "mono ellipsis", title: tag }, tag),
        h("span", null, app.t("overview.at", { step: column[row] })),
        h("span", null, factsOf(app, facts)),
      );
      if (!facts.shown_channels || !facts.low.length) {
        replace(box, h("p", { class: "muted" }, problemsOf(app, facts).join(" ")));
        return;
      }
      const canvas = h("canvas", { class: "waveform", role: "img", "aria-label": app.t("audio.waveform") });
      replace(box, canvas);
      drawWaveform(canvas, facts, { wave: app.selection.colour(run.id), cursor: "", at: 0 });
    };
  },
};

export const tiles = [audioTile];
