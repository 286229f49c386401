// Files of weights: statistics of each tensor, and what changed between two files.

import { empty } from "../../components/empty.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { changed, differenceTable, weightsTable, weightsTold } from "./weights.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {{id: string, size: number}} Checkpoint */

const POLL = 700; // ms between requests while statistics are counted

/** @param {Page} page */
export function checkpointsPart(page) {
  return new Checkpoints(page.app);
}

class Checkpoints {
  /** @param {import("../../core/types.js").App} app */
  constructor(app) {
    this.app = app;
    /** Ids of the file and of the one it is compared with, "" for none. */
    this.first = app.url.get("file", "");
    this.second = app.url.get("second", "");
    this.listing = latest();
    this.requests = latest();
    this.chooser = h("div", { class: "toolbar" });
    this.status = h("p", { role: "status" });
    this.body = h("div", { class: "panel scroll dump-compared", tabindex: "0" });
    this.element = h("div", { class: "stack" }, this.chooser, this.status, this.body);
    this.listing.ask(
      () => app.api.get("v2/dump/checkpoints"),
      ({ checkpoints }) => this.start(checkpoints),
      (error) => this.fail(error),
    );
  }

  /** @param {Checkpoint[]} files */
  start(files) {
    const { t } = this.app;
    if (!files.length) {
      const code = 'mindspore.save_checkpoint(net, "net.ckpt")';
      const message = empty({ title: t("dump.weights.none"), text: t("dump.weights.none_how"), code });
      replace(this.element, message);
      return;
    }
    const has = (/** @type {string} */ id) => files.some((file) => file.id === id);
    if (!has(this.first)) this.first = files[0].id;
    if (!has(this.second)) this.second = "";
    replace(this.chooser, this.choosers(files));
    this.fetch();
  }

  /** @param {Checkpoint[]} files */
  choosers(files) {
    const { t, format } = this.app;
    const options = files.map(({ id, size }) => ({
      value: id,
      label: `${id.slice(2)} (${format.bytes(size)})`,
    }));
    return [
      select({
        label: t("dump.weights.file"),
        options,
        value: this.first,
        onchange: (value) => this.pick(value, this.second),
      }),
      select({
        label: t("dump.weights.second"),
        options: [{ value: "", label: "–" }, ...options],
        value: this.second,
        onchange: (value) => this.pick(this.first, value),
      }),
    ];
  }

  /** @param {string} first @param {string} second */
  pick(first, second) {
    Object.assign(this, { first, second });
    this.app.url.set({ file: first, second });
    this.fetch();
  }

  fetch() {
    const { app, first, second } = this;
    this.requests.ask(
      () =>
        second
          ? app.api.get("v2/dump/checkpoint/difference", { first, second })
          : app.api.get("v2/dump/checkpoint", { file: first }),
      (response) => {
        this.status.textContent = second ? changed(app, response) : weightsTold(app, response);
        replace(this.body, second ? differenceTable(app, response) : weightsTable(app, response));
        if (!response.done) this.requests.later(() => this.fetch(), POLL);
      },
      (error) => this.fail(error),
    );
  }

  /** @param {any} error */
  fail(error) {
    this.status.textContent = "";
    replace(this.body, failure(this.app, error));
  }

  end() {
    this.listing.end();
    this.requests.end();
  }
}
