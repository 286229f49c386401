// Files of the Running Data Recorder, as text.

import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";

/** @typedef {import("../dump.js").Page} Page */

/** @param {Page} page */
export function logsPart(page) {
  const { app, state } = page;
  const { t, format } = app;
  const listing = latest();
  const reading = latest();
  const list = h("ul", { class: "dump-links" });
  const text = h("pre", { class: "dump-log scroll", tabindex: "0" });
  const more = h("div", { class: "row" });
  const element = h(
    "div",
    { class: "panel dump-logs" },
    h("div", { class: "scroll" }, list),
    h("div", { class: "stack" }, text, more),
  );

  /** @param {any} log @param {number} offset */
  const open = (log, offset) =>
    reading.ask(
      () => app.api.get("v2/dump/log", { dump: state.dump, file: log.file, rank: log.rank, offset }),
      (answer) => {
        if (offset === 0) replace(text);
        text.append(answer.text);
        replace(more, answer.next !== null && button(t("dump.logs.more"), () => open(log, answer.next)));
      },
      (error) => replace(more, failure(app, error)),
    );

  const item = (/** @type {any} */ log) =>
    h(
      "li",
      null,
      log.kind === "pb"
        ? h("span", { class: "muted" }, log.file)
        : h("button", { type: "button", class: "link wrapped", onclick: () => open(log, 0) }, log.file),
      " ",
      h("span", { class: "muted" }, format.bytes(log.size)),
    );
  listing.ask(
    () => app.api.get("v2/dump/logs", { dump: state.dump }),
    ({ logs }) => {
      replace(list, logs.map(item));
      const first = logs.find((/** @type {any} */ log) => log.kind !== "pb");
      if (first) open(first, 0);
    },
    (error) => replace(more, failure(app, error)),
  );
  return {
    element,
    end() {
      listing.end();
      reading.end();
    },
  };
}
