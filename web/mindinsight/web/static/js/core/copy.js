// Answers of a copy of the pages that needs no server. `mindinsight site` recorded them.

/** Folder of the answers, relative to the pages; "" where there is a server. */
export const COPY = globalThis.document?.documentElement.dataset.copy ?? "";

/** Whether the curves of each tag are asked for alone, so that their answers can be found again. */
export const ONE_BY_ONE = COPY !== "" || "recordedPages" in globalThis;

/** What only says how wide a window is, or which part of a curve it shows: a copy has one answer for all. */
const IGNORED = ["px", "low", "high"];

/** @typedef {{made: number, version: string, runs: number, answers: Record<string, string>}} CopyIndex */
/** @typedef {{runs: Set<string>, fold: Set<string>}} About runs, and jobs whose ranks are one curve */
/** @typedef {About & {file: string}} Wide */

/** File of each question. @type {Map<string, string>} */
let files = new Map();
/** Answers about several runs, by the question without its runs, those about the fewest first. */
const wide = /** @type {Map<string, Wide[]>} */ (new Map());
/** Which runs were asked about, for answers that hold more. @type {WeakMap<Response, Set<string>>} */
const asked = new WeakMap();

/**
 * Return the attributes of a control that needs a server: in a copy it is disabled and says why.
 * @param {import("./types.js").App} app
 * @returns {{disabled?: boolean, title?: string}}
 */
export function needsServer({ t }) {
  return COPY ? { disabled: true, title: t("copy.fixed") } : {};
}

/**
 * Load the index of a copy's recorded answers, use those answers from now on, and return the index.
 * @returns {Promise<CopyIndex>}
 */
export async function openCopy() {
  const index = await (await fetch(`${COPY}/index.json`)).json();
  useAnswers(index.answers);
  return index;
}

/**
 * Answer requests from these recorded files from now on.
 * @param {Record<string, string>} answers file of each question
 */
export function useAnswers(answers) {
  files = new Map(Object.entries(answers));
  wide.clear();
  for (const [key, file] of files) {
    const [question, about] = withoutRuns(key);
    if (about.runs.size) wide.set(question, [...(wide.get(question) ?? []), { ...about, file }]);
  }
  wide.forEach((list) => list.sort((a, b) => a.runs.size - b.runs.size));
}

/**
 * Return a question as text: method, path, parameters in order, and body.
 * @param {string} method
 * @param {string} address
 * @param {string} [body]
 */
export function keyOf(method, address, body = "") {
  const [path, query = ""] = address.split("?", 2);
  const pairs = [...new URLSearchParams(query)].filter(([name]) => !IGNORED.includes(name));
  const texts = pairs.map((pair) => JSON.stringify(pair)).sort();
  return JSON.stringify([method, path, texts, body]);
}

/** Return a question without its runs, and these. @param {string} key @returns {[string, About]} */
function withoutRuns(key) {
  /** @type {[string, string, string[], string]} */
  const [method, path, texts, body] = JSON.parse(key);
  const pairs = texts.map((text) => /** @type {[string, string]} */ (JSON.parse(text)));
  const all = (/** @type {string} */ wanted) =>
    new Set(pairs.filter(([name]) => name === wanted).map(([, value]) => value));
  const others = pairs.filter(([name]) => name !== "run" && name !== "fold");
  return [JSON.stringify([method, path, others, body]), { runs: all("run"), fold: all("fold") }];
}

/**
 * Return the file with the answer to a GET, "" if the copy has none.
 * @param {string} address
 */
export function copiedFile(address) {
  const file = files.get(keyOf("GET", address));
  return file ? `${COPY}/${file}` : "";
}

/**
 * Answer a request from the copy; null if it has no answer. An answer about more runs serves, see `narrowed`.
 * @param {string} address of a request, or of a file of the copy
 * @param {RequestInit} options
 * @returns {Promise<Response | null>}
 */
export async function copiedAnswer(address, { method = "GET", body, signal }) {
  if (address.startsWith(`${COPY}/`)) return fetch(address, { signal });
  const key = keyOf(method, address, typeof body === "string" ? body : "");
  const file = files.get(key);
  if (file) return fetch(`${COPY}/${file}`, { signal });
  const [question, about] = withoutRuns(key);
  const wider = about.runs.size ? wide.get(question)?.find((other) => holds(other, about)) : null;
  if (!wider) return null;
  const response = await fetch(`${COPY}/${wider.file}`, { signal });
  asked.set(response, about.runs);
  return response;
}

/**
 * Return whether an answer holds that to another question: the runs, and all ranks of jobs that are one
 * curve.
 * @param {Wide} other
 * @param {About} about
 */
function holds(other, { runs, fold }) {
  const ranks = (/** @type {Set<string>} */ all, /** @type {string} */ job) =>
    [...all].filter((run) => run.startsWith(`${job}/`)).length;
  const same = (/** @type {string} */ job) =>
    !ranks(runs, job) ||
    (fold.has(job) === other.fold.has(job) &&
      (!fold.has(job) || ranks(runs, job) === ranks(other.runs, job)));
  return [...runs].every((run) => other.runs.has(run)) && [...fold, ...other.fold].every(same);
}

/**
 * Return a stored answer reduced to the runs of the request.
 * @template T
 * @param {Response} response
 * @param {T} answer
 * @returns {T}
 */
export function narrowed(response, answer) {
  const runs = asked.get(response);
  return runs ? /** @type {T} */ (narrow(answer, runs)) : answer;
}

/** @param {unknown} value @param {Set<string>} runs @returns {unknown} */
function narrow(value, runs) {
  if (Array.isArray(value)) {
    return value.filter((item) => isAbout(item, runs)).map((item) => narrow(item, runs));
  }
  if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, part(name, item, runs)]));
}

/** @param {string} name @param {unknown} value @param {Set<string>} runs */
function part(name, value, runs) {
  if (name === "inherited") return value; // of runs that are drawn with another
  const names = name === "runs" && Array.isArray(value) && value.every((run) => typeof run === "string");
  return names ? value.filter((run) => runs.has(run)) : narrow(value, runs);
}

/**
 * Return whether an item names no run, or one that was asked about.
 * @param {unknown} item
 * @param {Set<string>} runs
 */
function isAbout(item, runs) {
  if (!item || typeof item !== "object") return true;
  if ("run" in item && typeof item.run === "string") return runs.has(item.run);
  const names = "runs" in item && Array.isArray(item.runs) ? item.runs : [];
  return !names.length || names.some((run) => typeof run !== "string" || runs.has(run));
}
