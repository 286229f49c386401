// Guard against stale responses: only the newest request's response is used.

/** @typedef {import("./types.js").Failure} Failure */

const ALWAYS = { isConnected: true };

/**
 * Create a sequence of requests. A response is dropped after a later request, after `end()`, and once
 * `element` has left the page.
 * @param {{isConnected: boolean}} [element] what the responses are shown in
 */
export function latest(element = ALWAYS) {
  let current = new AbortController();
  let timer = 0;

  const end = () => {
    clearTimeout(timer);
    current.abort();
    current = new AbortController();
  };

  /**
   * Make a request beside those under way; they are dropped together.
   * @template T
   * @param {(signal: AbortSignal) => Promise<T>} request
   * @template U, [V=never]
   * @param {(response: T) => U} take
   * @param {(error: Failure) => V} [failed] without it, an error of the request is thrown
   * @returns {Promise<Awaited<U> | Awaited<V> | undefined>} the result of `take` or `failed`; undefined when
   *   the response was dropped
   */
  const join = async (request, take, failed = raise) => {
    const { signal } = current;
    const isCurrent = () => !signal.aborted && element.isConnected;
    let response;
    try {
      response = await request(signal);
    } catch (error) {
      return isCurrent() ? await failed(/** @type {Failure} */ (error)) : undefined;
    }
    return isCurrent() ? await take(response) : undefined;
  };

  return {
    join,

    /**
     * Make a request that replaces those before it; arguments and result are those of `join`.
     * @type {typeof join}
     */
    ask(request, take, failed) {
      end();
      return join(request, take, failed);
    },

    /**
     * Call a function in a while, unless a request is made before.
     * @param {() => void} callback
     * @param {number} delay ms
     */
    later(callback, delay) {
      clearTimeout(timer);
      timer = window.setTimeout(callback, delay);
    },

    /** Drop the responses of all requests under way. */
    end,
  };
}

/**
 * Error handler for background refreshes: keep what is drawn. The connection indicator and the list of runs
 * report a server or run that is gone.
 */
export function leaveAsIs() {}

/** Throw an error. @param {Failure} error @returns {never} */
function raise(error) {
  throw error;
}
