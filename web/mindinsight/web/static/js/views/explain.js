// Explain page: what is wrong with one run, each part with links to its evidence.

import { button } from "../components/button.js";
import { empty, loading } from "../components/empty.js";
import { searchSelect } from "../components/search_select.js";
import { stateMark } from "../components/runs/columns.js";
import { COPY } from "../core/copy.js";
import { h, replace } from "../core/dom.js";
import { latest } from "../core/latest.js";
import { consequences, partPanel } from "./explain/parts.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Failure} Failure */
/** @typedef {import("../core/types.js").Run} Run */
/** @typedef {import("../core/answers.js").Explanation} Explanation */

export const alone = true;

const PATH = "v2/explanation";
const POLL_MS = 250;

/**
 * Mount the page.
 * @param {HTMLElement} root
 * @param {App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const page = new Explain(root, app);
  await page.show();
  return { unmount: () => page.end() };
}

/** Page of one run. */
class Explain {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.requests = latest(root);
    this.head = h("div", { class: "toolbar" });
    this.body = h("div", { class: "stack explain-parts", "aria-live": "polite" });
    /** Run that was searched; "" before. */
    this.shown = "";
    /** The only dump that was searched; "" for all. */
    this.dump = "";
    /** How much of it was read then. */
    this.extent = "";
    this.offs = [app.url.on(() => this.show()), app.selection.on(() => this.drawHead())];
  }

  /** Leave the page. */
  end() {
    this.requests.end();
    this.offs.forEach((off) => off());
  }

  /** Show the page for the run in the address, and search it. */
  async show() {
    const { app } = this;
    const run = app.selection.named();
    const dump = app.url.get("dump") ?? "";
    if (run && run.id === this.shown && dump === this.dump) return;
    this.dump = dump;
    replace(this.root, this.head, this.body);
    this.shown = run?.id ?? "";
    this.root.dataset.object = this.shown; // names a saved page
    this.drawHead();
    if (run) await this.search(run);
    else {
      const id = app.url.get("run");
      const title = id === null ? app.t("explain.no_run") : app.t("error.unknown_run", { run: id });
      replace(this.body, empty({ title }));
    }
  }

  /** Draw the title, the choice of a run, and the button that searches again. */
  drawHead() {
    const { app, shown } = this;
    const run = app.selection.run(shown);
    if (this.head.contains(document.activeElement)) return; // somebody is choosing
    const options = app.selection.all().map(({ id, name }) => ({ value: id, label: name }));
    const grown = run && this.extent && this.extent !== extentOf(run);
    replace(
      this.head,
      h("h1", null, app.t("nav.explain")),
      searchSelect({
        label: app.t("explain.run"),
        id: "explain-runs",
        options,
        value: shown,
        onchange: (id) => app.router.go(app.url.link("explain", { run: id })),
      }),
      run && stateMark(app, run, app.selection.list().now),
      run && h("a", { href: app.url.link("overview", { run: run.id }) }, app.t("nav.overview")),
      run &&
        !COPY &&
        button(app.t("explain.again"), () => this.search(run), grown ? { class: "primary" } : {}),
    );
  }

  /** Search a run and draw what is found. @param {Run} run */
  search(run) {
    const { api } = this.app;
    this.extent = extentOf(run);
    replace(this.body, loading(this.app.t("explain.searching")));
    return this.requests.ask(
      (signal) => api.send("POST", api.build(PATH, { run: run.id, dump: this.dump || null }), {}, { signal }),
      ({ explanation }) => this.poll(explanation, 0),
      (error) => this.failed(error),
    );
  }

  /**
   * Draw the parts known so far, until the search ends.
   * @param {number} explanation its number
   * @param {number} drawn number of parts that are drawn
   */
  poll(explanation, drawn) {
    return this.requests.join(
      (signal) => this.app.api.get(`${PATH}/${explanation}`, {}, { signal }),
      (/** @type {Explanation} */ answer) => {
        if (answer.done || answer.parts.length > drawn) this.draw(answer);
        if (!answer.done) this.requests.later(() => this.poll(explanation, answer.parts.length), POLL_MS);
      },
      (error) => this.failed(error),
    );
  }

  /** Draw the parts, and that the search goes on. @param {Explanation} answer */
  draw({ done, error, progress, parts }) {
    const { t } = this.app;
    const text = progress ? `${t(progress.key)}: ${progress.done}/${progress.total}` : t("explain.searching");
    replace(
      this.body,
      error ? h("p", { class: "badge bad" }, error) : null,
      parts.filter(({ after }) => !after).map((part) => partPanel(this.app, part)),
      consequences(this.app, parts),
      done ? null : loading(text),
    );
    this.drawHead();
  }

  /** Show why the search failed. @param {Failure} error */
  failed(error) {
    if (error.name === "AbortError") return undefined;
    const text = this.app.t(error.key ?? "error.http", error.vars);
    return replace(this.body, h("p", { class: "badge bad" }, text));
  }
}

/** Return a text that differs when the run has new data. @param {Run} run */
function extentOf(run) {
  return JSON.stringify([run.read, run.step, run.kinds, run.finished]);
}
