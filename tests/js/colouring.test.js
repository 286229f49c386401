import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { COLOURS } from "../../web/mindinsight/web/static/js/core/colours.js";
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
  const runs = Array.from({ length: 22 }, (_, i) => run(`./net${i}_x`));
  const { entries, range } = coloured(runs, by("name:^[^_]+"), colour);
  assert.equal(range, null);
  assert.deepEqual(
    entries.slice(0, 3).map(({ label }) => label),
    ["net0", "net1", "net2"],
  );
  assert.equal(entries[20].colour, entries[0].colour);
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

// What people see who lack a kind of cone: Machado, Oliveira and Fernandes 2009, in linear RGB.
const SIGHT = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  "no red": [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  "no green": [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  "no blue": [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
const times = (m, [a, b, c]) => [0, 3, 6].map((i) => m[i] * a + m[i + 1] * b + m[i + 2] * c);
const XYZ = [0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041];

/** CIELAB of "#rrggbb" as somebody sees it. */
function labOf(text, sight) {
  const linear = [1, 3, 5]
    .map((at) => parseInt(text.slice(at, at + 2), 16) / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const seen = times(sight, linear).map((v) => Math.min(1, Math.max(0, v)));
  const [x, y, z] = times(XYZ, seen).map((v, i) => {
    const share = v / [0.95047, 1, 1.08883][i];
    return share > 216 / 24389 ? Math.cbrt(share) : ((24389 / 27) * share + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000. */
function difference([l1, a1, b1], [l2, a2, b2]) {
  const rad = (degrees) => (degrees * Math.PI) / 180;
  const strong = (c) => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const grey = 0.5 * (1 - strong((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const polar = (a, b) => [Math.hypot(a * (1 + grey), b), (Math.atan2(b, a * (1 + grey)) / Math.PI) * 180];
  const [[c1, h1], [c2, h2]] = [polar(a1, b1), polar(a2, b2)];
  const turn = ((h2 - h1 + 540) % 360) - 180;
  const [l, c, h] = [(l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2 + 360) % 360];
  const t =
    1 -
    0.17 * Math.cos(rad(h - 30)) +
    0.24 * Math.cos(rad(2 * h)) +
    0.32 * Math.cos(rad(3 * h + 6)) -
    0.2 * Math.cos(rad(4 * h - 63));
  const dl = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const dc = (c2 - c1) / (1 + 0.045 * c);
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(rad(turn / 2))) / (1 + 0.015 * c * t);
  const rotation = -2 * strong(c) * Math.sin(rad(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}

test("differences of colours are those of CIEDE2000's reference data", () => {
  const pairs = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  ];
  for (const [a, b, known] of pairs) assert.ok(Math.abs(difference(a, b) - known) < 1e-4);
});

for (const [name, sight] of Object.entries(SIGHT)) {
  test(`colours of runs are told apart on both themes by people with ${name} cones`, () => {
    assert.ok(COLOURS >= 20);
    for (const theme of [light, themeOf("dark")]) {
      const labs = Array.from({ length: COLOURS }, (_, i) => labOf(theme[`--run-${i + 1}`], sight));
      const least = Math.min(...labs.flatMap((a, i) => labs.slice(0, i).map((b) => difference(a, b))));
      assert.ok(least > (name === "all" ? 12 : 6.5), String(least));
    }
  });
}
