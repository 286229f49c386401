// Finding nodes: part of a name or a pattern, a type; what is found stands in its scopes.

import { check, searchBox } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */

/**
 * @param {App} app
 * @param {{ask: (path: string, params: Record<string, any>) => Promise<any>, goTo: (id: number) => void,
 *   outer: (node: number) => void}} does
 */
export function createFinder(app, does) {
  const { t } = app;
  let asked = 0;
  let chosen = ""; // the type that is asked for, in whatever graph
  const box = searchBox({
    label: t("graph.search"),
    placeholder: t("graph.search.how"),
    onchange: () => typed(),
  });
  const types = h("select", {
    "aria-label": t("graph.search.type"),
    onchange: () => ((chosen = types.value), typed()),
  });
  const pattern = check({ label: t("graph.search.regex"), checked: false, onchange: () => typed() });
  const results = h("div", {
    class: "graph-results scroll",
    role: "region",
    "aria-label": t("graph.search.results"),
    tabindex: "0",
    hidden: true,
  });
  const element = h(
    "section",
    { class: "graph-finder" },
    box,
    h("div", { class: "row" }, types, pattern),
    results,
  );

  /** What the address asks for. */
  const reread = () => {
    box.box.value = app.url.get("q", "");
    pattern.box.checked = app.url.get("re") === "1";
    chosen = app.url.get("type", "");
  };

  /** A person asks for something else. */
  const typed = () => {
    app.url.set({ q: box.box.value.trim(), type: chosen, re: pattern.box.checked ? "1" : null });
    search();
  };

  const search = async () => {
    const number = ++asked;
    const q = box.box.value.trim();
    const regex = pattern.box.checked;
    box.invalid("");
    results.hidden = !q && !types.value;
    if (results.hidden) return;
    try {
      if (regex) new RegExp(q); // what no dialect takes needs no question to the server
      const found = await does.ask("v2/graph/search", { q, regex, type: types.value || null, limit: 100 });
      if (number === asked) show(found);
    } catch (error) {
      if (number !== asked) return;
      const { key, vars, message } = /** @type {any} */ (error);
      const text = t(key ?? "error.bad_pattern", vars ?? { why: message });
      box.invalid(text);
      replace(results, h("p", { class: "small", role: "status" }, text));
    }
  };

  /** @param {any} found */
  const show = (found) => {
    const total = found.total + found.outer_total;
    const head =
      found.total > found.shown
        ? t("graph.search.some", { shown: found.shown, n: found.total })
        : t("graph.search.found", { n: total });
    replace(
      results,
      h("p", { class: "muted small", role: "status" }, head),
      found.tree.length ? h("ul", { class: "branch" }, found.tree.map(branch)) : null,
      found.outer.length ? h("ul", { class: "branch" }, found.outer.map(outerLeaf)) : null,
    );
  };

  /** @param {any} one @returns {HTMLElement} */
  const branch = (one) => {
    const name = one.found
      ? h(
          "button",
          { type: "button", class: "link", title: one.path, onclick: () => does.goTo(one.id) },
          one.label || t("graph.call"),
        )
      : h("span", { class: "muted", title: one.path }, one.label);
    return h(
      "li",
      null,
      h("i", { class: `graph-key ${one.kind}` }),
      name,
      one.inside.length ? h("ul", { class: "branch" }, one.inside.map(branch)) : null,
    );
  };

  /** @param {any} one */
  const outerLeaf = (one) =>
    h(
      "li",
      null,
      h("i", { class: `graph-key ${one.kind}` }),
      h("button", { type: "button", class: "link", onclick: () => does.outer(one.node) }, one.label),
      h("span", { class: "muted small" }, ` ${one.text}`),
    );

  reread();
  return {
    element,
    reread,
    focus: () => box.box.focus(),

    /** Another graph: its types, and what was found there. */
    async reset() {
      const answer = await does.ask("v2/graph/types", {});
      const options = Object.entries(answer.types).map(([type, count]) =>
        h("option", { value: type }, `${type || t("graph.call")} (${count})`),
      );
      replace(types, h("option", { value: "" }, t("graph.search.any")), options);
      types.value = answer.types[chosen] ? chosen : "";
      search();
    },
  };
}
