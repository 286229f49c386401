// Layout of the columns of the runs table: order, widths that a person chose, and columns that stay at the
// left while the table scrolls. The address holds it.

import { iconButton } from "../button.js";
import { resizeHandle } from "../resize_handle.js";
import { moved } from "./order.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./columns.js").TableColumn} TableColumn */

const NARROWEST = 48; // px: room for a few digits
const WIDEST = 900; // px
const NAME = "name"; // key of the first column, which always stays at the left

/** Order, widths and places of columns. */
export class ColumnLayout {
  /** Keys of the columns in the table. @type {string[]} */
  #keys = [];
  /** Widths by key. @type {Map<string, number>} */
  #widths = new Map();
  #dragging = false;

  /**
   * @param {App} app
   * @param {HTMLElement} holder of the table
   * @param {{resized: () => void, changed: () => void}} options called when rows are to be drawn again, or
   *   rows and header
   */
  constructor(app, holder, { resized, changed }) {
    this.app = app;
    this.holder = holder;
    this.resized = resized;
    this.changed = changed;
  }

  /** Return the columns in their order, with their widths and places. @param {TableColumn[]} columns */
  arrange(columns) {
    const { url } = this.app;
    if (!this.#dragging) this.#widths = readWidths(url.all("width"));
    const name = this.#widths.get(NAME);
    this.holder.style.setProperty("--name-width", name === undefined ? null : `${name}px`);
    let left = name ?? 0;
    const fixed = url.all("fixed").flatMap((key) => columns.find((column) => column.key === key) ?? []);
    const placed = fixed.flatMap((column) => {
      const width = this.#widths.get(column.key);
      if (width === undefined || name === undefined) return [];
      left += width;
      return [{ ...column, width, left: left - width }];
    });
    const kept = new Set(placed.map(({ key }) => key));
    const others = columns.filter(({ key }) => !kept.has(key));
    const arranged = [
      ...placed,
      ...others.map((column) => ({ ...column, width: this.#widths.get(column.key) })),
    ];
    this.#keys = arranged.map(({ key }) => key);
    return arranged;
  }

  /** Move a column before another one, or to the end. @param {string} key @param {string | null} before */
  move(key, before) {
    this.app.url.set({ col: moved(this.#keys, key, before) });
    this.changed();
  }

  /**
   * Give a header cell its size and place, a handle to resize it and a button that makes it stay.
   * @param {HTMLElement} cell
   * @param {Pick<TableColumn, "key" | "label" | "of" | "width" | "left">} column
   */
  heading(cell, { key, label, of, width, left }) {
    const { t } = this.app;
    const name = of ? `${of} · ${label}` : label;
    cell.setAttribute("aria-label", of ? `${of} ${label}` : label); // without what its buttons say
    cell.classList.add("sized", ...(left === undefined ? [] : ["fixed"]));
    if (key !== NAME) {
      const stays = left !== undefined;
      Object.assign(cell.style, cellStyle({ width, left }));
      const title = t(stays ? "runs.col.release" : "runs.col.fix", { column: name });
      const attributes = { class: "icon quiet fix", "aria-pressed": stays, "data-focus": `fix:${key}` };
      cell.append(iconButton("pin", title, () => this.#toggle(key, cell), attributes));
    }
    cell.append(this.#handle(cell, key, name, left));
    return cell;
  }

  /**
   * Create the handle of a header cell.
   * @param {HTMLElement} cell @param {string} key @param {string} name @param {number | undefined} left
   */
  #handle(cell, key, name, left) {
    const handle = resizeHandle({
      label: this.app.t("runs.col.resize", { column: name }),
      edge: "right",
      narrowest: NARROWEST,
      widest: WIDEST,
      onresize: (px) => {
        this.#dragging = true;
        this.#widths.set(key, px);
        if (key !== NAME) Object.assign(cell.style, cellStyle({ width: px, left }));
        this.resized();
      },
    });
    handle.addEventListener("pointerup", () => (this.#save(), this.changed()));
    handle.addEventListener("keyup", () => this.#dragging && this.#save());
    cell.addEventListener("dragstart", (event) => handle.matches(":active") && event.preventDefault(), true);
    return handle;
  }

  /** Let a column stay, or scroll again. @param {string} key @param {HTMLElement} cell */
  #toggle(key, cell) {
    const { url } = this.app;
    const before = url.all("fixed");
    const others = before.filter((other) => other !== key);
    const first = /** @type {HTMLElement} */ (cell.parentElement?.firstElementChild);
    for (const [column, head] of /** @type {const} */ ([
      [NAME, first],
      [key, cell],
    ])) {
      // what stays needs a width, from which the place of the next one follows
      if (!this.#widths.has(column)) this.#widths.set(column, Math.ceil(head.offsetWidth));
    }
    this.#save();
    url.set({ fixed: others.length < before.length ? others : [...before, key] });
    this.changed();
  }

  #save() {
    this.#dragging = false;
    this.app.url.set({ width: [...this.#widths].map(([key, px]) => `${px}:${key}`) });
  }
}

/**
 * Return the style of a cell of a column, in the header or below it.
 * @param {{width?: number, left?: number}} column px
 */
export function cellStyle({ width, left }) {
  const size =
    width === undefined ? {} : { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` };
  return left === undefined ? size : { ...size, left: `${left}px` };
}

/** Read the widths of an address: "120:last:loss". @param {string[]} texts @returns {Map<string, number>} */
export function readWidths(texts) {
  return new Map(
    texts.flatMap((text) => {
      const [px, ...key] = text.split(":");
      const width = Math.min(WIDEST, Math.max(NARROWEST, Number(px)));
      return Number.isFinite(width) && key.length ? [[key.join(":"), width]] : [];
    }),
  );
}
