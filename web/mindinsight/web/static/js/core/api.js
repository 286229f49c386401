// HTTP client of the server's API. Addresses are relative, so pages work below any prefix and behind any
// proxy.

import { tell } from "./dom.js";
import { ACCEPT, typed, unpack } from "./column_decoding.js";
import { COPY, copiedAnswer, copiedFile, narrowed } from "./copy.js";

/** @typedef {import("./types.js").Parameters} Parameters */

/**
 * Error answer of the server. `key` and `vars` give the translated message; `status` is 0 if the server was
 * not reachable.
 */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{code?: string, message?: string, key?: string, vars?: Record<string, unknown>}} error
   */
  constructor(status, error) {
    super(error.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = error.code ?? "http";
    this.key = error.key ?? "error.http";
    this.vars = { status, ...error.vars };
  }
}

/** @type {Map<string, {etag: string, body: unknown}>} */
const bodies = new Map();
const KNOWN_MAX = 200;

let flying = 0;

/** Return the number of requests in flight. */
export function asking() {
  return flying;
}

/** @type {Set<(count: number) => void>} */
const counters = new Set();

/**
 * Subscribe to the number of requests in flight. The callback runs at once and on each change.
 * @param {(count: number) => void} callback
 * @returns {() => void} off
 */
export function onAsking(callback) {
  counters.add(callback);
  callback(flying);
  return () => counters.delete(callback);
}

/**
 * Run a request and count it as in flight until it ends.
 * @template T
 * @param {() => Promise<T>} question
 * @returns {Promise<T>}
 */
async function counted(question) {
  tell(counters, ++flying);
  try {
    return await question();
  } finally {
    tell(counters, --flying);
  }
}

/**
 * GET a JSON answer. Lists become repeated parameters; null and undefined are left out. Unchanged answers are
 * served from an ETag cache. Throws ApiError, or AbortError after an abort.
 * @template {string} P
 * @param {P} path "v2/runs"
 * @param {Parameters} [params]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<import("./answers.js").Answer<P>>}
 */
export function get(path, params = {}, { signal } = {}) {
  return counted(() => fresh(build(path, params), signal));
}

/**
 * GET an address with the ETag of the cached answer. Return the cached answer on 304.
 * @param {string} address
 * @param {AbortSignal} [signal]
 */
async function fresh(address, signal) {
  const before = bodies.get(address);
  const headers = before ? { "If-None-Match": before.etag } : undefined;
  const answer = await ask(address, { signal, headers });
  if (answer.status === 304 && before) return before.body;
  const body = narrowed(answer, await parse(answer));
  const etag = answer.headers.get("ETag");
  if (etag) remember(address, etag, body);
  return body;
}

/**
 * Cache an answer by its address, and drop the oldest one above the limit.
 * @param {string} address
 * @param {string} etag
 * @param {unknown} body
 */
function remember(address, etag, body) {
  bodies.delete(address);
  bodies.set(address, { etag, body });
  if (bodies.size > KNOWN_MAX) bodies.delete(/** @type {string} */ (bodies.keys().next().value));
}

/**
 * Request an answer with typed arrays for its columns. Uses POST when a body is given, for questions too long
 * for an address. Throws ApiError, or AbortError after an abort.
 * @template {string} P
 * @param {P} path
 * @param {Parameters} [params]
 * @param {{signal?: AbortSignal, body?: object}} [options]
 * @returns {Promise<import("./answers.js").ColumnAnswer<P>>}
 */
export function columns(path, params = {}, { signal, body } = {}) {
  return counted(async () => {
    const posted = body && {
      method: "POST",
      body: JSON.stringify(body),
      headers: { ...ACCEPT, "Content-Type": "application/json" },
    };
    const answer = await ask(build(path, params), { signal, headers: ACCEPT, ...posted });
    return answer.ok ? narrowed(answer, unpack(await answer.arrayBuffer())) : parse(answer);
  });
}

/**
 * Send a JSON body. Return the parsed answer, or null for 204. Throws ApiError.
 * @param {"POST" | "PUT" | "PATCH" | "DELETE"} method
 * @template {string} P
 * @param {P} path
 * @param {object} [body]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<import("./answers.js").SentAnswer<P>>}
 */
export async function send(method, path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return parse(await ask(path, { method, headers, body: JSON.stringify(body ?? {}), signal }));
}

/**
 * Return the address of a request, for links, downloads and images.
 * @param {string} path
 * @param {Parameters} [params]
 */
export function build(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null && item !== undefined) query.append(name, String(item));
    }
  }
  const text = query.toString();
  const address = text ? `${path}?${text}` : path;
  return (COPY && copiedFile(address)) || address;
}

/**
 * Fetch an address. Throws ApiError `unreachable` if the network fails, `not_in_copy` if a copy without a
 * server has no answer, AbortError after an abort.
 * @param {string} address
 * @param {RequestInit} options
 */
async function ask(address, options) {
  if (COPY) {
    const copied = await copiedAnswer(address, options);
    if (copied) return copied;
    throw new ApiError(0, { code: "not_in_copy", key: "error.not_in_copy" });
  }
  try {
    return await fetch(address, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "unreachable",
      key: "error.unreachable",
      message: "The server does not answer.",
    });
  }
}

/**
 * Return the JSON of a successful answer, or null for 204. Throws ApiError otherwise.
 * @template T
 * @param {Response} answer
 * @returns {Promise<T>}
 */
async function parse(answer) {
  if (answer.ok) return answer.status === 204 ? /** @type {T} */ (null) : answer.json();
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // Not ours: a proxy's page. The status says enough.
  }
  throw new ApiError(answer.status, body?.error ?? {});
}

/** Return whether an error only means that the request was aborted. @param {unknown} error */
export function aborted(error) {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * Decode a base64 column to a typed array. A plain array is returned as it is.
 * @param {import("./types.js").Column | number[]} data
 * @returns {import("./types.js").Numbers | number[]}
 */
export function column(data) {
  if (Array.isArray(data)) return data;
  const text = atob(data.bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return typed(data.dtype, bytes.buffer);
}
