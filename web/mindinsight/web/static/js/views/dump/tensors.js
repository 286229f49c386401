// The table of tensors: pages come from the server as they are scrolled to, statistics as they are counted.

import { headCell, virtualTable } from "../../components/virtual.js";
import { h, replace } from "../../core/dom.js";
import { inWords } from "./failure.js";
import { damage } from "./header.js";
import { filterBar } from "./filters.js";
import { tensorPages } from "./pages.js";
import { FILTERS } from "./state.js";
import { cells, COLUMNS } from "./rows.js";

/** @typedef {import("../dump.js").Page} Page */

const ROW = 31; // pixels

/** @param {Page} page */
export function tensorsPart(page) {
  const { app, state, change } = page;
  const { t } = app;
  const told = h("p", { class: "muted", role: "status" });
  const bar = h("div", { class: "progress", hidden: true }, h("i"));
  const banners = h("div");
  const bars = filterBar(page);
  const table = virtualTable({ label: t("dump.tab.tensors"), row });
  const element = h(
    "div",
    { class: "dump-table" },
    bars.element,
    banners,
    h("div", { class: "row" }, told),
    bar,
    h("div", { class: "table-holder panel" }, table.element),
  );

  /** @param {number} index */
  function row(index) {
    const found = pages.row(index);
    if (!found) return h("tr", { class: "waiting" }, h("td", { colspan: COLUMNS.length }, "…"));
    const key = `${found.direction}/${found.slot}`;
    const current = found.recorded === state.operator && found.graph === state.graph;
    const open = () => change({ graph: found.graph, operator: found.recorded, tensor: key });
    return h(
      "tr",
      {
        "data-key": `${found.recorded} ${key}`,
        class: current ? "current" : null,
        "aria-selected": current,
        onclick: open,
      },
      cells(page, found, open),
    );
  }

  const show = () => {
    const answer = pages.answer();
    told.textContent = counted(page, answer);
    bar.hidden = answer.measured >= answer.all;
    /** @type {HTMLElement} */ (bar.firstElementChild).style.width =
      `${(100 * answer.measured) / Math.max(1, answer.all)}%`;
    replace(
      banners,
      answer.damage.slice(0, 5).map((one) => damage(page, one)),
    );
    bars.update(answer);
    table.update(answer.total);
  };

  const pages = tensorPages(page, {
    first: () => Math.max(0, Math.floor(table.element.scrollTop / ROW)),
    show,
    fail: (error) => (told.textContent = inWords(app, error)),
  });

  const restart = () => {
    if (!pages.answer().all) told.textContent = t("common.loading");
    table.setHead(heads(page));
    table.element.scrollTop = 0;
    pages.restart();
  };

  restart();
  return {
    element,
    /** @param {string[]} keys */
    changed(keys) {
      if (keys.some((key) => [...FILTERS, "sort", "descending"].includes(/** @type {any} */ (key)))) {
        restart();
      } else table.update(pages.answer().total);
    },
    refresh: pages.again,
    end() {
      pages.end();
      table.close();
    },
  };
}

/** @param {Page} page @param {any} answer */
function counted({ app: { t } }, answer) {
  const chosen = answer.total === answer.all ? "" : t("dump.chosen", { n: answer.total });
  const measured = answer.measured < answer.all ? t("dump.counted", { n: answer.measured }) : "";
  return [t("dump.tensors", { n: answer.all }), chosen, measured].filter(Boolean).join(" · ");
}

/** @param {Page} page */
function heads({ app: { t }, state, change }) {
  return COLUMNS.map(({ key, sort, number }) =>
    headCell({
      label: t(`dump.column.${key}`),
      number,
      sorted: state.sort === sort ? (state.descending ? "descending" : "ascending") : null,
      onsort: sort
        ? () =>
            change(
              state.sort === sort
                ? { descending: !state.descending }
                : { sort, descending: Boolean(number) && sort !== "sequence" },
            )
        : undefined,
    }),
  );
}
