// Request queue with limited concurrency. Waiting items with the same key share one request.

/**
 * @template Item, Answer
 * @typedef {object} Waiting
 * @property {string} key
 * @property {Item} item
 * @property {AbortSignal} signal
 * @property {(answer: Answer) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {() => void} drop what an abort calls while it waits
 */

/**
 * Create a queue that sends at most `most` requests at a time. Browsers open six connections to a server, so
 * a page with many charts must leave some free. Return a function that adds one item and resolves to its
 * answer.
 * @template Item, Answer
 * @param {number} most requests at a time
 * @param {number} size items in one request
 * @param {(key: string, items: Item[], signal: AbortSignal) => Promise<Answer[]>} send makes one request
 * @param {number} [gather] ms for which the first item waits for others
 */
export function batches(most, size, send, gather = 0) {
  let running = 0;
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;
  /** @type {Waiting<Item, Answer>[]} */
  let waiting = [];

  const next = () => {
    while (running < most && waiting.length) {
      const alike = waiting.filter((other) => other.key === waiting[0].key).slice(0, size);
      waiting = waiting.filter((other) => !alike.includes(other));
      alike.forEach(({ signal, drop }) => signal.removeEventListener("abort", drop));
      running += 1;
      request(alike).finally(() => {
        running -= 1;
        next();
      });
    }
  };

  const start = () => {
    if (!gather) next();
    else if (!timer) {
      timer = globalThis.setTimeout(() => {
        timer = null;
        next();
      }, gather);
    }
  };

  /** What is wrong with one of several says nothing of the others. @param {Waiting<Item, Answer>[]} alike */
  async function request(alike) {
    try {
      const answers = await send(
        alike[0].key,
        alike.map(({ item }) => item),
        together(alike),
      );
      alike.forEach(({ resolve }, at) => resolve(answers[at]));
    } catch (error) {
      if (alike.length === 1 || alike.every(({ signal }) => signal.aborted)) {
        alike.forEach(({ signal, reject }) => reject(signal.aborted ? signal.reason : error));
      } else {
        for (const waiter of alike) await request([waiter]);
      }
    }
  }

  /**
   * Get the answer to an item when it is its turn. One that is aborted before is never asked for.
   * @param {string} key of the items that may go together
   * @param {Item} item
   * @param {AbortSignal} signal
   * @returns {Promise<Answer>}
   */
  return function ask(key, item, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const drop = () => {
        waiting = waiting.filter((other) => other !== waiter);
        reject(signal.reason);
      };
      const waiter = { key, item, signal, resolve, reject, drop };
      signal.addEventListener("abort", drop, { once: true });
      waiting.push(waiter);
      start();
    });
  };
}

/**
 * Return a signal that aborts once all of the given signals have aborted.
 * @param {{signal: AbortSignal}[]} alike
 */
function together(alike) {
  if (alike.length === 1) return alike[0].signal;
  const controller = new AbortController();
  const check = () => {
    if (alike.every(({ signal }) => signal.aborted)) controller.abort();
  };
  alike.forEach(({ signal }) => signal.addEventListener("abort", check, { once: true }));
  return controller.signal;
}
