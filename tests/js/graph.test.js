import assert from "node:assert/strict";
import { test } from "node:test";

import { createCamera } from "../../web/mindinsight/web/static/js/components/graph/camera.js";
import { path } from "../../web/mindinsight/web/static/js/components/graph/lines.js";
import { neighbour } from "../../web/mindinsight/web/static/js/components/graph/neighbour.js";
import { spoken } from "../../web/mindinsight/web/static/js/components/graph/shapes.js";
import { descendants } from "../../web/mindinsight/web/static/js/views/graph/scopes.js";

globalThis.requestAnimationFrame = (callback) => (callback(0), 0);

function stage(width = 800, height = 600) {
  const element = new EventTarget();
  return Object.assign(element, {
    clientWidth: width,
    clientHeight: height,
    getBoundingClientRect: () => ({ left: 0, top: 0 }),
    setPointerCapture() {},
  });
}

/** @param {string} type @param {Record<string, any>} fields */
function event(type, fields) {
  return Object.assign(new Event(type), { button: 0, pointerId: 1, preventDefault() {}, ...fields });
}

const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("zooming keeps the point under the pointer", () => {
  const camera = createCamera(stage(), () => {});
  camera.set({ x: 30, y: -20, k: 1 });
  const before = { x: (200 - 30) / 1, y: (100 + 20) / 1 };
  camera.zoom(1.7, 200, 100);
  const { x, y, k } = camera.transform();
  close((200 - x) / k, before.x);
  close((100 - y) / k, before.y);
});

test("zooming ends at both ends", () => {
  const camera = createCamera(stage(), () => {});
  for (let i = 0; i < 99; i++) camera.zoom(2);
  assert.equal(camera.transform().k, 4);
  for (let i = 0; i < 99; i++) camera.zoom(0.2);
  assert.equal(camera.transform().k, 0.001);
});

test("a press that hardly moves is a click, a longer one drags", () => {
  const element = stage();
  const camera = createCamera(element, () => {});
  element.dispatchEvent(event("pointerdown", { clientX: 10, clientY: 10 }));
  element.dispatchEvent(event("pointermove", { clientX: 12, clientY: 11 }));
  element.dispatchEvent(event("pointerup", { clientX: 12, clientY: 11 }));
  assert.equal(camera.dragged(), false);
  assert.deepEqual(camera.transform(), { x: 0, y: 0, k: 1 });
  element.dispatchEvent(event("pointerdown", { clientX: 10, clientY: 10 }));
  element.dispatchEvent(event("pointermove", { clientX: 50, clientY: 40 }));
  element.dispatchEvent(event("pointerup", { clientX: 50, clientY: 40 }));
  assert.equal(camera.dragged(), true);
  assert.deepEqual(camera.transform(), { x: 40, y: 30, k: 1 });
});

test("two fingers spread to zoom", () => {
  const element = stage();
  const camera = createCamera(element, () => {});
  element.dispatchEvent(event("pointerdown", { pointerId: 1, clientX: 300, clientY: 300 }));
  element.dispatchEvent(event("pointerdown", { pointerId: 2, clientX: 400, clientY: 300 }));
  element.dispatchEvent(event("pointermove", { pointerId: 2, clientX: 500, clientY: 300 }));
  close(camera.transform().k, 2);
});

test("fitting shows all, in the middle, and never blown up", () => {
  const camera = createCamera(stage(), () => {});
  camera.fit({ x: 0, y: 0, w: 4000, h: 1000 });
  const { x, y, k } = camera.transform();
  close(k, 768 / 4000);
  close(x, 16);
  close(y, (600 - 1000 * k) / 2);
  camera.fit({ x: 0, y: 0, w: 10, h: 10 });
  assert.equal(camera.transform().k, 1.5);
});

test("a tall drawing begins at its top, legibly", () => {
  const camera = createCamera(stage(), () => {});
  camera.begin({ x: 0, y: 0, w: 500, h: 9000 });
  assert.equal(camera.transform().k, 0.92); // texts 12 units high have 11 pixels
  assert.equal(camera.transform().y, 16);
});

test("revealing moves no more than needed", () => {
  const camera = createCamera(stage(), () => {});
  camera.reveal({ x: 100, y: 100, w: 50, h: 50 });
  assert.deepEqual(camera.transform(), { x: 0, y: 0, k: 1 });
  camera.reveal({ x: 900, y: 100, w: 50, h: 50 });
  assert.deepEqual(camera.transform(), { x: 800 - 40 - 950, y: 0, k: 1 });
  camera.reveal({ x: 0, y: 0, w: 1440, h: 10 });
  close(camera.transform().k, 0.5);
});

test("a box is shown in the middle, legibly; of one that is too large its top", () => {
  const camera = createCamera(stage(), () => {});
  camera.set({ x: 0, y: 0, k: 0.1 });
  camera.centre({ x: 1000, y: 2000, w: 100, h: 40 });
  const { x, y, k } = camera.transform();
  assert.equal(k, 0.92);
  close(1050 * k + x, 400);
  close(2020 * k + y, 300);
  camera.centre({ x: 0, y: 500, w: 300, h: 9000 });
  close(500 * camera.transform().k + camera.transform().y, 40);
});

const boxes = [
  { id: 1, parent: 0, x: 0, y: 0, w: 300, h: 300, open: true },
  { id: 2, parent: 1, x: 100, y: 40, w: 60, h: 30, open: false },
  { id: 3, parent: 1, x: 100, y: 120, w: 60, h: 30, open: false },
  { id: 4, parent: 1, x: 200, y: 125, w: 60, h: 30, open: false },
  { id: 5, parent: 0, x: 100, y: 400, w: 60, h: 30, open: false },
];

test("arrow keys go to the nearest box in their direction", () => {
  assert.equal(neighbour(boxes, null, [0, 1]), 2);
  assert.equal(neighbour(boxes, 2, [0, 1]), 3);
  assert.equal(neighbour(boxes, 3, [1, 0]), 4);
  assert.equal(neighbour(boxes, 4, [-1, 0]), 3);
  assert.equal(neighbour(boxes, 3, [0, 1]), 5);
  assert.equal(neighbour(boxes, 5, [0, 1]), undefined);
});

test("closing a scope closes what is in it", () => {
  assert.deepEqual(descendants(boxes, 1), [1, 2, 3, 4]);
  assert.deepEqual(descendants(boxes, 5), [5]);
});

test("lines leave and arrive upright", () => {
  assert.equal(path([0, 0, 0, 10]), "M0 0L0 10");
  assert.equal(path([0, 0, 40, 20]), "M0 0C0 10 40 10 40 20");
});

test("a screen reader hears name, kind and state", () => {
  const t = (key, vars) => (vars ? `${key}(${vars.n})` : key);
  const box = { label: "fc1", kind: "scope", type: "name_scope", text: "", count: 2, open: false };
  assert.equal(spoken(box, t), "fc1, graph.kind.scope, graph.said.closed(2)");
  assert.equal(
    spoken({ ...box, kind: "operator", count: 0, type: "MatMul", text: "float32 2×3" }, t),
    "fc1, graph.kind.operator, MatMul, float32 2×3",
  );
});

test("a drawing begins as wide as a narrow stage, and legible on a wide one", () => {
  const begun = (width, w) => {
    const camera = createCamera(stage(width), () => {});
    camera.begin({ x: 0, y: 0, w, h: 3000 });
    return camera.transform();
  };
  const { x, k } = begun(364, 440);
  assert.ok(x >= 16 && x + 440 * k <= 364 - 15);
  assert.equal(begun(1000, 2000).k, 0.92);
  assert.equal(begun(364, 4000).k, 0.5);
});
