// Notifications of the browser: shown while the page is in the background, where somebody has asked for them.

const KEY = "mindinsight notifications";
const MOST = 3; // at a time

/** @typedef {"on" | "off" | "denied" | "missing"} State */

/** @returns {State} "missing" where the browser has none, or not for a page without HTTPS */
export function notificationState() {
  if (!("Notification" in globalThis) || globalThis.isSecureContext === false) return "missing";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && wanted() ? "on" : "off";
}

/** Switch them on, with the browser's own question, or off. @param {boolean} on @returns {Promise<State>} */
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
 * Show messages, while nobody looks at the page.
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

function wanted() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}
