// Questions to the server. Addresses are relative, so pages work below any prefix and behind any proxy.

import { tell } from "./dom.js";
import { ACCEPT, typed, unpack } from "./column_decoding.js";

export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{code?: string, message?: string, key?: string, vars?: Record<string, any>}} error
   */
  constructor(status, error) {
    super(error.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = error.code ?? "http";
    this.key = error.key ?? "error.http";
    this.vars = { status, ...error.vars };
  }
}

/** @type {Map<string, {etag: string, body: any}>} */
const bodies = new Map();
const KNOWN_MAX = 200;

let flying = 0;

/** How many questions are on their way. */
export function asking() {
  return flying;
}

/** @type {Set<(count: number) => void>} */
const counters = new Set();

/**
 * Tell how many questions are on their way, now and whenever that changes.
 * @param {(count: number) => void} callback
 * @returns {() => void} off
 */
export function onAsking(callback) {
  counters.add(callback);
  callback(flying);
  return () => counters.delete(callback);
}

/** @template T @param {() => Promise<T>} question @returns {Promise<T>} */
async function counted(question) {
  tell(counters, ++flying);
  try {
    return await question();
  } finally {
    tell(counters, --flying);
  }
}

/**
 * GET with parameters; lists are repeated, null and undefined left out. Unchanged answers cost no body.
 * @param {string} path "v2/runs"
 * @param {Record<string, any>} [params]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export function get(path, params = {}, { signal } = {}) {
  return counted(() => fresh(build(path, params), signal));
}

/** @param {string} address @param {AbortSignal} [signal] */
async function fresh(address, signal) {
  const before = bodies.get(address);
  const headers = before ? { "If-None-Match": before.etag } : undefined;
  const answer = await ask(address, { signal, headers });
  if (answer.status === 304 && before) return before.body;
  const body = await parse(answer);
  const etag = answer.headers.get("ETag");
  if (etag) remember(address, etag, body);
  return body;
}

/** @param {string} address @param {string} etag @param {any} body */
function remember(address, etag, body) {
  bodies.delete(address);
  bodies.set(address, { etag, body });
  if (bodies.size > KNOWN_MAX) bodies.delete(/** @type {string} */ (bodies.keys().next().value));
}

/**
 * GET an answer with columns, as typed arrays; POST with a body, for questions too long for an address.
 * @param {string} path
 * @param {Record<string, any>} [params]
 * @param {{signal?: AbortSignal, body?: any}} [options]
 * @returns {Promise<any>}
 */
export function columns(path, params = {}, { signal, body } = {}) {
  return counted(async () => {
    const posted = body && {
      method: "POST",
      body: JSON.stringify(body),
      headers: { ...ACCEPT, "Content-Type": "application/json" },
    };
    const answer = await ask(build(path, params), { signal, headers: ACCEPT, ...posted });
    return answer.ok ? unpack(await answer.arrayBuffer()) : parse(answer);
  });
}

/**
 * POST, PUT, PATCH or DELETE with a JSON body.
 * @param {"POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {any} [body]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function send(method, path, body, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  return parse(await ask(path, { method, headers, body: JSON.stringify(body ?? {}), signal }));
}

/**
 * The address of a question, for links, downloads and images.
 * @param {string} path
 * @param {Record<string, any>} [params]
 */
export function build(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null && item !== undefined) query.append(name, String(item));
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** @param {string} address @param {RequestInit} options */
async function ask(address, options) {
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

/** @param {Response} answer */
async function parse(answer) {
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  let body = null;
  try {
    body = await answer.json();
  } catch {
    // Not ours: a proxy's page. The status says enough.
  }
  throw new ApiError(answer.status, body?.error ?? {});
}

/** Whether an error only says that we asked for something newer instead. @param {any} error */
export function aborted(error) {
  return error?.name === "AbortError";
}

/**
 * A column as a typed array.
 * @param {import("./types.js").Column | number[]} data
 * @returns {any}
 */
export function column(data) {
  if (Array.isArray(data)) return data;
  const text = atob(data.bdata);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return typed(data.dtype, bytes.buffer);
}
