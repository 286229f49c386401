import assert from "node:assert/strict";
import { test } from "node:test";

import { nameOf, tagsOf } from "../../web/mindinsight/web/static/js/core/tags.js";

const ranks = [0, 1, 2].map((rank) => ({ id: `./job/rank_${rank}`, kinds: { image: 1 } }));
const appOf = (...runs) => ({
  selection: { runs: () => [...ranks, { id: "./other", kinds: {} }] },
  api: {
    get: async (_path, query) => ({
      tags: [{ tag: "input", runs: runs.filter((run) => query.run.includes(run)), count: 3 }],
    }),
  },
});

test("the runs of a tag keep the order of the list of runs, whichever was written to last", async () => {
  const before = await tagsOf(appOf("./job/rank_2", "./other", "./job/rank_0", "./job/rank_1"), "image");
  const after = await tagsOf(appOf("./job/rank_1", "./job/rank_0", "./job/rank_2"), "image");
  assert.deepEqual(before[0].runs, ["./job/rank_0", "./job/rank_1", "./job/rank_2"]);
  assert.equal(before[0].count, 3);
  assert.equal(nameOf(before), nameOf(after));
});

test("nobody is asked for kinds that no selected run has", async () => {
  const app = appOf();
  app.api.get = () => assert.fail("asked");
  assert.deepEqual(await tagsOf(app, "tensor"), []);
});
