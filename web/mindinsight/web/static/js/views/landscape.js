// Loss landscapes: beside each other or over each other, with the path of training played on them.

import { iconButton, segments } from "../components/button.js";
import { card } from "../components/card.js";
import { empty } from "../components/empty.js";
import { check, select, slider } from "../components/field.js";
import { grownRuns } from "../core/changes.js";
import { h, replace } from "../core/dom.js";
import { latest, leaveAsIs } from "../core/latest.js";
import { whenNear } from "../core/near.js";
import { saveButton } from "../core/share.js";
import { landscapeFigure, name } from "./landscape/figures.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("./landscape/figures.js").Landscape} Landscape */

const MODES = ["lines", "map", "surface"];
const PLAY_MS = 450;

/** @param {HTMLElement} root @param {App} app @returns {Promise<import("../core/types.js").View>} */
export async function mount(root, app) {
  const { t, url } = app;
  const state = { mode: MODES.includes(url.get("m", "map")) ? url.get("m", "map") : "map", over: url.get("over") === "1", interval: url.get("i", ""), lines: Number(url.get("n", "20")), shown: Infinity };
  /** @type {Landscape[]} */
  let all = [];
  /** @type {{draw: () => void, end: () => void, element: HTMLElement}[]} */
  let cards = [];
  let playing = 0; // counted up whenever the path is played anew or not any more
  const head = h("div", null);
  const body = h("div", null);
  replace(root, head, body);

  /** @param {Landscape} one */
  const intervalOf = (one) => (one.path ? one.intervals.join(",") : "final");

  const asked = latest(root);

  /** @param {(error: any) => any} [failed] */
  const load = (failed) => {
    const run = app.selection.runs().filter((one) => one.kinds.landscape).map((one) => one.id);
    return asked.ask(async (signal) => (run.length ? (await app.api.columns("v2/landscape/all", { run }, { signal })).landscapes : []), (found) => {
      all = found;
      build();
    }, failed);
  };

  const build = () => {
    stop();
    cards.forEach((one) => one.end());
    const intervals = [...new Set(all.map(intervalOf))];
    if (!intervals.includes(state.interval)) state.interval = intervals[0] ?? "";
    const chosen = all.filter((one) => intervalOf(one) === state.interval);
    url.set({ m: state.mode === "map" ? null : state.mode, over: state.over ? "1" : null, i: state.interval === intervals[0] ? null : state.interval, n: state.lines === 20 ? null : state.lines });
    replace(head, all.length > 0 && toolbar(intervals, chosen));
    const groups = state.over ? [chosen] : chosen.map((one) => [one]);
    cards = chosen.length ? groups.map(landscapeCard) : [];
    replace(body, cards.length ? h("div", { class: "cards wide" }, cards.map((one) => one.element)) : empty({ title: t("landscape.none"), text: t("landscape.none_how"), code: "SummaryLandscape(summary_dir).gen_landscapes(loss)" }));
  };

  /** @param {string[]} intervals @param {Landscape[]} chosen */
  const toolbar = (intervals, chosen) => {
    const label = (/** @type {string} */ text) => (text === "final" ? t("landscape.final") : text.split(",").length > 2 ? `${text.split(",")[0]} … ${text.split(",").at(-1)}` : text);
    const longest = Math.max(0, ...chosen.map((one) => one.path?.x.length ?? 0));
    const move = slider({ label: t("landscape.path"), min: 1, max: Math.max(1, longest), step: 1, value: longest, onchange: (value) => (stop(), (state.shown = value), cards.forEach((one) => one.draw())) });
    const play = iconButton("play", t("landscape.play"), () => start(longest, move));
    return h("div", { class: "toolbar" },
      segments({ label: t("landscape.mode"), options: MODES.map((value) => ({ value, label: t(`landscape.mode.${value}`) })), value: state.mode, onchange: (value) => ((state.mode = value), build()) }),
      select({ label: t("landscape.interval"), options: intervals.map((value) => ({ value, label: label(value) })), value: state.interval, onchange: (value) => ((state.interval = value), build()) }),
      chosen.length > 1 && check({ label: t("landscape.over"), checked: state.over, onchange: (on) => ((state.over = on), build()) }),
      state.mode !== "surface" && slider({ label: t("landscape.lines"), min: 5, max: 60, step: 1, value: state.lines, onchange: (value) => ((state.lines = value), cards.forEach((one) => one.draw())) }),
      longest > 1 && [play, move]);
  };

  /** Step after step, each for a while after it was drawn: a slow machine shows all of them, too. @param {number} longest @param {{set: (value: number) => void}} move */
  const start = async (longest, move) => {
    const mine = stop();
    for (let step = 1; step <= longest; step++) {
      state.shown = step;
      move.set(step);
      cards.forEach((one) => one.draw());
      await app.charts.drawn();
      await new Promise((done) => setTimeout(done, PLAY_MS));
      if (mine !== playing) return;
    }
    stop();
  };

  const stop = () => {
    state.shown = Infinity;
    return ++playing;
  };

  /** @param {Landscape[]} some */
  const landscapeCard = (some) => {
    const plot = h("div", { class: "chart landscape-chart", role: "img", "aria-label": some.map((one) => `${name(app, one)} ${one.tag}`).join(", ") });
    const facts = some.map((one) => h("span", { class: "row" }, h("i", { class: "swatch", style: { background: app.selection.colour(one.run) } }), name(app, one), end(one)));
    const title = some.length > 1 ? t("landscape.together") : some[0].tag;
    const element = card({ title, tools: [saveButton(app, () => element, title)], body: plot, foot: h("div", { class: "row small wrap" }, facts), full: { label: t("common.fullscreen") } });
    const draw = () => app.charts.draw(plot, () => landscapeFigure(app, some, state));
    const seen = whenNear(element, draw);
    seen.ask();
    return { element, draw, end: () => (seen.end(), app.charts.remove(plot)) };
  };

  /** @param {Landscape} one */
  const end = (one) => h("span", { class: "muted" }, one.convergence ? `${t("landscape.end")}: ${app.format.number(one.convergence.z[0], 5)} · ${one.decomposition}` : one.decomposition);

  /** The runs with landscapes that are shown. */
  const shown = () => app.selection.runs().filter((run) => run.kinds.landscape).map((run) => run.id).join();
  let known = shown();
  const off = app.selection.on(() => {
    if (known === shown()) return;
    known = shown();
    load(leaveAsIs);
  });
  const offTheme = app.theme.on(() => cards.forEach((one) => one.draw()));
  await load();
  return {
    update(change) {
      if (grownRuns(app, change, "landscape").length) load(leaveAsIs);
    },
    unmount() {
      stop();
      asked.end();
      off();
      offTheme();
      cards.forEach((one) => one.end());
    },
  };
}
