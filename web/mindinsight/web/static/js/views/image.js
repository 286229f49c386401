// Images: every recorded step of every tag; one step for all cards when linked.

import { button } from "../components/button.js";
import { empty } from "../components/empty.js";
import { check, searchBox, slider } from "../components/field.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { nameOf, tagsOf } from "../core/tags.js";
import { ImageCard } from "./image/card.js";
import { compareDialog } from "./image/compare.js";

/**
 * @param {HTMLElement} root
 * @param {import("../core/types.js").App} app
 * @returns {Promise<import("../core/types.js").View>}
 */
export async function mount(root, app) {
  const { t, url } = app;
  const options = readOptions(url);
  /** @type {ImageCard[]} */
  let cards = [];
  /** @type {import("../core/tags.js").Tag[] | null} those of the selected runs */
  let tags = null;
  /** Runs with new pictures since the tags were read. @type {Set<string>} */
  const grown = new Set();
  const asked = latest(root);
  const head = h("div", null);
  const body = h("div", null);
  replace(root, head, body);

  const keep = () =>
    url.set({
      link: options.linked ? "1" : null,
      at: options.linked ? options.step : null,
      b: options.brightness === 1 ? null : options.brightness,
      c: options.contrast === 1 ? null : options.contrast,
      size: options.actual ? "1" : null,
      q: options.filter,
    });

  /** @param {Partial<typeof options>} some */
  const change = (some) => {
    Object.assign(options, some);
    keep();
    if ("filter" in some) build();
    else cards.forEach((one) => one.style());
  };

  const page = {
    options: () => options,
    onstep: (/** @type {number} */ step) => {
      options.step = step;
      keep();
      cards.forEach((one) => one.show(step));
    },
    compare: (/** @type {any} */ choice) => compareDialog(app, choice, tags ?? []),
  };

  const toolbar = () => {
    const brightness = slider({
      label: t("image.brightness"),
      min: 0.1,
      max: 3,
      step: 0.05,
      value: options.brightness,
      onchange: (value) => change({ brightness: value }),
    });
    const contrast = slider({
      label: t("image.contrast"),
      min: 0.1,
      max: 3,
      step: 0.05,
      value: options.contrast,
      onchange: (value) => change({ contrast: value }),
    });
    return h(
      "div",
      { class: "toolbar" },
      searchBox({
        label: t("image.filter"),
        value: options.filter,
        onchange: (value) => change({ filter: value }),
      }),
      check({ label: t("image.linked"), checked: options.linked, onchange: (on) => change({ linked: on }) }),
      check({ label: t("image.actual"), checked: options.actual, onchange: (on) => change({ actual: on }) }),
      brightness,
      contrast,
      button(t("image.reset"), () => (change({ brightness: 1, contrast: 1 }), replace(head, toolbar()))),
    );
  };

  const build = () => {
    cards.forEach((one) => one.end());
    const shown = (tags ?? []).filter((one) => one.tag.toLowerCase().includes(options.filter.toLowerCase()));
    cards = shown.flatMap(({ tag, runs }) =>
      runs.filter((run) => app.selection.has(run)).map((run) => new ImageCard(app, { tag, run }, page)),
    );
    const none = options.filter
      ? empty({ title: t("image.none_match") })
      : empty({
          title: t("image.none"),
          text: t("image.none_how"),
          code: 'record.add_value("image", "input", images)  # NCHW',
        });
    replace(
      body,
      cards.length
        ? h(
            "div",
            { class: "cards" },
            cards.map((one) => one.element),
          )
        : none,
    );
    cards.forEach((one) => one.load());
  };

  /**
   * New steps, new tags or other runs.
   * @param {string[]} changed runs
   * @param {(error: any) => any} [failed]
   */
  const follow = (changed, failed) => {
    changed.forEach((run) => grown.add(run));
    return asked.ask(
      (signal) => tagsOf(app, "image", signal),
      (next) => {
        const same = tags !== null && nameOf(next) === nameOf(tags);
        tags = next;
        if (!same) build();
        else cards.filter((one) => grown.has(one.run)).forEach((one) => one.load());
        grown.clear();
      },
      failed,
    );
  };

  const offSelection = app.selection.on(() => follow([], leaveAsIs));
  const offTheme = app.theme.on(() => cards.filter((one) => one.steps.length).forEach((one) => one.note()));
  const offUrl = url.on(() => {
    Object.assign(options, readOptions(url));
    replace(head, toolbar());
    if (tags) build();
  });
  replace(head, toolbar());
  await follow([]);
  return {
    update(change) {
      const changed = grownRuns(app, change, "image");
      if (changed.length) follow(changed, leaveAsIs);
    },
    unmount() {
      [offSelection, offTheme, offUrl, asked.end].forEach((off) => off());
      cards.forEach((one) => one.end());
    },
  };
}

/** @param {import("../core/url.js").Url} url */
function readOptions(url) {
  const at = url.get("at");
  return {
    linked: url.get("link") === "1",
    step: at === null ? null : Number(at),
    brightness: Number(url.get("b", "1")),
    contrast: Number(url.get("c", "1")),
    actual: url.get("size") === "1",
    filter: url.get("q", ""),
  };
}
