// Lines of logs: levels, search, and what is marked.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  levelOf,
  linesOf,
  logClaims,
  matchingLines,
  pieces,
} from "../../web/mindinsight/web/static/js/views/dump/log_lines.js";

test("levels are told from where a line begins", () => {
  const levels = [
    "[WARNING] CORE(12,7f,python):2026-01-01 [a.cc:1] text",
    "2026-01-01 10:00:00 ERROR something",
    "FATAL: gone",
    "%0 = resolve(SymbolStr: 'error')",
    "the word in the middle of a long line is no level: ERROR",
  ].map(levelOf);
  assert.deepEqual(levels, ["warning", "error", "error", "", ""]);
});

test("lines are searched whatever the case, and those of a traceback have the level before", () => {
  const lines = linesOf("[INFO] begins\n[ERROR] fails\n  at a.py\n[INFO] ends");
  const numbers = (/** @type {string} */ query, /** @type {string} */ level) =>
    matchingLines(lines, query, level).map((line) => line.number);
  assert.deepEqual(numbers("", ""), [1, 2, 3, 4]);
  assert.deepEqual(numbers("", "error"), [2, 3]);
  assert.deepEqual(numbers("AT A", "warning"), [3]);
});

test("what is searched for is marked", () => {
  assert.deepEqual(pieces("aXbxc", "x"), ["a", "X", "b", "x", "c"]);
  assert.deepEqual(pieces("abc", ""), ["abc"]);
});

test("the end of the last line begins no other, and what was not read is not counted", () => {
  assert.equal(linesOf("a\nb\n").length, 2);
  const keys = (/** @type {Parameters<typeof logClaims>} */ ...counts) =>
    logClaims(...counts).map(({ key }) => key);
  assert.deepEqual(keys(10, 3, 5, true), ["claim.log.lines"]);
  assert.deepEqual(keys(10, 3, 5, false), ["claim.log.lines_so_far"]);
  assert.deepEqual(keys(10, 6, 5, true), ["claim.log.lines", "claim.log.drawn"]);
});
