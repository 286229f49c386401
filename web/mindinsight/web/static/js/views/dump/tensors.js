// Tensors tab: table of all tensors with filters.

import { headCell, virtualTable } from "../../components/virtual.js";
import { h, replace } from "../../core/dom.js";
import { errorText } from "../../components/dump/failure.js";
import { damage } from "../../components/dump/header.js";
import { filterBar } from "./filters.js";
import { tensorPages } from "./tensor_pages.js";
import { FILTERS } from "../../components/dump/state.js";
import { cells, COLUMNS } from "../../components/dump/rows.js";

/** @typedef {import("../../core/answers.js").TensorRows} TensorRows */
/** @typedef {import("../../core/answers.js").Tensor} Tensor */
/** @typedef {import("../dump.js").Page} Page */

const ROW = 31; // px of a row
const BANNERS = 5; // damaged files named at most
/** Choices that need other rows. @type {string[]} */
const READ = [...FILTERS, "sort", "descending"];

/** Create the Tensors tab of a dump: the table of all tensors with filters. @param {Page} page */
export function tensorsPart(page) {
  const table = new TensorTable(page);
  table.restart();
  return table;
}

/** Filters and table. */
class TensorTable {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.status = h("p", { class: "muted", role: "status" });
    this.share = h("i");
    this.progress = h("div", { class: "progress", hidden: true }, this.share);
    this.banners = h("div");
    this.filters = filterBar(page);
    this.table = virtualTable({ label: page.app.t("dump.tab.tensors"), row: (index) => this.row(index) });
    this.pages = tensorPages(page, {
      first: () => Math.max(0, Math.floor(this.table.element.scrollTop / ROW)),
      show: () => this.show(),
      fail: (error) => {
        this.status.textContent = errorText(page.app, error);
        this.reveal();
      },
    });
    this.holder = h("div", { class: "table-holder panel", hidden: true }, this.table.element);
    this.filters.element.hidden = true;
    this.element = h(
      "div",
      { class: "dump-table" },
      this.filters.element,
      this.banners,
      h("div", { class: "row" }, this.status),
      this.progress,
      this.holder,
    );
  }

  /** Show filters and table once the first answer has come, so that nothing jumps. */
  reveal() {
    this.filters.element.hidden = this.holder.hidden = false;
  }

  /** Create a row, or a placeholder while it is being requested. @param {number} index */
  row(index) {
    const { page } = this;
    const { change, state } = page;
    const row = this.pages.row(index);
    if (!row) return h("tr", { class: "waiting" }, h("td", { colspan: COLUMNS.length }, "…"));
    const tensor = `${row.direction}/${row.slot}`;
    const current = row.recorded === state.operator && row.graph === state.graph;
    const open = () => change({ graph: row.graph, operator: row.recorded, tensor });
    return h(
      "tr",
      {
        "data-key": `${row.recorded} ${tensor}`,
        class: current ? "current" : null,
        "aria-selected": current,
        onclick: open,
      },
      cells(page, row, open),
    );
  }

  /** Show the rows and the progress of statistics. */
  show() {
    const { page } = this;
    this.reveal();
    const response = this.pages.answer();
    const damaged = response.damage.slice(0, BANNERS);
    this.status.textContent = counted(page, response);
    this.progress.hidden = response.measured >= response.all;
    this.share.style.width = `${(100 * response.measured) / Math.max(1, response.all)}%`;
    replace(
      this.banners,
      damaged.map((record) => damage(page, record)),
    );
    this.filters.update(response);
    this.table.update(response.total);
  }

  /** Request the rows again after another filter or order was chosen. */
  restart() {
    if (!this.pages.answer().all) this.status.textContent = this.page.app.t("common.loading");
    this.table.setHead(heads(this.page));
    this.table.element.scrollTop = 0;
    this.pages.restart();
  }

  /** Redraw after the state has changed. @param {string[]} keys of the state */
  changed(keys) {
    if (keys.some((key) => READ.includes(key))) this.restart();
    else this.table.update(this.pages.answer().total);
  }

  /** Request the visible pages again. */
  refresh() {
    this.pages.again();
  }

  /** Drop requests in flight. */
  end() {
    this.pages.end();
    this.table.close();
  }
}

/**
 * Return the numbers of tensors, matches and measured tensors as text.
 * @param {Page} page
 * @param {Omit<TensorRows, "rows" | "offset">} response
 */
function counted({ app: { t } }, response) {
  if (response.all && !response.total) return t("dump.none_chosen", { n: response.all });
  const selected = response.total === response.all ? "" : t("dump.chosen", { n: response.total });
  const measured = response.measured < response.all ? t("dump.counted", { n: response.measured }) : "";
  return [t("dump.tensors", { n: response.all }), selected, measured].filter(Boolean).join(" · ");
}

/** Create the header cells. @param {Page} page */
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
