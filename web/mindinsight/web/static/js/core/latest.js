// The newest question wins. What comes after a later question was asked, or after its place has left the
// page, is dropped: an answer must never lay an older choice over a newer one.

/** @param {Element} place what the answers are shown in */
export function latest(place) {
  let asking = new AbortController();
  return {
    /**
     * Ask, and take the answer if it is still the one wanted.
     * @template T
     * @param {(signal: AbortSignal) => Promise<T>} question
     * @param {(answer: T) => any} take
     * @param {(error: any) => any} [failed] without it, what went wrong is thrown
     * @returns {Promise<any>} what `take` or `failed` gave; undefined for what was dropped
     */
    async ask(question, take, failed = raise) {
      asking.abort();
      const mine = new AbortController();
      asking = mine;
      const wanted = () => !mine.signal.aborted && place.isConnected;
      let answer;
      try {
        answer = await question(mine.signal);
      } catch (error) {
        return wanted() ? failed(error) : undefined;
      }
      return wanted() ? take(answer) : undefined;
    },

    /** Nothing that is on its way is wanted any more. */
    end: () => asking.abort(),
  };
}

/**
 * What follows the training must not take a page down: a run may be gone before the list of runs says so, a
 * server may be away for a while. What is drawn stays; the connection's mark and the list tell the rest.
 */
export function leaveAsIs() {}

/** @param {any} error */
function raise(error) {
  throw error;
}
