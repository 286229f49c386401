// Queue of requests of which only some are under way at a time, in the order they were made.

/**
 * A browser has six connections to a server; who asks for many things at once leaves some for the others, and
 * gets the first of its answers sooner.
 * @param {number} most requests at a time
 */
export function limit(most) {
  let running = 0;
  /** @type {(() => void)[]} */
  const waiting = [];

  const next = () => {
    while (running < most && waiting.length) /** @type {() => void} */ (waiting.shift())();
  };

  /**
   * Make a request when it is its turn. A request that is aborted before is never made.
   * @template T
   * @param {() => Promise<T>} request
   * @param {AbortSignal} signal
   * @returns {Promise<T>}
   */
  return function run(request, signal) {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", drop);
        running += 1;
        request()
          .then(resolve, reject)
          .finally(() => {
            running -= 1;
            next();
          });
      };
      const drop = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", drop, { once: true });
      waiting.push(begin);
      next();
    });
  };
}
