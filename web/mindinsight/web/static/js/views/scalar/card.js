// One chart: some tags of the selected runs. It fetches for its own width, follows the training, and
// refetches finer data when zoomed.

import { card } from "../../components/card.js";
import { iconButton } from "../../components/button.js";
import { menu } from "../../components/dialog.js";
import { aborted } from "../../core/api.js";
import { h, replace, throttle } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { whenNear } from "../../core/near.js";
import { savePage } from "../../core/share.js";
import { figure } from "./figure.js";
import { appended } from "./growing.js";
import { thresholdForm } from "./threshold_form.js";
import { smoothing } from "./options.js";
import { rangeTable } from "./range.js";
import { parseThreshold } from "./threshold.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./figure.js").Curve} Curve */

/**
 * What a card needs of the page.
 * @typedef {Object} Page
 * @property {App} app
 * @property {() => Options} options
 * @property {(change: Partial<Options>) => void} change writes options and redraws what is concerned
 * @property {ReturnType<typeof import("./cursor.js").createCursor>} cursor
 * @property {string[]} tags all tags there are
 * @property {() => string[]} shown tags that the filter lets through
 */

const MOST_PIXELS = 20_000; // of all curves of a chart together; each pixel may hold some points
const GAP = 400; // ms between two looks for new points

/** @param {Page} page @param {string[]} tags more than one share the chart */
export function curveCard(page, tags) {
  const { app } = page;
  /** @type {Map<string, Curve[]>} tag -> curves */
  let curves = new Map();
  /** @type {import("./figure.js").Scales | null} */
  let scales = null;
  /** Range of y dragged out in this card; the range of x is every card's. @type {[number, number] | null} */
  let own = null;
  let asking = new AbortController();
  const plot = h("div", { class: "chart", role: "img", "aria-label": tags.join(", ") });
  const foot = h("div", { class: "row small" });
  const range = h("div", { class: "scalar-range" });

  const drawn = () =>
    tags.flatMap((tag, number) =>
      (curves.get(tag) ?? []).map((curve) => ({
        label: tags.length > 1 ? `${app.selection.run(curve.run)?.name ?? curve.run} · ${tag}` : (app.selection.run(curve.run)?.name ?? curve.run),
        colour: app.selection.colour(curve.run),
        dash: tags.length > 1 ? ["solid", "dash", "dot", "dashdot"][number % 4] : app.selection.dash(curve.run),
        curve,
      })),
    );

  const threshold = () => parseThreshold(page.options().thresholds.get(tags[0]));

  const paint = () => {
    app.charts.draw(
      plot,
      () => {
        const made = figure(app, drawn(), page.options(), threshold(), own);
        scales = made.scales;
        return made;
      },
      ready,
    );
    note();
  };

  /** @param {any} element */
  const ready = (element) => {
    element.on("plotly_relayout", (/** @type {any} */ change) => onZoom(change));
  };

  /** @param {any} change */
  const onZoom = (change) => {
    if (change["yaxis.range[0]"] !== undefined) own = [change["yaxis.range[0]"], change["yaxis.range[1]"]];
    if (change["xaxis.autorange"]) page.change({ zoom: null });
    const ends = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (ends[0] === undefined || !scales) return;
    const axis = /** @type {any} */ (plot)._fullLayout.xaxis;
    const from = scales.x.from;
    const values = ends.map((end) => from(axis.r2c(end))).map((value) => (page.options().x === "wall" ? value / 1000 : value));
    page.change({ zoom: [values[0], values[1]] });
  };

  const note = () => {
    const all = drawn();
    const points = all.reduce((sum, one) => sum + one.curve.points, 0);
    const visible = all.reduce((sum, one) => sum + one.curve.step.length, 0);
    const restarts = all.filter((one) => one.curve.segments > 1).length;
    replace(
      foot,
      h("span", { class: "grow" }, app.t("scalar.points", { shown: visible.toLocaleString("en"), all: points.toLocaleString("en") })),
      restarts > 0 && h("span", { class: "badge" }, app.t("scalar.restarts", { n: restarts })),
      strange(app, all),
    );
  };

  const load = async () => {
    asking.abort();
    asking = new AbortController();
    if (!page.options().zoom) own = null;
    const runs = app.selection.runs().map((run) => run.id);
    try {
      const answers = await Promise.all(tags.map((tag) => ask(page, tag, runs, plot.clientWidth, asking.signal)));
      curves = new Map(answers.map((answer) => [answer.tag, answer.series]));
      paint();
    } catch (error) {
      if (!aborted(error)) replace(foot, h("span", { class: "badge bad" }, app.t("scalar.failed", { why: String(error) })));
    }
  };

  const grow = throttle(async () => {
    const fresh = await appended(page, curves, plot.clientWidth).catch(() => null);
    if (fresh) {
      curves = fresh;
      paint();
    } else {
      await load();
    }
  }, GAP);

  const setRange = async () => {
    const wanted = element.classList.contains("full");
    replace(range, wanted ? await rangeTable(page, tags) : null);
  };

  const tools = toolsOf(page, tags, plot);
  const element = card({
    title: tags.join(" + "),
    tools,
    body: h("div", { class: "scalar-body" }, h("div", { class: "scalar-plot" }, plot), range),
    foot,
    full: { label: app.t("common.fullscreen"), onchange: () => setRange() },
  });
  /** What is to be done when the card is seen: fetch everything, or what is new. */
  let whole = true;
  const seen = whenNear(element, () => {
    if (whole) load();
    else grow();
    whole = false;
  });
  queueMicrotask(() => page.cursor.join(plot, { drawn, options: page.options, scales: () => scales }));

  return {
    element,
    tags,
    /** Fetch anew: other runs, other axis, other zoom. */
    load: () => {
      whole = true;
      seen.ask();
      setRange();
    },
    /** Draw what is here in another way. */
    paint,
    /** New points have come for these runs. @param {string[]} runs */
    update(runs) {
      const mine = [...curves.values()].some((some) => some.some((curve) => runs.includes(curve.run)));
      if (mine || app.selection.runs().some((run) => runs.includes(run.id))) seen.ask();
    },
    /** @returns {import("./figure.js").Drawn[]} */
    drawn,
    end() {
      asking.abort();
      seen.end();
      page.cursor.leave(plot);
      app.charts.remove(plot);
    },
  };
}

/** @param {Page} page @param {string} tag @param {string[]} runs @param {number} width @param {AbortSignal} signal */
function ask(page, tag, runs, width, signal) {
  const options = page.options();
  const params = {
    tag,
    run: runs,
    px: Math.min(Math.max(200, Math.min(2000, width || 600)), Math.max(20, Math.floor(MOST_PIXELS / (runs.length || 1)))),
    x: options.x,
    low: options.zoom?.[0],
    high: options.zoom?.[1],
    log_x: options.logX === "linear" ? null : true,
    ...smoothing(options),
    older: options.older || null,
  };
  return page.app.api.columns("v2/scalar/series", params, { signal });
}

/** What is not finite, said aloud: how many, and where it began. @param {App} app @param {import("./figure.js").Drawn[]} all */
function strange(app, all) {
  const ranges = all.flatMap((one) => one.curve.non_finite);
  if (!ranges.length) return null;
  const total = ranges.reduce((sum, [, , , count]) => sum + count, 0);
  const first = Math.min(...ranges.map(([, step]) => step));
  const kinds = [...new Set(ranges.map(([kind]) => ({ nan: "NaN", inf: "+Inf", "-inf": "−Inf" })[kind] ?? kind))].join(", ");
  return h("span", { class: "badge bad" }, app.t("scalar.non_finite", { kinds, n: total, step: number(first) }));
}

/** @param {Page} page @param {string[]} tags @param {HTMLElement} plot */
function toolsOf(page, tags, plot) {
  const { app } = page;
  const key = tags.join("|");
  const pinned = () => page.options().pins.includes(key);
  const pin = iconButton("pin", app.t("scalar.pin"), () => {
    const pins = page.options().pins.filter((one) => one !== key);
    page.change({ pins: pinned() ? pins : [...pins, key] });
  });
  pin.setAttribute("aria-pressed", String(pinned()));
  const more = iconButton("more", app.t("scalar.more"), () => {
    const box = menu(more, moreItems(page, tags, plot, () => box.close()), app.t("scalar.more"));
  });
  return [pin, more];
}

/** @param {Page} page @param {string[]} tags @param {HTMLElement} plot @param {() => void} close */
function moreItems(page, tags, plot, close) {
  const { app } = page;
  const runs = app.selection.runs().map((run) => run.id);
  const name = tags.join("_").replace(/[^\w.-]+/g, "_");
  const picture = (/** @type {string} */ format) => async () => {
    close();
    const Plotly = await app.charts.plotly();
    Plotly.downloadImage(plot, { format, filename: name, width: 1200, height: 600 });
  };
  const link = app.api.build("v2/scalar/download", { tag: tags, run: runs });
  const items = [
    h("a", { href: link, download: `${name}.csv`, class: "item" }, app.t("scalar.csv")),
    h("button", { type: "button", class: "item", onclick: picture("png") }, app.t("scalar.png")),
    h("button", { type: "button", class: "item", onclick: picture("svg") }, app.t("scalar.svg")),
    h("button", { type: "button", class: "item", onclick: () => (close(), savePage(app, plot.closest(".card") ?? plot, tags.join(" + "))) }, app.t("share.card")),
  ];
  if (page.options().mixes.some((mix) => mix.join("|") === tags.join("|"))) {
    const drop = () => page.change({ mixes: page.options().mixes.filter((mix) => mix.join("|") !== tags.join("|")) });
    items.push(h("button", { type: "button", class: "item", onclick: drop }, app.t("scalar.unmix")));
  }
  return [h("div", { class: "stack" }, items, thresholdForm(page, tags[0], close))];
}
