import assert from "node:assert/strict";
import { test } from "node:test";

import {
  afterMove,
  joinFields,
  splitFields,
  withMoves,
} from "../../web/mindinsight/web/static/js/core/arrangement.js";
import { readOptions, writeOptions } from "../../web/mindinsight/web/static/js/views/scalar/options.js";
import {
  addSection,
  AS_RECORDED,
  dropChart,
  dropSection,
  isArranged,
  moveChart,
  removeSection,
  renameSection,
  sectionsOf,
} from "../../web/mindinsight/web/static/js/views/scalar/sections.js";
import { inBlocks } from "../../web/mindinsight/web/static/js/views/scalar/curves.js";
import { address } from "./scalar_helpers.js";

const TAGS = ["a/1", "a/2", "a/3", "b/1", "b/2", "lr"];

/** Page of tags whose options are in an address. */
function pageOf(tags = TAGS, search = "") {
  const url = address(search);
  const page = {
    app: { t: (key) => key },
    tags,
    options: () => readOptions(url),
    change: (changes) => writeOptions(url, { ...readOptions(url), ...changes }),
    reopened: (others = tags) => pageOf(others, url.text()),
    text: () => url.text(),
  };
  return page;
}

const layout = (page) => Object.fromEntries(sectionsOf(page).map(({ name, charts }) => [name, charts]));

test("moved items follow each other as they were arranged, and new ones take their default position", () => {
  let moves = [];
  const items = ["a", "b", "c", "d"];
  for (const [item, before] of [
    ["d", "b"],
    ["a", "d"],
    ["c", "a"],
  ]) {
    moves = afterMove(withMoves(items, moves), moves, item, before);
  }
  assert.deepEqual(withMoves(items, moves), ["c", "a", "d", "b"]);
  assert.deepEqual(withMoves(["a", "aa", "b", "bb", "c", "d", "e"], moves), [
    "aa",
    "c",
    "a",
    "d",
    "b",
    "bb",
    "e",
  ]);
});

test("every order can be arranged and is the same in the next visit", () => {
  const items = ["a", "b", "c", "d", "e"];
  const wanted = ["e", "c", "a", "d", "b"];
  let moves = [];
  [...wanted].reverse().forEach((item, i) => {
    const before = i ? wanted[wanted.length - i] : "";
    moves = afterMove(withMoves(items, moves), moves, item, before);
  });
  assert.deepEqual(withMoves(items, moves), wanted);
});

test("items that are missing at present keep their moves", () => {
  const moves = afterMove(["a", "b", "c"], [], "c", "a");
  const later = afterMove(["a", "b"], moves, "b", "a");
  assert.deepEqual(withMoves(["a", "b", "c"], later), ["b", "c", "a"]);
});

test("fields of an address survive any character of a tag", () => {
  const fields = ["a>b", "50%", "层/损失"];
  assert.deepEqual(splitFields([joinFields(fields)], 3), [fields]);
  assert.deepEqual(splitFields(["too>few", "%E0%A4%A>b>c"], 3), [["%E0%A4%A", "b", "c"]]);
});

test("a card moves within its section, to another one, and back into its own", () => {
  const page = pageOf();
  dropChart(page, "a/1", "a/3");
  assert.deepEqual(layout(page).a, ["a/2", "a/3", "a/1"]);
  dropChart(page, "b/2", "a/3");
  assert.deepEqual(layout(page.reopened()), {
    a: ["a/2", "b/2", "a/3", "a/1"],
    b: ["b/1"],
    "scalar.no_prefix": ["lr"],
  });
  moveChart(page, "b/2", "b", "b/1");
  assert.deepEqual(layout(page).b, ["b/2", "b/1"]);
  assert.deepEqual(layout(page).a, ["a/2", "a/3", "a/1"]);
});

test("cards stay where they are when the card after them leaves the section or is pinned", () => {
  const page = pageOf();
  dropChart(page, "a/3", "a/1");
  page.change({ pins: ["a/1"] });
  assert.deepEqual(layout(page).a, ["a/3", "a/2"]);
  page.change({ pins: [] });
  moveChart(page, "a/1", "b", "");
  assert.deepEqual(layout(page).a, ["a/3", "a/2"]);
});

test("a new tag lands in its section without moving others", () => {
  const page = pageOf();
  dropChart(page, "a/3", "a/1");
  assert.deepEqual(layout(page.reopened([...TAGS, "a/25"])).a, ["a/3", "a/1", "a/2", "a/25"]);
});

test("a card in the pinned section is pinned, and leaves it unpinned", () => {
  const page = pageOf();
  moveChart(page, "a/2", ":pinned", "");
  moveChart(page, "b/1", ":pinned", "a/2");
  assert.deepEqual(page.options().pins, ["a/2", "b/1"]);
  assert.deepEqual(layout(page)["scalar.pinned"], ["b/1", "a/2"]);
  page.change({ pins: ["a/2"] });
  assert.deepEqual(layout(page).b, ["b/1", "b/2"]);
  moveChart(page, "a/2", "b", "b/1");
  assert.deepEqual(page.options().pins, []);
  page.change({ pins: ["a/2"] });
  assert.deepEqual(layout(page)["scalar.pinned"], ["a/2"]);
});

test("sections are added, renamed, moved, and removed when they are empty", () => {
  const page = pageOf();
  assert.equal(addSection(page, "Mine"), "Mine");
  assert.equal(addSection(page, "a"), "a");
  assert.deepEqual(layout(page).Mine, []);
  moveChart(page, "lr", "Mine", "");
  renameSection(page, "Mine", "Ours");
  dropSection(page, "b", "Mine");
  assert.deepEqual(Object.entries(layout(page.reopened())), [
    ["b", ["b/1", "b/2"]],
    ["Ours", ["lr"]],
    ["a", ["a/1", "a/2", "a/3"]],
  ]);
  moveChart(page, "lr", "b", "");
  removeSection(page, "Mine");
  assert.deepEqual(Object.keys(layout(page)), ["b", "a"]);
});

test("a reset leaves the address without an arrangement", () => {
  const page = pageOf();
  assert.ok(!isArranged(page.options()));
  dropChart(page, "a/1", "b/1");
  page.change({ hidden: ["a/2"], spans: new Map([["a/3", [2, 1]]]) });
  assert.ok(isArranged(page.reopened().options()));
  page.change(AS_RECORDED);
  assert.equal(page.text(), "");
});

test("sizes out of range are ignored", () => {
  const { spans } = pageOf(TAGS, "span=a:b:2x3&span=x:9x1&span=y:1x0").options();
  assert.deepEqual([...spans], [["a:b", [2, 3]]]);
});

test("blocks end after the card that fills them", () => {
  assert.deepEqual(inBlocks(["a", "b", "c", "d"], [1, 4, 1, 1], 4), [
    { charts: ["a", "b"], cells: 5 },
    { charts: ["c", "d"], cells: 2 },
  ]);
});
