// The chain that led to a fault: in the order of execution, long ones without their middle.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shownLinks } from "../../web/mindinsight/web/static/js/views/dump/fault_chain.js";

/** @param {number} length */
const chain = (length) =>
  Array.from({ length }, (_, i) => ({
    operator: String(i),
    recorded: "",
    type: "",
    carrier: /** @type {const} */ ("operator"),
    source: null,
    tensor: null,
    late: false,
  }));

test("a chain runs from the batch to the fault, a long one without its middle", () => {
  const names = (/** @type {ReturnType<typeof shownLinks>} */ links) => links.map((link) => link?.operator);
  assert.deepEqual(names(shownLinks(chain(3), false)), ["2", "1", "0"]);
  assert.deepEqual(names(shownLinks(chain(20), false)), ["19", "18", undefined, "4", "3", "2", "1", "0"]);
  assert.equal(shownLinks(chain(20), true).length, 20);
});
