// The event stream of a server. The pages of one browser share one: a browser opens six connections to a
// server, so that with a stream each, the seventh page would wait for ever, and every request with it.
//
// This script is imported by the pages and is also the worker that they share.

/** @typedef {import("./types.js").Change} Change */
/**
 * What the stream says: `hello` the version of what the server has, when it begins; `change` what changed;
 * `lost` that it broke. It begins again by itself.
 * @typedef {{hello?: number, change?: Change, lost?: boolean}} Message
 */

const AGAIN_MS = 5000; // after which a stream that was refused is asked for again

/**
 * Call `told` with each message of the server's stream, shared with the other pages where the browser can.
 * @param {string} address of the stream
 * @param {(message: Message) => void} told
 */
export function followStream(address, told) {
  if (!globalThis.SharedWorker) return openStream(address, told);
  const script = document.querySelector("script[src$='/js/theme.js']")?.getAttribute("src") ?? "";
  const url = new URL("core/stream.js", new URL(script, document.baseURI));
  const worker = new SharedWorker(url, { type: "module", name: "MindInsight" });
  const join = () => worker.port.postMessage(new URL(address, document.baseURI).href);
  worker.port.onmessage = ({ data }) => told(data);
  worker.onerror = () => openStream(address, told); // the script was not loaded
  join();
  globalThis.addEventListener("pagehide", () => worker.port.postMessage(""));
  globalThis.addEventListener("pageshow", ({ persisted }) => persisted && join());
  return undefined;
}

/**
 * Open a stream.
 * @param {string} address
 * @param {(message: Message) => void} told
 */
function openStream(address, told) {
  const source = new EventSource(address);
  source.addEventListener("hello", (event) => told({ hello: JSON.parse(event.data).version }));
  source.addEventListener("change", (event) => told({ change: JSON.parse(event.data) }));
  source.onerror = () => {
    told({ lost: true });
    if (source.readyState === EventSource.CLOSED) setTimeout(() => openStream(address, told), AGAIN_MS);
  };
}

/** Give every page that joins what the one stream says. A page joins with the address, and leaves with "". */
function share() {
  /** @type {Set<MessagePort>} */
  const pages = new Set();
  let opened = false;
  /** Of what the server has; null while the stream is away. @type {number | null} */
  let version = null;
  const told = (/** @type {Message} */ message) => {
    if (message.lost) version = null;
    else version = message.hello ?? Math.max(version ?? 0, message.change?.version ?? 0);
    pages.forEach((page) => page.postMessage(message));
  };
  globalThis.addEventListener("connect", (event) => {
    const [page] = /** @type {MessageEvent} */ (event).ports;
    page.onmessage = ({ data: address }) => {
      if (!address) return void pages.delete(page);
      pages.add(page);
      if (version !== null) page.postMessage({ hello: version });
      if (!opened) openStream(address, told);
      opened = true;
      return undefined;
    };
  });
}

if ("onconnect" in globalThis) share();
