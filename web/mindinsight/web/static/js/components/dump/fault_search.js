// Search of a dump's first fault in the background, with the step that is searched now.

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/answers.js").FirstFaults} FirstFaults */
/** @typedef {{rank: number, step: number, position: number, count: number}} Searching */

const POLLS_MS = [50, 100, 200]; // a small dump is searched at once
const POLL_MS = 300;

/** First faults that were found while the window is open, by dump. */
const found = /** @type {Map<string, {rank: number, step: number}>} */ (new Map());

/** Return rank and step of the first fault of a dump if it was found before. @param {string} dump */
export function knownFault(dump) {
  return found.get(dump);
}

/**
 * Search the first fault of a dump, or of one rank and step of it.
 * @param {App} app
 * @param {ReturnType<typeof import("../../core/latest.js").latest>} requests
 * @param {{dump: string, rank?: number[], step?: number[]}} body
 * @param {{progress: (text: string) => void, take: (answer: FirstFaults) => unknown,
 *   fail: (error: Failure) => void}} actions
 */
export function searchFault(app, requests, body, { progress, take, fail }) {
  progress(app.t("dump.fault.searching"));
  /** @param {number} number of the search @param {number} [polls] so far */
  const follow = (number, polls = 0) =>
    requests.ask(
      (signal) => app.api.get(`v2/dump/fault/${number}`, {}, { signal }),
      ({ done, error, searching, answer }) => {
        if (answer) {
          remember(body, answer);
          return take(answer);
        }
        if (done) return fail({ key: "error.unreadable", vars: { why: error } });
        if (searching) progress(progressText(app, searching));
        requests.later(() => follow(number, polls + 1), POLLS_MS[polls] ?? POLL_MS);
        return undefined;
      },
      fail,
    );
  return requests.ask(
    () => app.api.send("POST", "v2/dump/fault", body),
    ({ search }) => follow(search),
    fail,
  );
}

/** @param {{dump: string, step?: number[]}} body @param {FirstFaults} answer */
function remember({ dump, step }, { faults: [fault] }) {
  if (step) return;
  if (fault) found.set(dump, { rank: fault.rank, step: fault.step });
  else found.delete(dump);
}

/** Return which step is searched as text. @param {App} app @param {Searching} searching */
function progressText({ t }, { rank, step, position, count }) {
  return t("dump.fault.searching_step", { rank, step, i: position, n: count });
}
