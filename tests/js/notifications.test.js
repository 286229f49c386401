// Notifications of the browser: only when asked for, allowed, and nobody looks.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  notificationState,
  notify,
  wantNotifications,
} from "../../web/mindinsight/web/static/js/core/notifications.js";

/** @param {string} permission what the person answers @param {boolean} hidden @param {boolean} secure */
function browser(permission, hidden, secure = true) {
  /** @type {string[]} */
  const shown = [];
  class Notification {
    static permission = "default";
    static async requestPermission() {
      Notification.permission = permission;
    }
    /** @param {string} title @param {{body: string}} options */
    constructor(title, { body }) {
      shown.push(`${title}: ${body}`);
    }
    close() {}
  }
  const storage = new Map();
  Object.assign(globalThis, {
    Notification,
    isSecureContext: secure,
    document: { hidden },
    localStorage: {
      getItem: (/** @type {string} */ key) => storage.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => storage.set(key, value),
    },
  });
  return shown;
}

const MESSAGES = ["d", "c", "b", "a"].map((id) => ({ id, title: "Error", text: id }));

test("they are shown when they were asked for and nobody looks, the newest three", async () => {
  const shown = browser("granted", true);
  notify(MESSAGES, () => {});
  assert.deepEqual([notificationState(), shown], ["off", []]);
  assert.equal(await wantNotifications(true), "on");
  notify(MESSAGES, () => {});
  assert.deepEqual(shown, ["Error: b", "Error: c", "Error: d"]);
  assert.equal(await wantNotifications(false), "off");
  notify(MESSAGES, () => {});
  assert.equal(shown.length, 3);
});

test("who looks at the page gets none", async () => {
  const shown = browser("granted", false);
  await wantNotifications(true);
  notify(MESSAGES, () => {});
  assert.deepEqual(shown, []);
});

test("a refusal and an address without HTTPS are told apart", async () => {
  browser("denied", true);
  assert.equal(await wantNotifications(true), "denied");
  browser("granted", true, false);
  assert.equal(await wantNotifications(true), "missing");
});
