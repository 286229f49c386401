// Alerts: which are new, which have been told, and where their lines belong.

import assert from "node:assert/strict";
import test from "node:test";
import {
  alertLink,
  alertText,
  dumpsFirst,
  faultLink,
  foldRanks,
  leading,
} from "../../web/mindinsight/web/static/js/components/alerts.js";
import { Alerts } from "../../web/mindinsight/web/static/js/core/alerts.js";
import * as format from "../../web/mindinsight/web/static/js/core/format.js";

const t = (key, vars) => `${key} ${JSON.stringify(vars)}`;
const run = { id: "./a", kinds: { scalar: 2 }, dumps: ["./a/dump"] };
const app = {
  t,
  boot: { lang: "en" },
  format,
  selection: {
    run: (id) => (id === "./a" ? run : undefined),
    linkOnly: (view, id, more) => [view, id, more],
  },
  url: { link: (view, params) => [view, params] },
};
const alert = {
  id: "1",
  run: "./a",
  level: "error",
  step: 7,
  wall: 1,
  title: "odd",
  text: "",
  rule: null,
  condition: null,
  limit: null,
  tag: null,
  value: null,
  count: 1,
  ongoing: false,
};

test("the training code's own words are kept, a rule's are the claim", () => {
  assert.equal(alertText(app, alert), "odd");
  const claim = { key: "claim.alert.above", values: { tag: "loss", limit: 0.5 }, missing: [] };
  assert.equal(
    alertText(app, { ...alert, title: "", condition: "above", claim }),
    'claim.alert.above {"tag":"loss","limit":"0.5"}',
  );
});

test("an alert leads to the chart of its tag, of its run, or to the run", () => {
  assert.deepEqual(alertLink(app, { ...alert, tag: "a.b/c[0]" }), [
    "scalar",
    "./a",
    { q: "^a\\.b/c\\[0\\]$", at: "7" },
  ]);
  assert.deepEqual(alertLink(app, alert), ["scalar", "./a", { at: "7" }]);
  assert.deepEqual(alertLink(app, { ...alert, run: "./gone" }), ["overview", { run: "./gone" }]);
});

test("an alert about non-finite values leads to the dump of its run too", () => {
  const nan = { ...alert, condition: "not_finite", tag: "loss" };
  assert.deepEqual(faultLink(app, nan), ["dump", "./a", { dump: "./a/dump", tab: "check" }]);
  assert.equal(faultLink(app, { ...nan, dump: "./a/dump" }), null); // its own link leads there
  assert.equal(faultLink(app, { ...nan, condition: "above" }), null);
  assert.equal(faultLink(app, { ...nan, run: "./gone" }), null);
});

test("of alerts of one run and step, those that lead to a dump come first", () => {
  const [a, b, c] = [
    { ...alert, id: "curve" },
    { ...alert, id: "recorder", dump: "./a/dump" },
    { ...alert, id: "later", step: 8, dump: "./a/dump" },
  ];
  const ids = (/** @type {any[]} */ alerts) => dumpsFirst(alerts).map(({ id }) => id);
  assert.deepEqual(ids([a, b, c]), ["recorder", "curve", "later"]);
  assert.deepEqual(ids([a, c]), ["curve", "later"]);
});

/**
 * A server with alerts, a browser that keeps things, and the page's alerts over both.
 * @param {Map<string, string> | null} storage
 */
function page(storage) {
  const requests = [];
  const server = { alerts: [] };
  const [listeners, ticks] = [[], []];
  const live = { on: (listener) => listeners.push(listener), paused: () => live.rests, rests: false };
  Object.assign(globalThis, {
    window: {
      setTimeout: (f) => (f(), 0),
      setInterval: (tick) => (ticks.push(tick), 0),
      addEventListener: () => undefined,
    },
    document: { documentElement: { isConnected: true }, addEventListener: () => undefined },
    fetch: async (address) => {
      requests.push(String(address));
      const since = Number(new URL(address, "http://host/").searchParams.get("since") ?? -1);
      const later = server.alerts.filter((entry) => entry.wall > since);
      return new Response(JSON.stringify({ alerts: later, total: later.length, now: 0 }));
    },
    localStorage: {
      getItem: (key) => (storage ? (storage.get(key) ?? null) : refuse()),
      setItem: (key, value) => (storage ? storage.set(key, value) : refuse()),
    },
  });
  const alerts = new Alerts(live);
  const batches = [];
  alerts.on((fresh) => batches.push(fresh.map(({ id }) => id)));
  const news = async (...newest) => {
    server.alerts.unshift(...newest);
    listeners.forEach((listener) => listener({}));
    await settled();
  };
  const tick = async () => (ticks.forEach((callback) => callback()), await settled());
  return { alerts, requests, batches, news, tick, live };
}

function refuse() {
  throw new Error("nothing is kept");
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const at = (id, wall) => ({ id, wall });

test("what was there when the page was opened is counted, and what comes is told once", async () => {
  const { alerts, batches, news } = page(new Map());
  alerts.begin("/base");
  await news(at("a", 1));
  const first = batches.length;
  await news(at("c", 3), at("b", 2));
  await news();
  assert.equal(alerts.unseen(), 3);
  assert.deepEqual(batches.slice(first).flat(), ["c", "b"]);
});

test("seen alerts are not counted, on the next page neither, and on another base they are", async () => {
  const storage = new Map();
  const { alerts, news } = page(storage);
  alerts.begin("/base");
  await news(at("a", 1), at("b", 2));
  alerts.see(2);
  alerts.see(1); // an older one takes nothing back
  await settled();
  assert.equal(alerts.unseen(), 0);
  assert.equal(alerts.seen(), 2);
  const next = page(storage);
  next.alerts.begin("/base");
  await next.news(at("c", 3), at("b", 2));
  assert.equal(next.alerts.unseen(), 1);
  const otherPage = page(storage);
  otherPage.alerts.begin("/other");
  await otherPage.news(at("b", 2));
  assert.equal(otherPage.alerts.unseen(), 1);
});

test("alerts whose values a restart replaced are not counted", async () => {
  const { alerts, news } = page(new Map());
  alerts.begin("/base");
  await news({ ...at("a", 1), replaced: true }, at("b", 2));
  assert.equal(alerts.unseen(), 1);
});

test("of a muted run nothing is asked, on the next page neither", async () => {
  const storage = new Map();
  const { alerts, requests } = page(storage);
  alerts.begin("/base");
  alerts.mute("./a", true);
  alerts.mute("./b", true);
  alerts.mute("./b", false);
  await settled();
  const asked = (/** @type {string[]} */ list) =>
    new URL(list[list.length - 1], "http://host/").searchParams.getAll("without");
  assert.deepEqual(asked(requests), ["./a"]);
  const next = page(storage);
  next.alerts.begin("/base");
  await settled();
  assert.ok(next.alerts.muted("./a") && !next.alerts.muted("./b"));
  assert.deepEqual(asked(next.requests), ["./a"]);
});

test("a browser that keeps nothing shows them all the same", async () => {
  const { alerts, news } = page(null);
  alerts.begin("/base");
  await news(at("a", 1));
  assert.equal(alerts.unseen(), 1);
  alerts.see(1);
  await settled();
  assert.equal(alerts.unseen(), 0);
});

test("what comes without news is looked for now and then, but not while the page rests", async () => {
  const { alerts, requests, tick, live } = page(new Map());
  alerts.begin("/base");
  await settled();
  live.rests = true;
  const before = requests.length;
  await tick();
  assert.equal(requests.length, before);
  live.rests = false;
  await tick();
  assert.equal(requests.length, before + 1);
});

test("the alert named first is the newest whose values no restart replaced", () => {
  const [ended, old, stands] = [
    { id: "a", condition: "failed", replaced: false },
    { id: "b", condition: "not_finite", replaced: true },
    { id: "c", condition: "not_finite", replaced: false },
  ];
  assert.equal(leading([ended, old, stands]), stands);
  assert.equal(leading([ended, old]), old);
  assert.equal(leading([ended]), undefined);
});

test("alerts of one event on the ranks of a job are one, with the other ranks", () => {
  const ranks = Object.fromEntries([0, 1, 2].map((rank) => [`./job/${rank}`, { job: "./job", rank }]));
  const jobs = { ...app, selection: { run: (id) => ranks[id] ?? { job: id, rank: null } } };
  const of = (name, more = {}) => ({ ...alert, id: JSON.stringify([name, more]), run: name, ...more });
  const jump = [2, 0, 1].map((rank) => of(`./job/${rank}`, { title: `the loss jumped to ${rank}.5` }));
  const others = [
    of("./job/1", { step: 8, title: "the loss jumped to 3" }),
    of("./job/1", { title: "weights differ" }),
    of("./other", { title: "the loss jumped to 7" }),
    of("./else", { title: "the loss jumped to 7" }),
    of("./job/1", { title: "the loss jumped to 9" }), // of a second start of the rank
  ];
  const events = foldRanks(jobs, [...jump, ...others]);
  assert.deepEqual(
    events.map(({ alert: first, ranks: more }) => [first.run, first.step, more]),
    [
      ["./job/2", 7, [0, 1]],
      ["./job/1", 8, []],
      ["./job/1", 7, []],
      ["./other", 7, []],
      ["./else", 7, []],
      ["./job/1", 7, []],
    ],
  );
});
