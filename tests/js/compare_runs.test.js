import assert from "node:assert/strict";
import { test } from "node:test";

import { lastPair } from "../../web/mindinsight/web/static/js/views/align/beside.js";

const run = (name) => ({ id: `./${name}`, job: `./${name}`, rank: null });
const file = (id, modified = 0) => ({ id: `./${id}`, modified });
const [one, two] = [run("one"), run("two")];

test("the last checkpoints of both runs are compared, by time and then by the numbers in their names", () => {
  const files = [
    file("one/net-9.ckpt"),
    file("one/net-10.ckpt"),
    file("two/a.ckpt", 5),
    file("two/b.ckpt", 4),
  ];
  assert.deepEqual(lastPair(files, [one, two], two, one), ["./one/net-10.ckpt", "./two/a.ckpt"]);
});

test("a run without checkpoints of its own, and ranks of one job, have none to compare", () => {
  const files = [file("one/net-9.ckpt"), file("net.ckpt")];
  assert.equal(lastPair(files, [one, two], two, one), null);
  const ranks = [0, 1].map((rank) => ({ id: `./job/rank_${rank}`, job: "./job", rank }));
  assert.equal(lastPair([file("job/net.ckpt")], ranks, ranks[0], ranks[1]), null);
});
