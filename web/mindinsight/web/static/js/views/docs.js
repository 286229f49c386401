// The interface for scripts, from the description the server gives of itself.

import { searchBox } from "../components/field.js";
import { h, replace } from "../core/dom.js";

/** @typedef {{name: string, in: string, required?: boolean, description?: string, schema?: Schema}} Parameter */
/** @typedef {{type?: string, format?: string, enum?: string[], const?: string, default?: any, items?: Schema, anyOf?: Schema[], $ref?: string}} Schema */
/** @typedef {{summary?: string, description?: string, tags?: string[], parameters?: Parameter[], requestBody?: any}} Operation */
/** @typedef {{method: string, path: string, operation: Operation}} Route */

export const alone = true;

/** @param {HTMLElement} root @param {import("../core/types.js").App} app */
export async function mount(root, app) {
  const { t, url } = app;
  const description = await app.api.get("v2/openapi.json");
  const routes = routesOf(description.paths);
  const list = h("div", { class: "stack" });

  /** @param {string} text */
  const draw = (text) => {
    url.set({ q: text });
    const wanted = text.toLowerCase();
    const found = routes.filter(({ path, operation }) => `${path} ${operation.description ?? ""}`.toLowerCase().includes(wanted));
    replace(list, ...groups(found).map(([tag, some]) => group(app, tag, some)));
  };
  const search = searchBox({ label: t("docs.search"), value: url.get("q", ""), onchange: draw });
  const schema = h("a", { href: "v2/openapi.json", download: "mindinsight-openapi.json" }, t("docs.schema"));
  replace(root, h("h1", null, t("docs.title")), h("p", { class: "muted intro" }, t("docs.intro")), h("div", { class: "toolbar" }, search, schema), list);
  draw(url.get("q", ""));
  return { unmount: () => undefined };
}

/** @param {Record<string, Record<string, Operation>>} paths @returns {Route[]} */
function routesOf(paths) {
  return Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })));
}

/** @param {Route[]} routes @returns {[string, Route[]][]} */
function groups(routes) {
  /** @type {Map<string, Route[]>} */
  const found = new Map();
  for (const route of routes) {
    const tag = route.operation.tags?.[0] ?? "";
    found.set(tag, [...(found.get(tag) ?? []), route]);
  }
  return [...found];
}

/** @param {import("../core/types.js").App} app @param {string} tag @param {Route[]} routes */
function group(app, tag, routes) {
  return h("section", null, h("h2", null, tag || app.t("docs.other")), routes.map((route) => details(app, route)));
}

/** @param {import("../core/types.js").App} app @param {Route} route */
function details(app, { method, path, operation }) {
  const parameters = operation.parameters ?? [];
  const open = method === "GET" && !parameters.some((parameter) => parameter.required);
  const [first, ...rest] = (operation.description ?? operation.summary ?? "").split("\n\n");
  return h(
    "details",
    { class: "panel route" },
    h("summary", null, h("span", { class: `badge method ${method.toLowerCase()}` }, method), h("code", null, path), h("span", { class: "muted" }, marked(first))),
    rest.map((text) => h("p", null, marked(text))),
    parameters.length ? table(app, parameters) : null,
    operation.requestBody ? h("pre", null, JSON.stringify(bodyOf(operation), null, 2)) : null,
    open ? h("p", null, h("a", { href: path.slice(1), target: "_blank", rel: "noopener" }, app.t("docs.try"))) : null,
  );
}

/** @param {import("../core/types.js").App} app @param {Parameter[]} parameters */
function table(app, parameters) {
  const heads = ["docs.name", "docs.type", "docs.default", "docs.meaning"].map((key) => h("th", { scope: "col" }, app.t(key)));
  const rows = parameters.map((one) => {
    const name = h("code", null, one.name, one.required ? "*" : "");
    return h("tr", null, h("td", null, name), h("td", null, typeOf(one.schema)), h("td", null, shown(one.schema?.default)), h("td", { class: "meaning" }, marked(one.description ?? "")));
  });
  return h("div", { class: "scroll" }, h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows)));
}

/** What stands between double backticks is code. @param {string} text */
function marked(text) {
  return text.split("``").map((part, i) => (i % 2 ? h("code", null, part) : part));
}

/** @param {Schema | undefined} schema @returns {string} */
function typeOf(schema) {
  if (!schema) return "";
  if (schema.anyOf) return schema.anyOf.map(typeOf).filter((type) => type !== "null").join(" | ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.items) return `${typeOf(schema.items)} …`;
  return schema.type ?? schema.const ?? schema.$ref?.split("/").pop() ?? "";
}

/** @param {any} value */
function shown(value) {
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** @param {Operation} operation */
function bodyOf(operation) {
  return operation.requestBody.content?.["application/json"]?.schema ?? {};
}
