// One operator: the line it comes from, what it took and gave, and its neighbours to walk to.

import { iconButton } from "../../components/button.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { runWithGraph } from "../graph/nearest_dumps.js";
import { failure } from "./failure.js";
import { lostElements, number, shapeText, short, slotText } from "./rows.js";
import { place } from "./state.js";
import { tensorView } from "./values.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {import("../../core/types.js").App} App */

const COUNTING = 1000; // ms between questions while its statistics are not known

/** @param {Page} page @param {HTMLElement} side */
export function operatorPanel(page, side) {
  const { app, state } = page;
  const { t } = app;
  const requests = latest();
  /**
   * What stands now, to be brought up to date while statistics are counted.
   * @type {{key: string, update: (found: any) => void} | null}
   */
  let standing = null;

  const close = () => page.change({ graph: "", operator: "", tensor: "" });

  const draw = () => {
    side.hidden = !state.operator;
    if (!state.operator) {
      requests.end();
      return clear();
    }
    const params = { ...place(state), graph: state.graph, recorded: state.operator };
    return requests.ask(
      (signal) => app.api.get("v2/dump/operator", params, { signal }),
      show,
      (error) => {
        clear();
        replace(side, head(state.operator), failure(app, error));
      },
    );
  };

  /** @param {any} found */
  const show = (found) => {
    const { graph, operator, tensor } = state;
    const key = JSON.stringify([
      found.operator,
      place(state),
      graph,
      operator,
      tensor,
      chosen(found)?.values,
    ]);
    if (standing?.key === key) standing.update(found);
    else build(key, found);
    if (found.tensors.some((/** @type {any} */ row) => !row.known)) requests.later(draw, COUNTING);
  };

  const clear = () => {
    standing = null;
    app.charts.removeAll(side);
  };

  /** The tensor that is looked into. @param {any} found */
  const chosen = (found) =>
    found.tensors.find((/** @type {any} */ one) => `${one.direction}/${one.slot}` === state.tensor);

  /** @param {string} key @param {any} found */
  const build = (key, found) => {
    clear();
    const table = h("div", null, tensors(page, found.tensors));
    const view = chosen(found) && tensorView(page, chosen(found));
    const update = (/** @type {any} */ newer) => {
      renew(table, tensors(page, newer.tensors));
      view?.update(chosen(newer));
    };
    standing = { key, update };
    replace(side, head(found.operator), content(found, table, view?.element));
  };

  /** @param {string} name */
  const head = (name) =>
    h(
      "header",
      { class: "row" },
      h("h2", { class: "grow wrapped" }, name),
      iconButton("close", t("common.close"), close),
    );

  /** @param {any} found @param {HTMLElement} table @param {HTMLElement | undefined} values */
  const content = (found, table, values) => [
    h(
      "p",
      { class: "muted" },
      [found.type, found.graph, found.order >= 0 && t("dump.order", { order: found.order })]
        .filter(Boolean)
        .join(" · "),
    ),
    graphLink(page, found),
    sourceLine(page, found.source),
    found.stack?.length > 1 && stack(page, found),
    links(page, found, "inputs"),
    table,
    links(page, found, "outputs"),
    found.arguments?.length > 0 && parameters(page, found.arguments),
    values,
  ];

  return {
    /** @param {string[]} keys */
    changed(keys) {
      if (keys.some((key) => ["operator", "graph", "tensor", "dump", "rank", "step"].includes(key))) draw();
    },
    end: requests.end,
  };
}

/** To the operator in the graph of the run, where there is one. @param {Page} page @param {any} found */
function graphLink({ app, dumps, state }, found) {
  const dump = dumps.find((one) => one.id === state.dump);
  const run =
    dump && runWithGraph(dump, state.rank, app.selection.everything(), (one) => Boolean(one.kinds.graph));
  if (!run) return null;
  return h(
    "p",
    null,
    h(
      "a",
      {
        href: app.url.link("graph", {
          run: run.id,
          ...place(state),
          graph: found.graph,
          operator: found.recorded,
        }),
      },
      app.t("dump.in_graph"),
    ),
  );
}

/** The line to look at, with a way to everything else from it. @param {Page} page @param {any} source */
export function sourceLine(page, source) {
  if (!source) return h("p", { class: "muted" }, page.app.t("dump.no_source"));
  const where = `${source.file.split("/").pop()}:${source.line}`;
  const all = () => page.change({ tab: "tensors", source: where });
  return h(
    "figure",
    { class: "dump-source" },
    h(
      "figcaption",
      null,
      h(
        "button",
        { type: "button", class: "link", title: page.app.t("dump.all_from_line"), onclick: all },
        `${source.file}:${source.line}`,
      ),
    ),
    h("pre", null, source.code || source.function),
  );
}

/** @param {Page} page @param {any} found */
function stack(page, found) {
  const line = (/** @type {any} */ frame) =>
    h(
      "li",
      { class: frame.own ? "own" : "muted" },
      `${frame.file}:${frame.line}`,
      frame.code && h("pre", null, frame.code),
    );
  const stacks = [found.stack, ...found.other_stacks];
  return h(
    "details",
    null,
    h("summary", null, page.app.t("dump.stack", { n: found.stack.length })),
    stacks.map((frames) => h("ol", { class: "dump-stack" }, frames.map(line))),
  );
}

/** @param {Page} page @param {any} found @param {"inputs" | "outputs"} side */
function links(page, found, side) {
  const { t } = page.app;
  const items = found[side];
  if (!items.length) return null;
  const item = (/** @type {any} */ link) => {
    const go = () => page.change({ operator: link.recorded, tensor: "" });
    const name = link.known
      ? h(
          "button",
          { type: "button", class: "link", title: link.operator, onclick: go },
          short(link.operator),
        )
      : h("span", null, link.operator);
    return h(
      "li",
      null,
      name,
      " ",
      h("span", { class: "muted" }, link.type),
      !link.certain && h("span", { class: "badge", title: t("dump.uncertain_why") }, t("dump.uncertain")),
    );
  };
  return h(
    "section",
    null,
    h("h3", null, t(`dump.${side}`)),
    h("ul", { class: "dump-links" }, items.map(item)),
  );
}

/** @param {Page} page @param {any[]} rows */
function tensors(page, rows) {
  const { app, state } = page;
  const isOpen = (/** @type {any} */ row) => state.tensor === `${row.direction}/${row.slot}`;
  const slot = (/** @type {any} */ row) => {
    const open = () => page.change({ tensor: isOpen(row) ? "" : `${row.direction}/${row.slot}` });
    return h(
      "button",
      { type: "button", class: "link", "aria-expanded": isOpen(row), onclick: open },
      slotText(app, row),
    );
  };
  return h("section", null, h("h3", null, app.t("dump.tensors_of")), tensorTable(app, rows, slot, isOpen));
}

/**
 * Tensors of one operator with the numbers that matter most.
 * @param {App} app @param {any[]} rows @param {(row: any) => HTMLElement} slot what leads to a tensor
 * @param {(row: any) => boolean} [current]
 */
export function tensorTable(app, rows, slot, current = () => false) {
  const { t } = app;
  const keys = ["minimum", "maximum", "mean", "norm"];
  const head = h(
    "tr",
    null,
    h("th", null, t("dump.column.slot")),
    h("th", null, t("dump.column.shape")),
    h("th", { class: "number" }, t("dump.column.lost")),
    keys.map((key) => h("th", { class: "number" }, t(`dump.column.${key}`))),
  );
  const line = (/** @type {any} */ row) => {
    const found = row.statistics;
    const lost = lostElements(found);
    const strange = lost || row.finite === false;
    return h(
      "tr",
      { class: current(row) ? "current" : null },
      h("td", null, slot(row)),
      h(
        "td",
        null,
        h("span", { class: "mono" }, shapeText(row.shape)),
        " ",
        h("span", { class: "muted" }, row.dtype),
      ),
      h(
        "td",
        {
          class: strange ? "number strange" : "number",
          title: strange && lost === null ? t("dump.lost_not_counted") : null,
        },
        row.damage ? t(row.damage.reason) : (lost ?? (strange ? "?" : "")),
      ),
      keys.map((name) => h("td", { class: "number" }, found ? number(app, found[name]) : "")),
    );
  };
  return h(
    "div",
    { class: "scroll", tabindex: "0" },
    h("table", { class: "table" }, h("thead", null, head), h("tbody", null, rows.map(line))),
  );
}

/** @param {Page} page @param {[string, string][]} pairs */
function parameters(page, pairs) {
  const list = pairs.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]);
  return h(
    "details",
    null,
    h("summary", null, page.app.t("dump.arguments", { n: pairs.length })),
    h("dl", { class: "facts" }, list),
  );
}
