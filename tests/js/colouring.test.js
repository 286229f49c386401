import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { coloured, Colouring } from "../../web/mindinsight/web/static/js/core/colouring.js";
import { differing, hyperNames, traitOf } from "../../web/mindinsight/web/static/js/core/run_traits.js";

const css = readFileSync(new URL("../../web/mindinsight/web/static/css/base.css", import.meta.url), "utf8");

/** The colours of a theme, by variable. @param {string} name */
function themeOf(name) {
  const block = css.slice(css.indexOf(`:root[data-theme="${name}"]`)).split("}")[0];
  return Object.fromEntries(
    [...block.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, key, value]) => [key, value]),
  );
}

const light = themeOf("light");
const colour = (variable) => light[variable];
const run = (id, hyper = {}) => ({ id, name: id.slice(2), job: id, rank: null, created: 1, hyper });
const by = (key) => (subject) => traitOf(subject, key);

test("few different numbers have colours of their own, in order", () => {
  const runs = [run("./a", { size: 128 }), run("./b", { size: 32 }), run("./c", { size: 128 }), run("./d")];
  const { of, entries, range, without } = coloured(runs, by("hyper:size"), colour);
  assert.equal(range, null);
  assert.deepEqual(entries, [
    { label: "32", colour: colour("--run-1"), n: 1 },
    { label: "128", colour: colour("--run-2"), n: 2 },
  ]);
  assert.deepEqual(
    [...of.values()],
    [colour("--run-2"), colour("--run-1"), colour("--run-2"), colour("--muted")],
  );
  assert.equal(without, 1);
});

test("many numbers lie on a ramp from the least to the largest", () => {
  const runs = [1, 2, 3, 4, 5, 9].map((size) => run(`./${size}`, { size }));
  const { of, range, entries } = coloured(runs, by("hyper:size"), colour);
  assert.deepEqual([range.low, range.high, range.log, entries], [1, 9, false, []]);
  assert.equal(of.get("./1"), colour("--ramp-1"));
  assert.equal(of.get("./5"), colour("--ramp-3"));
  assert.equal(of.get("./9"), colour("--ramp-5"));
});

test("over two decades the ramp is logarithmic", () => {
  const runs = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 5e-2].map((rate) => run(`./${rate}`, { rate }));
  const { of, range } = coloured(runs, by("hyper:rate"), colour);
  assert.equal(range.log, true);
  assert.equal(of.get("./0.001"), colour("--ramp-3"));
});

test("what is not finite has no place of its own, and does not take the others'", () => {
  const values = {
    "./a": 1,
    "./b": 2,
    "./c": 3,
    "./d": 4,
    "./e": 5,
    "./f": Infinity,
    "./g": -Infinity,
    "./h": NaN,
  };
  const { of, range, without } = coloured(
    Object.keys(values).map((id) => run(id)),
    (subject) => values[subject.id],
    colour,
  );
  assert.deepEqual([range.low, range.high, without], [1, 5, 1]);
  assert.deepEqual(
    [of.get("./f"), of.get("./g"), of.get("./h")],
    [colour("--ramp-5"), colour("--ramp-1"), colour("--muted")],
  );
});

test("words have colours of their own however many there are", () => {
  const runs = Array.from({ length: 14 }, (_, i) => run(`./net${i}_x`));
  const { entries, range } = coloured(runs, by("name:^[^_]+"), colour);
  assert.equal(range, null);
  assert.deepEqual(
    entries.slice(0, 3).map(({ label }) => label),
    ["net0", "net1", "net2"],
  );
  assert.equal(entries[12].colour, entries[0].colour);
});

test("a part of a name is the pattern's first group, else all it matches, else nothing", () => {
  const adam = run("./adam_lr3");
  assert.deepEqual(
    ["name:^(\\w+?)_", "name:lr\\d", "name:none", "name:("].map((key) => traitOf(adam, key)),
    ["adam", "lr3", undefined, undefined],
  );
});

test("hyper-parameters that differ come first", () => {
  const runs = [run("./a", { a: 1, z: 1, list: [1] }), run("./b", { a: 1, z: 2 })];
  assert.deepEqual(hyperNames(runs), ["z", "a"]);
  assert.deepEqual(differing(runs), ["z"]);
});

/** WCAG's luminance of "#rrggbb". @param {string} hex */
function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

for (const name of ["light", "dark"]) {
  test(`the ramp grows lighter evenly and can be seen everywhere: ${name}`, () => {
    const theme = themeOf(name);
    const stops = [1, 2, 3, 4, 5].map((i) => luminance(theme[`--ramp-${i}`]));
    const lightness = stops.map((y) => 116 * Math.cbrt(y) - 16);
    for (let i = 1; i < 5; i++) assert.ok(lightness[i] - lightness[i - 1] > 4, `${lightness}`);
    const panel = luminance(theme["--panel"]);
    for (const stop of stops) {
      assert.ok((Math.max(stop, panel) + 0.05) / (Math.min(stop, panel) + 0.05) >= 3, `${stop}`);
    }
  });
}

test("a late answer about another scalar does not colour anything", async () => {
  globalThis.document = { documentElement: { isConnected: true } };
  const requests = [];
  globalThis.fetch = (address) =>
    new Promise((resolve) =>
      requests.push({ address, give: (body) => resolve(new Response(JSON.stringify(body))) }),
    );
  const query = new Map();
  const url = {
    get: (key, fallback) => query.get(key) ?? fallback,
    set: (values) => Object.entries(values).forEach(([key, value]) => query.set(key, value)),
  };
  const listeners = [];
  const theme = {
    colour,
    on: (listener) => listeners.push(listener),
    changed: () => listeners.forEach((listener) => listener()),
  };
  const colouring = new Colouring(url, theme);
  colouring.follow([run("./a"), run("./b")]);
  colouring.choose("last:loss");
  colouring.choose("last:acc");
  const table = (tag, last) => ({ tables: { [tag]: { runs: ["./a", "./b"], last } } });
  requests[1].give(table("acc", [0.5, 0.75]));
  await new Promise((resolve) => setTimeout(resolve, 0));
  requests[0].give(table("loss", [1, 2]));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(
    requests.map(({ address }) => address),
    ["v2/runs/columns?tag=loss", "v2/runs/columns?tag=acc"],
  );
  assert.deepEqual(
    colouring.colours().entries.map(({ label }) => label),
    ["0.5", "0.75"],
  );
  colouring.choose("");
  assert.equal(colouring.colours(), null);
});
