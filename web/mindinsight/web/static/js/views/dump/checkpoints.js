// Files of weights: statistics of each tensor, and what changed between two files.

import { empty } from "../../components/empty.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { failure } from "./failure.js";
import { changed, differenceTable, weightsTable, weightsTold } from "./weights.js";

/** @typedef {import("../dump.js").Page} Page */

const ASKING = 700;

/** @param {Page} page */
export function checkpointsPart(page) {
  const { app } = page;
  const { t, url, format } = app;
  const listing = latest();
  const asking = latest();
  const choose = h("div", { class: "toolbar" });
  const told = h("p", { role: "status" });
  const body = h("div", { class: "panel scroll dump-compared", tabindex: "0" });
  const element = h("div", { class: "stack" }, choose, told, body);
  let first = url.get("file", "");
  let second = url.get("second", "");
  const fail = (/** @type {any} */ error) => {
    told.textContent = "";
    replace(body, failure(app, error));
  };

  /** @param {any[]} files */
  const start = (files) => {
    if (!files.length) {
      replace(
        element,
        empty({
          title: t("dump.weights.none"),
          text: t("dump.weights.none_how"),
          code: 'mindspore.save_checkpoint(net, "net.ckpt")',
        }),
      );
      return;
    }
    if (!files.some((file) => file.id === first)) first = files[0].id;
    if (!files.some((file) => file.id === second)) second = "";
    const options = files.map((file) => ({
      value: file.id,
      label: `${file.id.slice(2)} (${format.bytes(file.size)})`,
    }));
    replace(
      choose,
      select({
        label: t("dump.weights.file"),
        options,
        value: first,
        onchange: (value) => pick(value, second),
      }),
      select({
        label: t("dump.weights.second"),
        options: [{ value: "", label: "–" }, ...options],
        value: second,
        onchange: (value) => pick(first, value),
      }),
    );
    ask();
  };

  /** @param {string} one @param {string} two */
  const pick = (one, two) => {
    [first, second] = [one, two];
    url.set({ file: first, second });
    ask();
  };

  const ask = () =>
    asking.ask(
      () =>
        second
          ? app.api.get("v2/dump/checkpoint/difference", { first, second })
          : app.api.get("v2/dump/checkpoint", { file: first }),
      (answer) => {
        told.textContent = second ? changed(app, answer) : weightsTold(app, answer);
        replace(body, second ? differenceTable(app, answer) : weightsTable(app, answer));
        if (!answer.done) asking.later(ask, ASKING);
      },
      fail,
    );

  listing.ask(
    () => app.api.get("v2/dump/checkpoints"),
    ({ checkpoints }) => start(checkpoints),
    fail,
  );
  return {
    element,
    end() {
      listing.end();
      asking.end();
    },
  };
}
