// Search for nodes by name, pattern or type. Results are shown within their scopes.

import { check, searchBox } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { faultText } from "../../core/patterns.js";
import { Stepper } from "./stepper.js";

/** @typedef {import("../../core/answers.js").Outer} Outer */
/** @typedef {import("../../core/answers.js").Ask} Ask */
/** @typedef {import("../../core/answers.js").FoundNode} FoundNode */
/** @typedef {import("../../core/answers.js").SearchResult} SearchResult */
/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {Object} Actions
 * @property {Ask} ask
 * @property {(id: number) => void} goTo
 * @property {(node: number) => void} outer
 * @property {(hits: number[]) => void} mark
 */

const MOST = 100; // nodes in the results

/**
 * Create the search for nodes of a graph, with its list of results.
 * @param {App} app
 * @param {Actions} actions
 */
export function createFinder(app, actions) {
  return new Finder(app, actions);
}

/** Search box with filters and results. */
class Finder {
  /** @param {App} app @param {Actions} actions */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    /** The type to look for, in whatever graph. */
    this.selectedType = "";
    this.parts = controls(app, {
      typed: () => this.typed(),
      choose: (type) => ((this.selectedType = type), this.typed()),
    });
    this.element = this.parts.element;
    this.stepper = new Stepper(app.t, (hit) =>
      "id" in hit ? actions.goTo(hit.id) : actions.outer(hit.outer),
    );
    this.element.insertBefore(this.stepper.element, this.parts.results);
    this.parts.box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") this.stepper.step(event.shiftKey ? -1 : 1);
    });
    this.searching = latest(this.element);
    this.listing = latest(this.element);
    this.reread();
  }

  /** Read the search from the address. */
  reread() {
    const { url } = this.app;
    this.parts.box.box.value = url.get("q", "");
    this.parts.pattern.box.checked = url.get("re") === "1";
    this.selectedType = url.get("type", "");
  }

  /** Focus the search box. */
  focus() {
    this.parts.box.box.focus();
  }

  /** Load the types of another graph and repeat the search in it. */
  reset() {
    const { types } = this.parts;
    this.searching.end();
    return this.listing.ask(
      (signal) => this.actions.ask("v2/graph/types", {}, signal),
      (response) => {
        replace(types, typeOptions(this.app, response.types));
        types.value = response.types[this.selectedType] ? this.selectedType : "";
        this.search();
      },
    );
  }

  /** Write the search to the address and run it. */
  typed() {
    const { box, pattern } = this.parts;
    const re = pattern.box.checked ? "1" : null;
    this.app.url.set({ q: box.box.value.trim(), type: this.selectedType, re });
    this.search();
  }

  /** Request the results and show them, or show why the pattern is invalid. */
  search() {
    const { box, pattern, results, types } = this.parts;
    const q = box.box.value.trim();
    const regex = pattern.box.checked;
    box.invalid("");
    results.hidden = !q && !types.value;
    if (results.hidden) {
      this.found(null);
      return this.searching.end();
    }
    const params = { q, regex, type: types.value || null, limit: MOST };
    return this.searching.ask(
      async (signal) => {
        const fault = regex && faultText(this.app, q); // what no dialect takes needs no request
        if (fault) throw new SyntaxError(fault);
        return this.actions.ask("v2/graph/search", params, signal);
      },
      (response) => {
        this.found(response);
        replace(results, resultTree(this.app, response, this.actions));
      },
      ({ key, vars, message = "" }) => {
        const text = key ? this.app.t(key, vars) : message;
        this.found(null);
        box.invalid(text);
        replace(results, h("p", { class: "small", role: "status" }, text));
      },
    );
  }

  /**
   * Mark the results in the drawing and offer to step through them; null clears both.
   * @param {SearchResult | null} response null for nothing
   */
  found(response) {
    const { hits = [], outer = [], total = 0, outer_total: more = 0 } = response ?? {};
    const nodes = hits.map((/** @type {number} */ id) => ({ id }));
    const outers = outer.map((entry) => ({ outer: entry.node }));
    this.stepper.show([...nodes, ...outers], total + more);
    this.actions.mark(hits);
  }
}

/** Create the controls. @param {App} app @param {{typed: () => void, choose: (type: string) => void}} on */
function controls({ t }, { typed, choose }) {
  const box = searchBox({
    label: t("graph.search"),
    placeholder: t("graph.search.how"),
    onchange: typed,
  });
  /** @type {HTMLSelectElement} */
  const types = h("select", { "aria-label": t("graph.search.type"), onchange: () => choose(types.value) });
  const pattern = check({ label: t("graph.search.regex"), checked: false, onchange: typed });
  const results = h("div", {
    class: "graph-results scroll",
    role: "region",
    "aria-label": t("graph.search.results"),
    tabindex: "0",
    hidden: true,
  });
  const choices = h("div", { class: "row" }, types, pattern);
  const element = h("section", { class: "graph-finder" }, box, choices, results);
  return { box, types, pattern, results, element };
}

/** Create the options of the type selector. @param {App} app @param {Record<string, number>} types */
function typeOptions({ t }, types) {
  const options = Object.entries(types).map(([type, count]) =>
    h("option", { value: type }, `${type || t("graph.call")} (${count})`),
  );
  return [h("option", { value: "" }, t("graph.search.any")), options];
}

/**
 * Create the tree of the nodes that were found.
 * @param {App} app
 * @param {SearchResult} response
 * @param {Actions} actions
 */
function resultTree({ t }, response, { goTo, outer }) {
  const head =
    response.total > response.shown
      ? t("graph.search.some", { shown: response.shown, n: response.total })
      : t("graph.search.found", { n: response.total + response.outer_total });

  /** @param {FoundNode} node @returns {HTMLElement} */
  const branch = (node) => {
    const open = { type: "button", class: "link", title: node.path, onclick: () => goTo(node.id) };
    return h(
      "li",
      null,
      h("i", { class: `graph-key ${node.kind}` }),
      node.found
        ? h("button", open, node.label || t("graph.call"))
        : h("span", { class: "muted", title: node.path }, node.label),
      node.inside.length ? h("ul", { class: "branch" }, node.inside.map(branch)) : null,
    );
  };

  const leaf = (/** @type {Outer} */ node) =>
    h(
      "li",
      null,
      h("i", { class: `graph-key ${node.kind}` }),
      h("button", { type: "button", class: "link", onclick: () => outer(node.node) }, node.label),
      h("span", { class: "muted small" }, ` ${node.text}`),
    );

  return [
    h("p", { class: "muted small", role: "status" }, head),
    response.tree.length ? h("ul", { class: "branch" }, response.tree.map(branch)) : null,
    response.outer.length ? h("ul", { class: "branch" }, response.outer.map(leaf)) : null,
  ];
}
