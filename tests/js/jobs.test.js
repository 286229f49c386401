import assert from "node:assert/strict";
import { test } from "node:test";

import {
  countJobs,
  foldedJobs,
  ofNewestJobs,
  withoutOtherRanks,
} from "../../web/mindinsight/web/static/js/core/jobs.js";

const alone = (name, created) => ({ id: `./${name}`, job: `./${name}`, rank: null, created });
const ranks = (job, count, created) =>
  Array.from({ length: count }, (_, rank) => ({
    id: `./${job}/rank_${rank}`,
    job: `./${job}`,
    rank,
    created: created + rank,
  }));

test("ranks crowd out no other job", () => {
  const runs = [...ranks("big", 64, 100), alone("old", 1), alone("mid", 50), alone("new", 500)];
  const newest = ofNewestJobs(runs, 3);
  assert.equal(newest.length, 66);
  assert.deepEqual([...new Set(newest.map(({ job }) => job))], ["./big", "./mid", "./new"]);
  assert.equal(countJobs(runs), 4);
});

test("of jobs that began in one second the later first event is newer", () => {
  const runs = ["a", "b", "c"].map((name, n) => ({ ...alone(name, 7), first_event: [7.2, 7.9, 7.5][n] }));
  assert.deepEqual(
    ofNewestJobs(runs, 2).map(({ id }) => id),
    ["./b", "./c"],
  );
});

test("a job is folded where several of its ranks are shown, until somebody unfolds it", () => {
  const runs = [...ranks("a", 3, 1), ...ranks("b", 1, 1), alone("c", 1)];
  assert.deepEqual(foldedJobs(runs, runs, new Set()), new Set(["./a"]));
  assert.deepEqual(foldedJobs(runs, runs, new Set(["./a"])), new Set());
});

test("who picks a few ranks of many sees these, who picks many sees their median", () => {
  const many = ranks("a", 64, 1);
  assert.deepEqual(foldedJobs(many.slice(0, 3), many, new Set()), new Set());
  assert.deepEqual(foldedJobs(many.slice(1), many, new Set()), new Set(["./a"]));
});

test("the first rank stands for a folded job", () => {
  const runs = [...ranks("a", 3, 1), ...ranks("b", 2, 1), alone("c", 1)];
  assert.deepEqual(
    withoutOtherRanks(runs, new Set(["./a"])).map(({ id }) => id),
    ["./a/rank_0", "./b/rank_0", "./b/rank_1", "./c"],
  );
});
