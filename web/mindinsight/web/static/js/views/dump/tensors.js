// The table of tensors: pages come from the server as they are scrolled to, statistics as they are counted.

import { headCell, virtualTable } from "../../components/virtual.js";
import { h, replace } from "../../core/dom.js";
import { inWords } from "./asking.js";
import { damage } from "./header.js";
import { filterBar } from "./filters.js";
import { FILTERS, filters, place } from "./state.js";
import { cells, COLUMNS } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

const PAGE = 200;
const COUNTING = 800; // ms between questions while statistics are counted
const FOLLOWING = 5000; // and while somebody may still be writing

/** @param {Page} page */
export function tensorsPart(page) {
  const { app, state, change } = page;
  const { t } = app;
  /** @type {Map<number, any[]>} */
  let pages = new Map();
  /** @type {Set<number>} */
  let asked = new Set();
  let answer = { all: 0, measured: 0, done: false, total: 0, types: [], dtypes: [], damage: [] };
  let aborter = new AbortController();
  let timer = 0;

  const told = h("p", { class: "muted", role: "status" });
  const bar = h("div", { class: "progress", hidden: true }, h("i"));
  const banners = h("div");
  const tools = h("div");
  const table = virtualTable({ label: t("dump.tab.tensors"), row });
  const element = h("div", { class: "dump-table" }, tools, banners, h("div", { class: "row" }, told), bar, h("div", { class: "table-holder panel" }, table.element));

  /** @param {number} index */
  function row(index) {
    const found = pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    if (!found) {
      fetchPage(Math.floor(index / PAGE));
      return h("tr", { class: "waiting" }, h("td", { colspan: COLUMNS.length }, "…"));
    }
    const key = `${found.direction}/${found.slot}`;
    const current = found.recorded === state.operator && found.graph === state.graph;
    const open = () => change({ graph: found.graph, operator: found.recorded, tensor: key });
    return h("tr", { "data-key": `${found.recorded} ${key}`, class: current ? "current" : null, "aria-selected": current, onclick: open }, cells(page, found, open));
  }

  const head = () =>
    table.setHead(
      COLUMNS.map(({ key, sort, number }) =>
        headCell({
          label: t(`dump.column.${key}`),
          number,
          sorted: state.sort === sort ? (state.descending ? "descending" : "ascending") : null,
          onsort: sort ? () => change(state.sort === sort ? { descending: !state.descending } : { sort, descending: Boolean(number) && sort !== "sequence" }) : undefined,
        }),
      ),
    );

  /** @param {number} number */
  async function fetchPage(number) {
    if (asked.has(number)) return;
    const mine = asked;
    mine.add(number);
    const { signal } = aborter;
    try {
      const params = { ...place(state), ...filters(state), sort: state.sort, descending: state.descending, offset: number * PAGE, limit: PAGE };
      const found = await app.api.get("v2/dump/tensors", params, { signal });
      if (mine !== asked) return; // something else was chosen meanwhile
      answer = found;
      pages.set(number, found.rows);
      show();
    } catch (/** @type {any} */ error) {
      if (mine === asked && !app.api.aborted(error)) told.textContent = inWords(app, error);
    } finally {
      mine.delete(number);
    }
  }

  const show = () => {
    const chosen = answer.total === answer.all ? "" : t("dump.chosen", { n: answer.total });
    const counted = answer.measured < answer.all ? t("dump.counted", { n: answer.measured }) : "";
    told.textContent = [t("dump.tensors", { n: answer.all }), chosen, counted].filter(Boolean).join(" · ");
    bar.hidden = answer.measured >= answer.all;
    /** @type {HTMLElement} */ (bar.firstElementChild).style.width = `${(100 * answer.measured) / Math.max(1, answer.all)}%`;
    replace(banners, answer.damage.slice(0, 5).map((one) => damage(page, one)));
    bars.update(answer);
    table.update(answer.total);
  };

  /** Ask again for what is seen; what was known stays until the answer is there. */
  const again = async () => {
    clearTimeout(timer);
    const mine = asked;
    const first = Math.max(0, Math.floor(table.element.scrollTop / 31 / PAGE));
    for (const number of [...pages.keys()]) if (Math.abs(number - first) > 1) pages.delete(number);
    await Promise.all([first, first + 1].filter((number) => number === first || number * PAGE < answer.total).map(fetchPage));
    if (mine !== asked) return;
    clearTimeout(timer);
    timer = window.setTimeout(again, answer.done ? FOLLOWING : COUNTING);
  };

  /** Nothing that was asked before is shown any more. */
  const forget = () => {
    aborter.abort();
    aborter = new AbortController();
    asked = new Set();
    clearTimeout(timer);
  };

  const restart = () => {
    forget();
    pages = new Map();
    if (!answer.all) told.textContent = t("common.loading");
    head();
    table.element.scrollTop = 0;
    again();
  };

  const bars = filterBar(page);
  replace(tools, bars.element);
  restart();
  return {
    element,
    /** @param {string[]} keys */
    changed(keys) {
      if (keys.some((key) => [...FILTERS, "sort", "descending"].includes(/** @type {any} */ (key)))) restart();
      else table.update(answer.total);
    },
    refresh: again,
    end() {
      forget();
      table.close();
    },
  };
}
