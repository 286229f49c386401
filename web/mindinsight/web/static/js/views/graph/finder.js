// Search for nodes by part of a name, pattern or type; results are shown in their scopes.

import { check, searchBox } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @typedef {Object} Actions
 * @property {(path: string, params: Record<string, any>, signal: AbortSignal) => Promise<any>} ask
 * @property {(id: number) => void} goTo
 * @property {(node: number) => void} outer
 */

const MOST = 100; // nodes in the results

/** @param {App} app @param {Actions} actions */
export function createFinder(app, actions) {
  const { t } = app;
  let selectedType = ""; // the type to look for, in whatever graph
  const { box, types, pattern, results, element } = controls(app, {
    typed: () => typed(),
    choose: (type) => ((selectedType = type), typed()),
  });
  const [searching, listing] = [latest(element), latest(element)];

  /** What the address asks for. */
  const reread = () => {
    box.box.value = app.url.get("q", "");
    pattern.box.checked = app.url.get("re") === "1";
    selectedType = app.url.get("type", "");
  };

  /** Somebody looks for something else. */
  const typed = () => {
    app.url.set({ q: box.box.value.trim(), type: selectedType, re: pattern.box.checked ? "1" : null });
    search();
  };

  const search = () => {
    const q = box.box.value.trim();
    const regex = pattern.box.checked;
    box.invalid("");
    results.hidden = !q && !types.value;
    if (results.hidden) return searching.end();
    return searching.ask(
      async (signal) => {
        if (regex) new RegExp(q); // what no dialect takes needs no request
        return actions.ask("v2/graph/search", { q, regex, type: types.value || null, limit: MOST }, signal);
      },
      (response) => replace(results, resultTree(app, response, actions)),
      ({ key, vars, message }) => {
        const text = t(key ?? "error.bad_pattern", vars ?? { why: message });
        box.invalid(text);
        replace(results, h("p", { class: "small", role: "status" }, text));
      },
    );
  };

  reread();
  return {
    element,
    reread,
    focus: () => box.box.focus(),

    /** Another graph: its types, and what is found in it. */
    reset() {
      searching.end();
      return listing.ask(
        (signal) => actions.ask("v2/graph/types", {}, signal),
        (response) => {
          replace(types, typeOptions(app, response.types));
          types.value = response.types[selectedType] ? selectedType : "";
          search();
        },
      );
    },
  };
}

/** @param {App} app @param {{typed: () => void, choose: (type: string) => void}} on */
function controls({ t }, { typed, choose }) {
  const box = searchBox({
    label: t("graph.search"),
    placeholder: t("graph.search.how"),
    onchange: typed,
  });
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

/** @param {App} app @param {Record<string, number>} types */
function typeOptions({ t }, types) {
  const options = Object.entries(types).map(([type, count]) =>
    h("option", { value: type }, `${type || t("graph.call")} (${count})`),
  );
  return [h("option", { value: "" }, t("graph.search.any")), options];
}

/**
 * The nodes a search found, in their scopes.
 * @param {App} app @param {any} response @param {Actions} actions
 */
function resultTree({ t }, response, { goTo, outer }) {
  const head =
    response.total > response.shown
      ? t("graph.search.some", { shown: response.shown, n: response.total })
      : t("graph.search.found", { n: response.total + response.outer_total });

  /** @param {any} node @returns {HTMLElement} */
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

  const leaf = (/** @type {any} */ node) =>
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
