import assert from "node:assert/strict";
import { test } from "node:test";

import { Plotlys } from "../../web/mindinsight/web/static/js/core/plotlys.js";

const BOOT = { plotly: "static/whole/plotly.min.js", assets: "static/ours" };
const SMALL = "static/ours/vendor/plotly-basic.min.js";
const FLAT = "static/ours/vendor/plotly-cartesian.min.js";
const LINES = [{ type: "scatter" }, {}];
const MAP = [{ type: "scatter" }, { type: "heatmap" }, { type: "contour" }];
const SURFACE = [{ type: "scatter" }, { type: "surface" }];

/** A document whose scripts come when they are told to. */
function scripts() {
  const added = [];
  globalThis.window = {};
  globalThis.document = { createElement: () => ({}), head: { append: (script) => added.push(script) } };
  const arrive = (at) => {
    globalThis.window.Plotly = { of: added[at].src };
    added[at].onload();
  };
  return { added, arrive };
}

test("lines need the smallest build, maps the next, anything else the whole", () => {
  const plotlys = new Plotlys(BOOT);
  assert.equal(plotlys.address(LINES), SMALL);
  assert.equal(plotlys.address([]), SMALL);
  assert.equal(plotlys.address(MAP), FLAT);
  assert.equal(plotlys.address(SURFACE), BOOT.plotly);
});

test("each build is loaded once", async () => {
  const { added, arrive } = scripts();
  const plotlys = new Plotlys(BOOT);
  const requests = [plotlys.get(LINES), plotlys.get(LINES)];
  arrive(0);
  assert.deepEqual(await Promise.all(requests), [{ of: SMALL }, { of: SMALL }]);
  assert.equal(added.length, 1);
});

test("once the whole is loaded it draws everything", async () => {
  const { added, arrive } = scripts();
  const plotlys = new Plotlys(BOOT);
  const surface = plotlys.get(SURFACE);
  const lines = plotlys.get(LINES);
  arrive(0);
  assert.equal(await lines, await surface);
  assert.deepEqual(
    added.map((script) => script.src),
    [BOOT.plotly],
  );
});

test("what draws maps draws the lines that come later, and no surface", async () => {
  const { added, arrive } = scripts();
  const plotlys = new Plotlys(BOOT);
  const map = plotlys.get(MAP);
  arrive(0);
  assert.equal(await plotlys.get(LINES), await map);
  plotlys.get(SURFACE);
  assert.deepEqual(
    added.map((script) => script.src),
    [FLAT, BOOT.plotly],
  );
});

test("a script that did not come is asked for again", async () => {
  const { added, arrive } = scripts();
  const plotlys = new Plotlys(BOOT);
  const first = plotlys.get(LINES);
  added[0].onerror();
  await assert.rejects(first, /could not be loaded/);
  const second = plotlys.get(LINES);
  arrive(1);
  assert.deepEqual(await second, { of: SMALL });
});
