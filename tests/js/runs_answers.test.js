import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { createCurves } from "../../web/mindinsight/web/static/js/views/runs/curves.js";
import { createValues } from "../../web/mindinsight/web/static/js/components/runs/values.js";

globalThis.window = globalThis;

const element = { isConnected: true };
const settled = () => new Promise(setImmediate);
const run = (id) => ({ id, hyper: {}, metrics: {} });

/** Questions to the server, answered one by one. */
let requests;
let app;
beforeEach(() => {
  requests = [];
  const get = (path, params) =>
    new Promise((resolve, reject) =>
      requests.push({ path, params, give: resolve, fail: () => reject(new Error("gone")) }),
    );
  app = { api: { get, column: (values) => values } };
});

const table = (tag, value) => ({
  tables: { [tag]: { runs: ["./a"], last: [value], min: [value], max: [value] } },
});

test("an older table of values that comes late does not replace a newer one", async () => {
  const values = createValues(app, element);
  const results = [values.need(["loss"], true), values.need(["loss"], true)];
  requests[1].give(table("loss", 0.2));
  requests[0].give(table("loss", 0.9));
  await Promise.all(results);
  assert.equal(values.scalar(run("./a"), "loss", "last"), 0.2);
});

test("what an ended question asked for is asked for again", async () => {
  const values = createValues(app, element);
  const results = [values.need(["loss"]), values.need(["loss", "acc"])];
  assert.deepEqual(
    requests.map(({ params }) => params.tag[0]),
    ["loss", "loss", "acc"],
  );
  requests[1].give(table("loss", 0.2));
  requests[2].give(table("acc", 0.8));
  await Promise.all(results.slice(1));
  assert.deepEqual(
    ["loss", "acc"].map((tag) => values.scalar(run("./a"), tag, "max")),
    [0.2, 0.8],
  );
  values.need(["loss", "acc"]);
  assert.equal(requests.length, 3);
});

test("an older list of tags that comes late does not replace a newer one", async () => {
  const values = createValues(app, element);
  const results = [values.loadTags(), values.loadTags()];
  requests[1].give({
    tags: [
      { tag: "acc", count: 2 },
      { tag: "loss", count: 1 },
    ],
  });
  requests[0].give({ tags: [{ tag: "older", count: 1 }] });
  await Promise.all(results);
  assert.deepEqual(values.tags(), ["loss", "acc"]);
});

test("an older curve that comes late does not replace a newer one", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const curves = createCurves(app, element, () => {});
  curves.get("loss", "./a");
  context.mock.timers.tick(60);
  curves.forget();
  curves.get("loss", "./a");
  context.mock.timers.tick(60);
  requests[1].give({ curves: { "./a": [3, 2, 1] } });
  await settled();
  requests[0].give({ curves: { "./a": [3] } });
  await settled();
  assert.deepEqual(curves.get("loss", "./a"), [3, 2, 1]);
});

test("a later question asks for what the one it ends was asked for", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let loaded = 0;
  const curves = createCurves(app, element, () => loaded++);
  curves.get("loss", "./a");
  context.mock.timers.tick(60);
  curves.get("loss", "./b");
  context.mock.timers.tick(60);
  assert.deepEqual(
    requests.map(({ params }) => params.run),
    [["./a"], ["./a", "./b"]],
  );
  requests[1].give({ curves: { "./a": [1], "./b": [2] } });
  await settled();
  assert.deepEqual([loaded, curves.get("loss", "./a"), curves.get("loss", "./b")], [1, [1], [2]]);
});

test("curves that may have changed are shown, and requested again when in sight", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const curves = createCurves(app, element, () => {});
  ["./a", "./b"].forEach((id) => curves.get("loss", id));
  context.mock.timers.tick(60);
  requests[0].give({ curves: { "./a": [1], "./b": [2] } });
  await settled();
  curves.forget();
  assert.deepEqual(curves.get("loss", "./b"), [2]);
  context.mock.timers.tick(60);
  assert.deepEqual(
    requests.map(({ params }) => params.run),
    [["./a", "./b"], ["./b"]],
  );
});

test("a question that failed is asked again when its row is drawn again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const curves = createCurves(app, element, () => {});
  curves.get("loss", "./a");
  context.mock.timers.tick(60);
  requests[0].fail();
  await settled();
  curves.get("loss", "./a");
  context.mock.timers.tick(60);
  assert.equal(requests.length, 2);
});
