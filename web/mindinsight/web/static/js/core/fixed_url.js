// Address of a view that is shown inside another page: a query of its own, apart from the window's.

import { Url } from "./url.js";

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

  /** @override @param {string} text */
  write(text) {
    this.#query = text;
  }
}
