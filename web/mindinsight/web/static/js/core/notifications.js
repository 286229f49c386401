// Browser notifications, shown while the page is hidden if the user has switched them on.

const KEY = "mindinsight notifications";
const MOST = 3; // at a time

/** @typedef {"on" | "off" | "denied" | "missing"} State */

/**
 * Return the state of notifications. "missing" if the browser has none, or not without HTTPS.
 * @returns {State} "missing" where the browser has none, or not for a page without HTTPS
 */
export function notificationState() {
  if (!("Notification" in globalThis) || globalThis.isSecureContext === false) return "missing";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && wanted() ? "on" : "off";
}

/**
 * Switch notifications on, after the browser has asked for permission, or off.
 * @param {boolean} on
 * @returns {Promise<State>}
 */
export async function wantNotifications(on) {
  if (on && notificationState() !== "missing") await Notification.requestPermission();
  try {
    localStorage.setItem(KEY, on ? "1" : "0");
  } catch {
    // Nothing is kept: they stay off.
  }
  return notificationState();
}

/**
 * Show messages as notifications if the page is hidden and notifications are on.
 * @param {{title: string, text: string, id: string}[]} messages the newest first
 * @param {() => void} open called when one is clicked
 */
export function notify(messages, open) {
  if (notificationState() !== "on" || !document.hidden) return;
  for (const { title, text, id } of messages.slice(0, MOST).reverse()) {
    const shown = new Notification(title, { body: text, tag: id });
    shown.onclick = () => {
      window.focus();
      open();
      shown.close();
    };
  }
}

/** Return whether the user has switched notifications on. */
function wanted() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}
