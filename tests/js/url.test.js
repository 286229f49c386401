// Settings of a view in its address: which parameters they are, and when a view gets those it has by default.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Url } from "../../web/mindinsight/web/static/js/core/url.js";

/** An address bar. @param {string} search */
function open(search) {
  globalThis.location = { pathname: "/scalar", search, hash: "" };
  globalThis.history = {
    state: null,
    replaceState: (_state, _title, address) => (globalThis.location.search = address.slice("/scalar".length)),
  };
  return new Url();
}

test("settings are how things are shown, not what", () => {
  assert.equal(open("?runs=a,b&s=0.9&x=wall&z=1,2&tag=loss&q=loss").settings(), "s=0.9&x=wall&q=loss");
  assert.equal(open("?runs=a&colour=job").settings(), "");
});

test("a view without anything of its own opens with its defaults", () => {
  const url = open("?runs=a/b");
  url.fill("scalar", "s=0.9&pin=a&pin=b");
  assert.equal(globalThis.location.search, "?runs=a/b&s=0.9&pin=a&pin=b");
  assert.deepEqual(url.all("pin"), ["a", "b"]);
});

test("a link with settings shows what it says", () => {
  for (const search of ["?s=0.1", "?runs=a&z=1,2"]) {
    open(search).fill("scalar", "s=0.9");
    assert.equal(globalThis.location.search, search);
  }
  open("").fill("scalar", undefined);
  assert.equal(globalThis.location.search, "");
});

test("what somebody arranged is kept by base directory; links win over it and do not change it", () => {
  const kept = new Map();
  globalThis.localStorage = { getItem: (key) => kept.get(key), setItem: (key, text) => kept.set(key, text) };
  const url = open("?runs=a&y=log");
  assert.equal(url.remember("/base"), null);
  url.set({ y: "log" });
  assert.ok(!url.arranged("scalar"));
  url.set({ pin: ["loss"], z: "1,2" });
  const later = open("");
  assert.ok(later.remember("/base") > 0);
  later.fill("scalar", "s=0.9");
  assert.equal(globalThis.location.search, "?runs=a&y=log&pin=loss");
  const other = open("");
  other.remember("/elsewhere");
  other.fill("scalar", "s=0.9");
  assert.equal(globalThis.location.search, "?s=0.9");
  later.forget("scalar");
  const reset = open("");
  assert.equal(reset.remember("/base"), null);
  reset.fill("scalar", undefined);
  assert.equal(globalThis.location.search, "");
});

test("a page that shows chosen runs takes the run that an address names for one", () => {
  for (const [search, chosen] of [
    ["?run=./nope", "?runs=nope"],
    ["?run=a&run=b,c&s=0.9", "?s=0.9&runs=a,b%252Cc"],
    ["?run=a&runs=b", "?run=a&runs=b"],
  ]) {
    open(search).chooseNamed();
    assert.equal(globalThis.location.search, chosen);
  }
  const url = open("?run=a");
  globalThis.location.pathname = "/overview";
  url.chooseNamed();
  assert.equal(globalThis.location.search, "?run=a");
});
