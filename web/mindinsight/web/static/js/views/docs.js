// API reference page, built from the server's OpenAPI description.

import { segments } from "../components/button.js";
import { searchBox } from "../components/field.js";
import { h, replace } from "../core/dom.js";

/**
 * @typedef {{name: string, in: string, required?: boolean, description?: string, schema?: Schema}} Parameter
 */
/**
 * @typedef {Object} Schema
 * @property {string} [type]
 * @property {string} [format]
 * @property {string[]} [enum]
 * @property {string} [const]
 * @property {unknown} [default]
 * @property {Schema} [items]
 * @property {Schema[]} [anyOf]
 * @property {string} [$ref]
 */
/**
 * @typedef {Object} Operation
 * @property {string} [summary]
 * @property {string} [description]
 * @property {string[]} [tags]
 * @property {Parameter[]} [parameters]
 * @property {{content?: Record<string, {schema?: unknown}>}} [requestBody]
 */
/** @typedef {{method: string, path: string, operation: Operation}} Route */

export const alone = true;

/**
 * The interfaces: where each is described, and what its paths start with.
 * @type {Record<string, {at: string, base: string}>}
 */
const INTERFACES = {
  v2: { at: "v2/openapi.json", base: "" },
  v1: { at: "v1/mindinsight/openapi.json", base: "/v1/mindinsight" },
};

/** Mount the page. @param {HTMLElement} root @param {import("../core/types.js").App} app */
export async function mount(root, app) {
  const { t, url } = app;
  const state = {
    q: url.get("q", ""),
    api: url.get("api", "v2") in INTERFACES ? url.get("api", "v2") : "v2",
  };
  /** @type {Route[]} */
  let routes = [];
  const list = h("div", { class: "stack" });
  const intro = h("p", { class: "muted intro" });
  const schema = h("a", null, t("docs.schema"));

  const draw = () => {
    url.set({ q: state.q, api: state.api === "v2" ? null : state.api });
    const query = state.q.toLowerCase();
    const matches = routes.filter(({ path, operation }) =>
      `${path} ${operation.description ?? ""}`.toLowerCase().includes(query),
    );
    replace(list, ...groups(matches).map(([tag, tagRoutes]) => group(app, tag, tagRoutes)));
  };

  /** @param {string} api */
  const read = async (api) => {
    state.api = api;
    const { at, base } = INTERFACES[api];
    const description = await app.api.get(at);
    if (api !== state.api) return; // the other one was chosen meanwhile
    routes = routesOf(description.paths, base);
    intro.textContent = t(`docs.intro.${api}`);
    schema.setAttribute("href", at);
    schema.setAttribute("download", `mindinsight-${api}-openapi.json`);
    draw();
  };

  const which = segments({
    label: t("docs.interface"),
    options: Object.keys(INTERFACES).map((value) => ({ value, label: t(`docs.interface.${value}`) })),
    value: state.api,
    onchange: read,
  });
  const search = searchBox({
    label: t("docs.search"),
    value: state.q,
    onchange: (q) => ((state.q = q), draw()),
  });
  replace(
    root,
    h("h1", null, t("docs.title")),
    intro,
    h("div", { class: "toolbar" }, which, search, schema),
    list,
  );
  await read(state.api);
  return { unmount: () => undefined };
}

/**
 * Return the routes of a description.
 * @param {Record<string, Record<string, Operation>>} paths
 * @param {string} base
 * @returns {Route[]}
 */
function routesOf(paths, base) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: base + path,
      operation,
    })),
  );
}

/** Group routes by tag. @param {Route[]} routes @returns {[string, Route[]][]} */
function groups(routes) {
  /** @type {Map<string, Route[]>} */
  const byTag = new Map();
  for (const route of routes) {
    const tag = route.operation.tags?.[0] ?? "";
    byTag.set(tag, [...(byTag.get(tag) ?? []), route]);
  }
  return [...byTag];
}

/**
 * Create the section of a tag.
 * @param {import("../core/types.js").App} app
 * @param {string} tag
 * @param {Route[]} routes
 */
function group(app, tag, routes) {
  return h(
    "section",
    null,
    h("h2", null, tag || app.t("docs.other")),
    routes.map((route) => details(app, route)),
  );
}

/** Create the description of a route. @param {import("../core/types.js").App} app @param {Route} route */
function details(app, { method, path, operation }) {
  const parameters = operation.parameters ?? [];
  const open = method === "GET" && !parameters.some((parameter) => parameter.required);
  const [first, ...paragraphs] = (operation.description ?? operation.summary ?? "").split("\n\n");
  return h(
    "details",
    { class: "panel route" },
    h(
      "summary",
      null,
      h("span", { class: `badge method ${method.toLowerCase()}` }, method),
      h("code", null, path),
      h("span", { class: "muted" }, marked(first)),
    ),
    paragraphs.map((text) => h("p", null, marked(text))),
    parameters.length ? table(app, parameters) : null,
    operation.requestBody ? h("pre", null, JSON.stringify(bodyOf(operation), null, 2)) : null,
    open
      ? h("p", null, h("a", { href: path.slice(1), target: "_blank", rel: "noopener" }, app.t("docs.try")))
      : null,
  );
}

/**
 * Create the table of parameters.
 * @param {import("../core/types.js").App} app
 * @param {Parameter[]} parameters
 */
function table(app, parameters) {
  const heads = ["docs.name", "docs.type", "docs.default", "docs.meaning"].map((key) =>
    h("th", { scope: "col" }, app.t(key)),
  );
  const rows = parameters.map((parameter) => {
    const name = h("code", null, parameter.name, parameter.required ? "*" : "");
    return h(
      "tr",
      null,
      h("td", null, name),
      h("td", null, typeOf(parameter.schema)),
      h("td", null, valueText(parameter.schema?.default)),
      h("td", { class: "meaning" }, marked(parameter.description ?? "")),
    );
  });
  return h(
    "div",
    { class: "scroll" },
    h("table", { class: "table" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows)),
  );
}

/** Return a text with code between double backticks as elements. @param {string} text */
function marked(text) {
  return text.split("``").map((piece, i) => (i % 2 ? h("code", null, piece) : piece));
}

/** Return a schema's type as text. @param {Schema | undefined} schema @returns {string} */
function typeOf(schema) {
  if (!schema) return "";
  if (schema.anyOf) {
    return schema.anyOf
      .map(typeOf)
      .filter((type) => type !== "null")
      .join(" | ");
  }
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.items) return `${typeOf(schema.items)} …`;
  return schema.type ?? schema.const ?? schema.$ref?.split("/").pop() ?? "";
}

/** Return a value as JSON, "" if it is missing. @param {unknown} value */
function valueText(value) {
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Return the schema of a request body, {} if there is none. @param {Operation} operation */
function bodyOf(operation) {
  return operation.requestBody?.content?.["application/json"]?.schema ?? {};
}
