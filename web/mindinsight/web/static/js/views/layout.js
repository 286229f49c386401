// Custom charts page: charts of scalars arranged by a recorded layout, for the selected runs.

import { button } from "../components/button.js";
import { empty } from "../components/empty.js";
import { select } from "../components/field.js";
import { toast } from "../components/toast.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { layoutCard } from "./layout/card.js";

/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").App} App */
/** @typedef {{run: string, name: string, tag: string}} Layout */

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const view = new Layouts(root, app);
  await view.follow();
  return {
    update(change) {
      if (grownRuns(app, change, "layout").length) view.follow(leaveAsIs);
      const changed = grownRuns(app, change, "scalar");
      if (changed.length) view.refresh(changed);
    },
    unmount: () => view.end(),
  };
}

/** Charts of one layout. */
class Layouts {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    /** @type {import("./layout/card.js").Card[]} */
    this.cards = [];
    /** What is drawn, as text. */
    this.drawn = "";
    this.requests = latest(root);
    this.head = h("div", null);
    this.body = h("div", null);
    replace(root, this.head, this.body);
    this.unsubscribers = [
      app.selection.on(() => this.follow(leaveAsIs)),
      app.theme.on(() => this.cards.forEach((card) => card.paint())),
      app.url.on(() => this.follow(leaveAsIs)),
    ];
  }

  /** Request the layouts and the charts of the chosen one. @param {(error: Failure) => unknown} [failed] */
  follow(failed) {
    const { api, selection, url } = this.app;
    return this.requests.ask(
      async (signal) => {
        const { layouts } = await api.get("v2/layout/list", {}, { signal });
        const wanted = [url.get("layout", ""), url.get("tag", "")];
        const chosen =
          layouts.find((/** @type {Layout} */ { run, tag }) => run === wanted[0] && tag === wanted[1]) ??
          layouts.find((/** @type {Layout} */ { run }) => run === wanted[0]) ??
          layouts.find((/** @type {Layout} */ { run }) => selection.has(run)) ??
          layouts[0];
        if (!chosen) return { layouts, chosen, categories: [] };
        const of = selection.runs().map(({ id }) => id);
        const query = { run: chosen.run, tag: chosen.tag, of };
        const { categories } = await api.get("v2/layout/charts", query, { signal });
        return { layouts, chosen, categories };
      },
      (answer) => this.take(answer),
      failed,
    );
  }

  /**
   * Build the charts if they differ from those shown.
   * @param {{layouts: Layout[], chosen: Layout | undefined, categories: {title: string, charts:
   *   import("./layout/card.js").Chart[]}[]}} answer
   */
  take(answer) {
    const drawn = JSON.stringify(answer);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.cards.forEach((card) => card.end());
    this.cards = [];
    const { layouts, chosen, categories } = answer;
    if (!chosen) {
      replace(this.head);
      replace(this.body, nothing(this.app));
      return;
    }
    this.drawHead(layouts, chosen);
    const sections = categories.map(({ title, charts }) => {
      /** @type {import("./layout/card.js").Card[]} */
      const cards = charts.map((chart) => layoutCard(this.app, chart));
      this.cards.push(...cards);
      return h(
        "section",
        { class: "stack", "aria-label": title },
        h("h2", null, title),
        h(
          "div",
          { class: "cards" },
          cards.map(({ element }) => element),
        ),
      );
    });
    replace(this.body, h("div", { class: "stack" }, sections));
    this.cards.forEach((card) => card.load());
  }

  /** Draw the choice of a layout. @param {Layout[]} layouts @param {Layout} chosen */
  drawHead(layouts, chosen) {
    const { t, url } = this.app;
    const key = (/** @type {Layout} */ { run, tag }) => JSON.stringify([run, tag]);
    const several = (/** @type {Layout} */ layout) =>
      layouts.some(({ run, tag }) => run === layout.run && tag !== layout.tag);
    const chooser = select({
      label: t("layout.choose"),
      options: layouts.map((layout) => ({
        value: key(layout),
        label: several(layout) ? `${layout.name}, ${layout.tag}` : layout.name,
      })),
      value: key(chosen),
      onchange: (value) => {
        const [run, tag] = JSON.parse(value);
        url.set({ layout: run, tag });
        this.follow(leaveAsIs);
      },
    });
    /** Save the layout as a view. */
    const save = button(t("layout.save"), () => this.save(chosen));
    replace(this.head, h("div", { class: "toolbar" }, chooser, save));
  }

  /** Keep the layout as a saved view. @param {Layout} chosen */
  async save({ run, name, tag }) {
    const { api, t } = this.app;
    const title = t("layout.of", { run: name });
    const query = new URLSearchParams({ layout: run, tag }).toString();
    try {
      await api.send("PUT", "v2/views", { name: title.slice(0, 100), view: "layout", query });
      toast(t("layout.saved", { name: title }));
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      toast(t(error.key ?? "error.http", error.vars), { bad: true });
    }
  }

  /** Refresh the charts of runs with new points. @param {string[]} runs */
  refresh(runs) {
    this.cards.filter((card) => card.runs.some((run) => runs.includes(run))).forEach((card) => card.load());
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.unsubscribers.forEach((unsubscribe) => unsubscribe());
    this.cards.forEach((card) => card.end());
  }
}

/** Create the empty state. @param {App} app */
function nothing({ t }) {
  return empty({
    title: t("layout.none"),
    text: t("layout.none_how"),
    code: 'writer.add_custom_scalars({"Loss": {"both": ["Multiline", ["train/.*", "val/.*"]]}})',
  });
}
