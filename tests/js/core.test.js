import assert from "node:assert/strict";
import { mock, test } from "node:test";

import {
  asking,
  build,
  column,
  columns,
  get,
  onAsking,
} from "../../web/mindinsight/web/static/js/core/api.js";
import { unpack, unpackAnswers } from "../../web/mindinsight/web/static/js/core/column_decoding.js";
import { colourOf, dashesOf, giveColours } from "../../web/mindinsight/web/static/js/core/colours.js";
import { throttle } from "../../web/mindinsight/web/static/js/core/dom.js";
import * as format from "../../web/mindinsight/web/static/js/core/format.js";
import { claimText, madeClaim } from "../../web/mindinsight/web/static/js/core/claims.js";
import { createTranslate } from "../../web/mindinsight/web/static/js/core/i18n.js";
import { inOrder } from "../../web/mindinsight/web/static/js/core/run_list.js";
import { nearest } from "../../web/mindinsight/web/static/js/components/field.js";
import { bestEnd, isTorn, stateOf } from "../../web/mindinsight/web/static/js/components/runs/values.js";
import { groupsBy } from "../../web/mindinsight/web/static/js/views/scalar/groups.js";

globalThis.window ??= globalThis;

test("numbers are short and say when they are none", () => {
  const cases = [
    [0, "0"],
    [1, "1"],
    [-3, "−3"],
    [0.1, "0.1"],
    [1 / 3, "0.3333"],
    [123456, "123456"],
    [0.00001234, "1.234e−5"],
    [1.5e9, "1.5e9"],
    [NaN, "NaN"],
    [Infinity, "+Inf"],
    [-Infinity, "−Inf"],
    [null, "–"],
    [undefined, "–"],
  ];
  for (const [value, text] of cases) assert.equal(format.number(value), text);
  assert.deepEqual([12, 9007199254740100, -12_345_678].map(format.step), [
    "12",
    "9007199254740100",
    "−12345678",
  ]);
});

test("numbers have the digits and the notation that somebody chose", () => {
  format.writeNumbers({ digits: 6, scientific: false });
  assert.deepEqual(
    [0.123456789, 12, 120000].map((value) => format.number(value, 3)),
    ["0.123457", "12", "120000"],
  );
  assert.equal(format.chartFormat(), ".6g");
  format.writeNumbers({ digits: 3, scientific: false });
  const runs = [0.0012341, 0.0012342].map((lr) => ({ id: String(lr), hyper: { lr } }));
  const page = /** @type {any} */ ({
    app: { selection: { runs: () => runs } },
    options: () => ({ bins: "" }),
  });
  assert.deepEqual(
    groupsBy(page, "hyper:lr").map(({ label }) => label),
    ["0.0012341", "0.0012342"],
    "settings are no measured numbers",
  );
  format.writeNumbers({ digits: null, scientific: true });
  assert.deepEqual(
    [0.5, 31.25, 7].map((value) => format.number(value)),
    ["5e−1", "3.125e1", "7"],
  );
  assert.equal(format.chartFormat(), ".3e");
  format.writeNumbers({ digits: null, scientific: false });
  assert.equal(format.number(0.5), "0.5");
});

test("sizes and durations are for people", () => {
  assert.deepEqual([0, 999, 1000, 12_345, 123_456_789, 5e12].map(format.bytes), [
    "0 B",
    "999 B",
    "1.0 kB",
    "12.3 kB",
    "123 MB",
    "5.0 TB",
  ]);
  assert.deepEqual([0.5, 42, 61, 3723, 90061, -1].map(format.duration), [
    "0.5 s",
    "42 s",
    "1:01",
    "1:02:03",
    "1d 1:01",
    "–",
  ]);
  globalThis.document = { documentElement: { lang: "zh" } };
  assert.equal(format.duration(90061), "1天 1:01");
  delete globalThis.document;
});

test("ages use the unit that fits", () => {
  const t = (key, vars) => `${key} ${vars?.n ?? ""}`.trim();
  assert.deepEqual(
    [1, 59, 60, 3599, 7200, 172800].map((s) => format.ago(s, t)),
    [
      "common.now",
      "common.ago.seconds 59",
      "common.ago.minutes 1",
      "common.ago.minutes 59",
      "common.ago.hours 2",
      "common.ago.days 2",
    ],
  );
  assert.deepEqual(
    [-30, -61].map((seconds) => format.ago(seconds, (key) => key)),
    ["common.now", "common.ahead"],
  );
});

test("texts are filled in, singular and plural", () => {
  const t = createTranslate({ a: "{n} run | {n} runs", b: "no {x}" }, "en");
  assert.equal(t("a", { n: 1 }), "1 run");
  assert.equal(t("a", { n: 1234 }), "1,234 runs");
  assert.equal(t("b", { x: "<i>" }), "no <i>");
  assert.equal(t("b"), "no {x}");
  assert.equal(t("missing"), "missing");
});

test("counts beside n are written as n is, and steps and texts without n are not", () => {
  const texts = { a: "{n} steps of {steps}, from step {step}", b: "{shown} of {all}" };
  const values = { n: 1980, steps: 2000, step: 1500 };
  const app = /** @type {any} */ ({
    t: createTranslate(texts, "en"),
    boot: { lang: "en" },
    format: { number: String },
  });
  assert.equal(app.t("a", values), "1,980 steps of 2,000, from step 1500");
  assert.equal(claimText(app, madeClaim("a", "note", values)), "1,980 steps of 2,000, from step 1500");
  assert.equal(
    claimText(app, madeClaim("a", "note", { ...values, steps: "all" })).slice(0, 18),
    "1,980 steps of all",
  );
  assert.equal(app.t("b", { shown: 1980, all: 2000 }), "1980 of 2000");
  assert.equal(createTranslate({ a: "{steps} 步中的 {n} 步" }, "zh")("a", values), "2,000 步中的 1,980 步");
});

test("Chinese has no space between its own characters, but beside Latin letters", () => {
  const t = createTranslate({ by: "按 {key} 着色" }, "zh");
  assert.equal(t("by", { key: "训练" }), "按训练着色");
  assert.equal(t("by", { key: "optimizer" }), "按 optimizer 着色");
});

test("lists are joined as the language writes them", () => {
  const texts = { a: "in {tags}" };
  assert.equal(createTranslate(texts, "en")("a", { tags: ["x", "y"] }), "in x, y");
  assert.equal(createTranslate(texts, "zh")("a", { tags: ["x", "y"] }), "in x、y");
});

test("columns come back as typed arrays", () => {
  const bdata = Buffer.from(new Float64Array([1.5, NaN]).buffer).toString("base64");
  const array = column({ dtype: "f8", bdata });
  assert.ok(array instanceof Float64Array);
  assert.deepEqual([...array], [1.5, NaN]);
  assert.deepEqual(column([1, 2]), [1, 2]);
  const long = Buffer.from(BigInt64Array.of(3n, 2n ** 60n).buffer).toString("base64");
  assert.deepEqual([...column({ dtype: "i8", bdata: long })], [3, 2 ** 60]);
  assert.throws(() => column({ dtype: "c16", bdata: "" }), /unknown column type/);
});

test("addresses repeat lists and leave out what is not given", () => {
  assert.equal(build("v2/x", { run: ["./a b", "./c"], tag: null, px: 3 }), "v2/x?run=.%2Fa+b&run=.%2Fc&px=3");
  assert.equal(build("v2/x"), "v2/x");
});

const member = (id, slot, rank = null) => ({ id, slot, rank });

test("runs that are shown together have different colours and keep them; dashes tell repeats apart", () => {
  const many = Array.from({ length: 60 }, (_, i) => member(`r${i}`, i));
  assert.deepEqual(
    [0, 19, 20].map((i) => colourOf(many[i])),
    [0, 9, 0],
  );
  const given = new Map();
  const colours = (runs) => runs.map(({ id }) => given.get(id));
  assert.ok(giveColours([many[3], many[23], many[43]], given));
  assert.deepEqual(colours([many[3], many[23], many[43]]), [3, 4, 5]);
  assert.ok(giveColours([many[3], many[4], many[23]], given)); // 4 is taken
  assert.deepEqual(colours([many[3], many[4], many[23]]), [3, 5, 4]);
  assert.ok(!giveColours([many[23], many[4]], given));
  giveColours(many.slice(0, 20), given);
  assert.equal(new Set(colours(many.slice(0, 20))).size, 20);
  const dashes = dashesOf(many.slice(0, 3), (id) => (id === "r1" ? "red" : "blue"));
  assert.deepEqual([...dashes.values()], [0, 0, 1]);
});

test("ranks of a job go round the palette from its colour", () => {
  const ranks = [0, 1, 2].map((rank) => member(`job/${rank}`, 19, rank));
  assert.deepEqual(ranks.map(colourOf), [9, 0, 1]);
});

test("the nearest recorded step is taken", () => {
  assert.deepEqual(
    [0, 4, 6, 1e9].map((step) => nearest([1, 5, 10], step)),
    [0, 1, 1, 2],
  );
});

test("losses are best low, accuracies high, and of other scalars it is not known", () => {
  const ends = (/** @type {string[]} */ ...tags) => tags.map(bestEnd);
  assert.deepEqual(ends("neg_loss", "eval/negative_mse", "neg_acc", "neg_log_loss"), [
    "max",
    "max",
    "min",
    "min",
  ]);
  assert.deepEqual(ends("loss", "val/error_rate", "train_err", "step_time"), Array(4).fill("min"));
  assert.deepEqual(ends("accuracy", "F1", "tokens_per_sec", "mIoU"), Array(4).fill("max"));
  assert.deepEqual(ends("learning_rate", "accumulated_cost", "grad_norm"), Array(3).fill(null));
  const plain = ["TotalLoss", "loss/auto", "train.loss", "val/acc_loss", "accuracy_error", "step_time"];
  assert.deepEqual(ends(...plain), Array(6).fill("min"));
  assert.deepEqual(ends("no_loss_accuracy", "mAP", "valAcc", "top1/acc5", "miou"), Array(5).fill("max"));
  const reached = ["eval/return", "hit@10", "ELBO", "log_prob", "logLikelihood", "MRR", "success_rate"];
  assert.deepEqual(ends(...reached), Array(7).fill("max"));
  const scores = ["kappa", "val/mcc", "chrF", "exact_match", "top1", "验证/准确率", "测试得分"];
  assert.deepEqual(ends(...scores), Array(7).fill("max"));
  assert.deepEqual(ends("训练损失", "词错误率", "top1_err"), Array(3).fill("min"));
  assert.deepEqual(ends("neg_log_likelihood"), ["min"]);
  const other = ["loss_scale", "lossScale", "lossless_ratio", "loss/weight", "timestamp", "regret"];
  assert.deepEqual(ends(...other), Array(6).fill(null));
  const turned = ["accuracy_drop", "error_free_rate", "non_accuracy", "1-accuracy", "val/1 - acc", "f1_gap"];
  assert.deepEqual(ends(...turned), Array(6).fill(null));
  assert.deepEqual(ends("top-1-accuracy", "top_1_accuracy"), ["max", "max"]);
});

test("a run's state follows the age of its last event", () => {
  const at = (last_event) => stateOf({ last_event, events: true, finished: false, updated: 10_000 }, 10_000);
  assert.deepEqual([9_990, 9_000, 5_000].map(at), ["running", "quiet", "stopped"]);
  assert.equal(stateOf({ last_event: 9_990, events: false, finished: false }, 10_000), "unrecorded");
});

test("a run whose files were closed is finished at once", () => {
  assert.equal(stateOf({ last_event: 9_999, finished: true, failure: "" }, 10_000), "finished");
  assert.equal(stateOf({ last_event: 9_999, finished: true, failure: "ValueError" }, 10_000), "failed");
});

test("an unfinished record is one for good from a moment on", () => {
  assert.equal(isTorn({ torn_since: null }, 10_000), false);
  assert.equal(isTorn({ torn_since: 10_001 }, 10_000), false);
  assert.equal(isTorn({ torn_since: 0 }, 10_000), true);
});

test("runs stand in one order, however they came", () => {
  const run = (id, created, job = id, rank = null) => ({ id, created, job, rank });
  const ranks = [0, 1, 2, 10].map((rank) => run(`./job/rank_${rank}`, 490 + rank, "./job", rank));
  const runs = [...ranks, run("./between", 491), run("./a", 490), run("./newest", 900), run("./b", 490)];
  const expected = ["./newest", ...ranks.map((rank) => rank.id), "./between", "./a", "./b"];
  for (let turn = 0; turn < runs.length; turn++) {
    const turned = [...runs.slice(turn), ...runs.slice(0, turn)];
    assert.deepEqual(
      inOrder(turned).map((listed) => listed.id),
      expected,
    );
    assert.deepEqual(
      inOrder(turned.reverse()).map((listed) => listed.id),
      expected,
    );
  }
});

test("answers in an answer are views of the same bytes", () => {
  /** @param {string} text @param {number[]} bytes */
  const packed = (text, bytes) => {
    const head = text.padEnd(text.length + ((8 - ((text.length + 4) % 8)) % 8));
    return [head.length, 0, 0, 0, ...new TextEncoder().encode(head), ...bytes];
  };
  const inner = packed('{"value":{"dtype":"f8","at":0,"length":1}}', [0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  const ends = `"dtype":"u1","length":${inner.length}`;
  const outer = packed(`{"answers":[{"at":0,${ends}},{"at":${inner.length},${ends}}]}`, [...inner, ...inner]);
  const answers = unpackAnswers(unpack(new Uint8Array(outer).buffer));
  assert.deepEqual(
    answers.map(({ value }) => [...value]),
    [[1], [1]],
  );
});

test("requests are counted until their responses are read, errors too", async (context) => {
  /** @type {((answer: any) => void)[]} */
  const answers = [];
  context.mock.method(globalThis, "fetch", () => new Promise((resolve) => answers.push(resolve)));
  const responses = [
    get("v2/runs"),
    columns("v2/scalar/series"),
    get("v2/gone").catch((error) => error.status),
  ];
  const counts = [];
  const off = onAsking((count) => counts.push(count));
  assert.equal(asking(), 3);
  answers[0](Response.json({ runs: [] }));
  assert.deepEqual(await responses[0], { runs: [] });
  assert.equal(asking(), 2);
  answers[1](Response.json({ error: { code: "unknown" } }, { status: 422 }));
  await assert.rejects(responses[1]);
  answers[2](new Response("", { status: 404 }));
  assert.equal(await responses[2], 404);
  assert.equal(asking(), 0);
  assert.deepEqual(counts, [3, 2, 1, 0]);
  off();
});

test("a throttled function runs at once and once more, unless it is cancelled", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const calls = [];
  const work = throttle(() => calls.push(calls.length), 100);
  (work(), work(), work());
  mock.timers.tick(100);
  assert.deepEqual(calls, [0, 1]);
  work();
  work.cancel();
  mock.timers.tick(200);
  assert.deepEqual(calls, [0, 1]);
  work();
  assert.deepEqual(calls, [0, 1, 2]);
  mock.timers.reset();
});

test("a group without a value says of what", () => {
  const runs = [
    { id: "./a", name: "a", hyper: { lr: 0.1 }, group: "ours" },
    { id: "./b", name: "b", hyper: {}, group: "" },
  ];
  const t = (/** @type {string} */ key, /** @type {any} */ vars) => `${key} ${vars?.name ?? ""}`.trim();
  const page = /** @type {any} */ ({
    app: { t, selection: { runs: () => runs } },
    options: () => ({ bins: "" }),
  });
  const labels = (/** @type {string} */ by) => groupsBy(page, by).map(({ label }) => label);
  assert.deepEqual(labels("hyper:lr"), ["0.1", "scalar.groups.without lr"]);
  assert.deepEqual(labels("group:"), ["ours", "scalar.groups.without runs.col.group"]);
  assert.deepEqual(labels("name:^a"), ["a", "scalar.groups.other"]);
});

test("a setting keeps all digits of an integer", () => {
  const texts = [2 ** 53, 12345678, -10000001, 0.123456].map(format.setting);
  assert.deepEqual(texts, ["9007199254740992", "12345678", "−10000001", "0.12346"]);
});
