// Draws each component with h() and with lit-html, in the situations that pages meet.

import { render } from "/lit-html/lit-html.js";
import { repeat } from "/lit-html/directives/repeat.js";
import { h, replace } from "/js/core/dom.js";
import { keepFocus } from "/js/core/focus.js";
import * as cells from "/js/views/runs/cells.js";
import * as rows from "/js/views/dump/rows.js";
import * as panel from "/js/views/graph/panel.js";
import * as litRuns from "./run_row.js";
import * as litTensors from "./tensor_row.js";
import * as litPanel from "./node_facts.js";
import { html } from "/lit-html/lit-html.js";

const ROWS = 40; // in the window of a table
const SCROLL = 12; // rows
const nothing = () => {};
const app = {
  t: (key, words) => `${key} ${Object.values(words ?? {}).join(" ")}`,
  url: { link: (view, params) => `${view}?run=${params.run}` },
  selection: { has: () => true, toggle: nothing, colour: () => "#1d7f8c", dash: () => "solid" },
  format: { number: (value) => Number(value).toPrecision(5), bytes: (value) => `${value} B` },
};
const page = { app };
const columns = ["step", "size", "updated", "duration", "loss", "accuracy"].map((key, i) => ({
  key,
  number: i > 0,
  cell: (run) => app.format.number(run.values[i]),
}));

const runs = (first, version) =>
  Array.from({ length: ROWS }, (_, i) => ({
    id: `./run_${first + i}`,
    name: `run_${first + i}`,
    rank: null,
    pinned: (first + i) % 20 === 0,
    hidden: false,
    damage: (first + i) % 10 === 0 ? 1 : 0,
    labels: ["lenet"],
    note: "",
    values: columns.map((_column, column) => 1000 * version + (first + i) * (column + 1)),
  }));

const tensors = (first, version) =>
  Array.from({ length: ROWS }, (_, i) => ({
    sequence: first + i,
    operator: `Default/network/layer_${first + i}/Conv2D-op${first + i}`,
    type: "Conv2D",
    direction: "output",
    slot: "0",
    dtype: "float32",
    shape: [32, 3, 224, 224],
    statistics: Object.fromEntries(
      ["nans", "positive_infs", "negative_infs", "minimum", "maximum", "mean", "std", "norm", "zeros"].map(
        (key, at) => [key, at < 3 ? 0 : version + first + i + at],
      ),
    ),
  }));

const node = (first, version) => {
  const nodes = (count) =>
    Array.from({ length: count }, (_, i) => ({
      id: first + i,
      label: `Conv2D-op${first + i}`,
      path: `Default/network/Conv2D-op${first + i}`,
      text: `float32[32, ${version}]`,
    }));
  return {
    id: first,
    label: `Conv2D-op${first}`,
    path: `Default/network/Conv2D-op${first}`,
    kind: "operator",
    type: "Conv2D",
    output: `float32[${version}]`,
    around: nodes(4),
    inputs: { total: 30, shown: nodes(20) },
    outer: { total: 0, shown: [] },
    outputs: { total: 20, shown: nodes(20) },
    attributes: Array.from({ length: 30 }, (_, i) => [`attribute_${i}`, String(first + i)]),
    stacks: [Array.from({ length: 6 }, (_, i) => ({ file: "net.py", line: i + first, code: "y = x + 1" }))],
  };
};

const does = { goTo: nothing, outer: nothing, toggle: nothing, trace: nothing };
const byKey = (list, key, template) => html`${repeat(list, key, template)}`;
const runKey = (run) => run.id;
const tensorKey = (tensor) => tensor.sequence;

/** Component -> element it is drawn in, data, and how either way draws it. */
const COMPONENTS = {
  "table of runs": {
    tag: "tbody",
    data: runs,
    h: (list) => list.map((run) => cells.runRow(app, { run, under: false }, columns, 0)),
    lit: (list) => byKey(list, runKey, (run) => litRuns.runRow(app, { run, under: false }, columns, 0)),
  },
  "table of tensors": {
    tag: "tbody",
    data: tensors,
    h: (list) => list.map((row) => h("tr", { "data-key": row.sequence }, rows.cells(page, row, nothing))),
    lit: (list) =>
      byKey(
        list,
        tensorKey,
        (row) =>
          html`<tr>
            ${litTensors.cells(page, row, nothing)}
          </tr>`,
      ),
  },
  "panel of a node": {
    tag: "div",
    data: node,
    h: (about) => panel.nodeFacts(app, about, null, does),
    lit: (about) => litPanel.nodeFacts(app, about, null, does),
  },
};

/** Situation -> first row and version of the data at the n-th drawing. */
const SITUATIONS = {
  "first drawing": () => [0, 0],
  "again, nothing changed": () => [0, 0],
  "again, all values changed": (n) => [0, n],
  "scrolled by 12 rows": (n) => [n * SCROLL, 0],
  "other rows altogether": (n) => [n * 10 * ROWS, 0],
};

function draw(element, component, way, first, version) {
  const data = component.data(first, version);
  if (way === "lit") render(component.lit(data), element);
  else keepFocus(element, () => replace(element, component.h(data)));
  return element.getBoundingClientRect().height;
}

/** Draw a number of times, with layout. */
globalThis.work = (name, situation, way, times) => {
  const component = COMPONENTS[name];
  let element = mounted(component);
  draw(element, component, way, 0, 0);
  const begin = performance.now();
  for (let n = 1; n <= times; n++) {
    if (situation === "first drawing") element = mounted(component);
    draw(element, component, way, ...SITUATIONS[situation](n));
  }
  return performance.now() - begin;
};

function mounted({ tag }) {
  const element = h(tag);
  replace(document.body, tag === "tbody" ? h("table", { class: "table" }, element) : element);
  return element;
}

globalThis.components = Object.keys(COMPONENTS);
globalThis.situations = Object.keys(SITUATIONS);

/** Text of every component drawn both ways: it must be the same. */
globalThis.texts = (name) => {
  const component = COMPONENTS[name];
  return ["h", "lit"].map((way) => {
    const element = mounted(component);
    draw(element, component, way, 0, 1);
    return element.textContent.replace(/\s+/g, "");
  });
};
