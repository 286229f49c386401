import assert from "node:assert/strict";
import { test } from "node:test";

import { basePaths, searchFor } from "../../web/mindinsight/web/static/js/components/runs/bases.js";
import { matchesQuery, parseQuery } from "../../web/mindinsight/web/static/js/components/runs/query.js";
import { directoryOf } from "../../web/mindinsight/web/static/js/components/runs/values.js";

const appOf = (...names) => ({ selection: { list: () => ({ bases: names.map((name) => ({ name })) }) } });
const run = { id: "./my lab/job/rank_0", note: "", labels: [] };

test("a search for one directory takes the place of one for another and keeps the rest", () => {
  assert.equal(searchFor("", "lab"), "dir=lab");
  assert.equal(searchFor("loss<1", "lab"), "loss<1 dir=lab");
  assert.equal(searchFor("dir=mine loss<1", "lab"), "loss<1 dir=lab");
  assert.equal(searchFor('loss<1 dir="my lab" adam', "lab"), "loss<1 adam dir=lab");
  assert.equal(searchFor("subdir=x", "lab"), "subdir=x dir=lab");
});

test("a name with a space in it is found", () => {
  const search = searchFor("", "my lab");
  assert.equal(search, 'dir="my lab"');
  const matches = (app) => matchesQuery(parseQuery(search), run, () => directoryOf(app, run));
  assert.ok(matches(appOf("my lab", "mine")));
  assert.equal(searchFor(search, "my lab"), search);
});

test("a run lies in a directory by name only where directories have names", () => {
  assert.equal(directoryOf(appOf("my lab"), run), "my lab");
  assert.equal(directoryOf(appOf(""), run), undefined);
  assert.equal(directoryOf(appOf(), run), undefined);
});

test("directories in words", () => {
  assert.equal(basePaths({ base: "/a:lab=/b", bases: [{ path: "/a" }, { path: "/b" }] }), "/a, /b");
  assert.equal(basePaths({ base: "/data/*", bases: [] }), "/data/*");
});
