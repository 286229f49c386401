// Query of a view that is embedded in another page, separate from the window's address.

import { Url } from "./url.js";

/** A `Url` whose query is held in memory. */
export class FixedUrl extends Url {
  #query;

  /** @param {string} query without "?" */
  constructor(query) {
    super();
    this.#query = query;
  }

  /** @override */
  search() {
    return this.#query;
  }

  /** Replace the query held in memory. @param {string} text */
  write(text) {
    this.#query = text;
  }
}
