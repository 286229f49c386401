// Page of computational graphs: one graph, or two compared side by side.

import { segments } from "../components/button.js";
import { OneGraph } from "./graph/single_page.js";
import { TwoGraphs } from "./graph/pair_page.js";

export const alone = true;

const MODES = ["one", "compare"];

/**
 * Mount the page. The address says which of the two modes is shown.
 * @param {HTMLElement} root
 * @param {import("../core/types.js").App} app
 */
export function mount(root, app) {
  const modeOf = () => (app.url.get("m") === "compare" ? "compare" : "one");
  let mode = modeOf();

  const modes = () => {
    const options = MODES.map((value) => ({ value, label: app.t(`graph.mode.${value}`) }));
    return segments({ label: app.t("graph.mode"), value: mode, options, onchange: change });
  };
  const make = () => (mode === "compare" ? new TwoGraphs(root, app, modes) : new OneGraph(root, app, modes));

  /** The graph stays; what is open in it is begun anew. @param {string} next */
  const change = (next) => {
    app.url.set({ m: next === "compare" ? next : null, open: null, open2: null, node: null, node2: null });
    restart();
  };

  /** The address is another. */
  const restart = () => {
    if (mode === modeOf()) return page.restart();
    page.end();
    mode = modeOf();
    page = make();
    return page.start();
  };

  let page = make();
  page.start();
  const offUrl = app.url.on(restart);
  return {
    update: (/** @type {import("../core/types.js").Change} */ difference) => page.changed(difference),
    unmount() {
      offUrl();
      page.end();
    },
  };
}
