// Reports: what a frozen card keeps, what comes back of one that somebody wrote, and addresses of live cards.

import assert from "node:assert/strict";
import { test } from "node:test";

import { FixedUrl } from "../../web/mindinsight/web/static/js/core/fixed_url.js";
import {
  colourNames,
  COLOUR_NAMES,
  decodeFigure,
  encodeFigure,
} from "../../web/mindinsight/web/static/js/core/frozen_figures.js";
import { isAllowed, isAllowedTag } from "../../web/mindinsight/web/static/js/core/frozen_tree.js";
import { queryOf } from "../../web/mindinsight/web/static/js/core/pins.js";
import { narrowed } from "../../web/mindinsight/web/static/js/views/reports/live_card.js";

/** A theme in which each colour differs. @param {string} digits */
const theme = (digits) => (/** @type {string} */ name) =>
  `#${(COLOUR_NAMES.indexOf(name) + 16).toString(16)}${digits}`;

test("a figure comes back with every digit, and with the colours of the other theme", () => {
  const y = Float64Array.of(0.1, NaN, Infinity, 1e-300);
  const trace = { y, z: [Int8Array.of(1, -2)], line: { color: theme("0000")("--run-3") }, name: "a" };
  const figure = { data: [trace], layout: { font: { color: "#123456" }, _computed: 7, f: () => 7 } };
  const text = JSON.stringify(encodeFigure(figure, colourNames(theme("0000"))));
  const { data, layout } = decodeFigure(JSON.parse(text), theme("ffff"));
  assert.deepEqual(data[0].y, y);
  assert.deepEqual(data[0].z, [Int8Array.of(1, -2)]);
  assert.equal(data[0].line.color, theme("ffff")("--run-3"));
  assert.deepEqual(layout, { font: { color: "#123456" } });
});

test("of an element that somebody wrote, nothing comes back that runs, loads or covers the page", () => {
  /** @type {[string, string, string][]} */
  const wrong = [
    ["div", "onclick", "alert(1)"],
    ["img", "src", "https://other.host/a.png"],
    ["img", "src", "data:image/svg+xml;base64,AAAA"],
    ["a", "href", "javascript:alert(1)"],
    ["path", "fill", "url(https://other.host/a#b)"],
    ["div", "id", "top"],
    ["use", "xlink:href", "#a"],
  ];
  wrong.forEach(([tag, name, value]) => assert.ok(!isAllowed(tag, name, value), `${tag} ${name} ${value}`));
  for (const tag of ["script", "iframe", "object", "a", "form", "input", "use", "foreignObject", "style"]) {
    assert.ok(!isAllowedTag(tag), tag);
  }
  assert.ok(isAllowed("img", "src", "data:image/png;base64,AAAA"));
  assert.ok(isAllowed("i", "style", "background: var(--run-1)"));
  assert.ok(isAllowed("span", "data-text", "…seed1"));
  assert.ok(isAllowedTag("td") && isAllowedTag("path"));
});

test("a pin names its runs, so that newer ones do not come in", () => {
  assert.equal(queryOf("?q=loss", "a,b"), "q=loss&runs=a%2Cb");
  assert.equal(queryOf("?runs=c&q=loss", "a,b"), "runs=c&q=loss");
});

test("a live card asks its page for nothing but itself", () => {
  /** @type {any} */
  const block = { view: "scalar", query: "runs=a&q=los", card: "loss/a.b" };
  const pattern = new URLSearchParams(narrowed(block)).get("q");
  assert.ok(new RegExp(String(pattern)).test("loss/a.b") && !new RegExp(String(pattern)).test("loss/axb"));
  assert.equal(new URLSearchParams(narrowed({ ...block, view: "image" })).get("q"), "loss/a.b");
});

test("a view inside a page changes an address of its own", () => {
  const url = new FixedUrl("runs=a&q=loss");
  url.set({ q: null, y: "log" });
  assert.equal(url.get("q"), null);
  assert.equal(url.link("graph", { node: "x" }), "./graph?runs=a&node=x");
});
