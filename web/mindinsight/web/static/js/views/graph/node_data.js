// Values of nodes from a user's file, shown as colours. A box is coloured by the largest value inside it.

import { iconButton } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { firstFrom } from "../../components/graph/index_ranges.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../components/graph/dump_marks.js").Marks} Marks */

const NOTHING = { badge: null, heat: null, hatched: false };

/**
 * Parse values by path from JSON ({path: number}, or Model Explorer's {results: {path: {value: number}}}) or
 * from lines of path and value separated by a comma or tab. Entries without a number are skipped. Throws if
 * JSON is invalid.
 * @param {string} text
 * @returns {Map<string, number>}
 */
export function parseValues(text) {
  const pairs = /^\s*[{[]/.test(text) ? fromJson(JSON.parse(text)) : fromLines(text);
  return new Map(pairs.filter(([, value]) => Number.isFinite(value)));
}

/** Return the pairs of path and value from JSON. @param {unknown} content @returns {[string, number][]} */
function fromJson(content) {
  const graph = Array.isArray(content) ? content[0] : content;
  const results = graph?.results ?? Object.values(graph ?? {}).find((inner) => inner?.results)?.results;
  return Object.entries(results ?? graph ?? {}).map(([path, value]) => [
    path,
    typeof value === "number" ? value : Number(value?.value ?? NaN),
  ]);
}

/** Return the pairs of path and value from text lines. @param {string} text @returns {[string, number][]} */
function fromLines(text) {
  return text.split(/\r?\n/).map((line) => {
    const at = Math.max(line.lastIndexOf(","), line.lastIndexOf("\t"));
    const value = line.slice(at + 1).trim();
    return [line.slice(0, at).trim().replace(/^"|"$/g, ""), at > 0 && value ? Number(value) : NaN];
  });
}

/**
 * Return the largest value inside a box, or null if there is none.
 * @param {{indices: number[], values: number[]}} columns sorted by index
 * @param {{id: number, end: number}} box
 */
export function greatestWithin({ indices, values }, { id, end }) {
  const [first, last] = [firstFrom(indices, id), firstFrom(indices, end)];
  let greatest = null;
  for (let i = first; i < last; i++) {
    if (greatest === null || values[i] > greatest) greatest = values[i];
  }
  return greatest;
}

/** Values of nodes from a user's file, drawn over a graph. */
export class NodeData {
  /** @type {Map<string, number>} */
  #byPath = new Map();
  #columns = { indices: /** @type {number[]} */ ([]), values: /** @type {number[]} */ ([]) };
  /** The least value and the greatest. */
  #range = [0, 0];
  #name = "";

  /**
   * @param {App} app
   * @param {{state: () => import("./single_state.js").State, paint: () => void}} actions
   */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    this.input = h("input", {
      type: "file",
      accept: ".json,.csv,.tsv,.txt",
      hidden: true,
      onchange: () => this.#read(),
    });
    this.element = h("div", { class: "row small graph-data" });
    this.requests = latest(this.element);
    this.#tell("");
  }

  /** Read the chosen file, or show that it cannot be parsed. */
  async #read() {
    const [file] = this.input.files ?? [];
    if (!file) return;
    this.input.value = "";
    try {
      this.#byPath = parseValues(await file.text());
      this.#name = file.name;
      await this.reset();
    } catch {
      this.#byPath = new Map();
      this.#tell(this.app.t("graph.data.bad", { name: file.name }), "badge bad");
    }
  }

  /** Look up the nodes of the file in another graph. */
  reset() {
    const names = [...this.#byPath.keys()];
    if (!names.length) return undefined;
    return this.requests.ask(
      (signal) => this.#find(names, signal),
      ({ indices }) => {
        const rows = names
          .map((name, i) => ({ index: indices[i], value: this.#byPath.get(name) ?? 0 }))
          .filter(({ index }) => index >= 0)
          .sort((a, b) => a.index - b.index);
        this.#columns = { indices: rows.map((row) => row.index), values: rows.map((row) => row.value) };
        this.#range = rows.reduce(
          ([least, most], { value }) => [Math.min(least, value), Math.max(most, value)],
          [Infinity, -Infinity],
        );
        this.#tell(this.app.t("graph.data.found", { found: rows.length, n: names.length, name: this.#name }));
        this.actions.paint();
      },
    );
  }

  /**
   * Request the index of each node in the shown graph; -1 for nodes it does not have.
   * @param {string[]} names
   * @param {AbortSignal} signal
   * @returns {Promise<{indices: number[]}>}
   */
  #find(names, signal) {
    const { run, tag, view } = this.actions.state();
    const query = new URLSearchParams({ run, tag: view === "dataset" ? "" : tag, view: view ?? "recorded" });
    return this.app.api.send("POST", `v2/graph/indices?${query}`, { names }, { signal });
  }

  /** Remove the values. */
  #clear() {
    this.#byPath = new Map();
    this.#columns = { indices: [], values: [] };
    this.#tell("");
    this.actions.paint();
  }

  /** Draw the button with a status text. @param {string} text @param {string} [style] */
  #tell(text, style = "muted") {
    const { t } = this.app;
    const onclick = () => this.input.click();
    const choose = h("button", { type: "button", class: "link command", onclick }, [t("graph.data")]);
    choose.title = t("graph.data.what");
    replace(
      this.element,
      this.input,
      choose,
      text && h("span", { class: style, role: "status" }, text),
      text && iconButton("close", t("graph.data.clear"), () => this.#clear()),
    );
  }

  /** Return the marks of a box. @param {{id: number, end: number}} box @returns {Marks} */
  marks(box) {
    const value = greatestWithin(this.#columns, box);
    if (value === null) return NOTHING;
    const [least, most] = this.#range;
    const text = this.app.format.number(value);
    return {
      badge: { kind: "", text, label: `${this.#name}: ${text}` },
      heat: most > least ? (value - least) / (most - least) : 1,
      hatched: false,
    };
  }
}
