// The ranks of one job: what they do together, who does what when, and who strays.

import { card } from "../../components/card.js";
import { button } from "../../components/button.js";
import { empty } from "../../components/empty.js";
import { select } from "../../components/field.js";
import { strayWords } from "../../components/strays.js";
import { h, replace } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { whenNear } from "../../core/near.js";
import { saveButton } from "../../core/share.js";
import { awayFromMedian, folded, notFiniteRows, usualMost } from "./away.js";
import { bandSheet, bandTraces, lineOn } from "./band.js";

/** @typedef {import("./card.js").Page} Page */

const ROW = 2; // px of a row of the picture at least
const NOT_FINITE = "--warn";
const SCALE = ["--run-1", "--panel", "--bad"]; // below the median, on it, above it
const NAMED = 8; // ranks named in the foot line at most

/**
 * Jobs with more than one rank.
 * @param {import("../../core/types.js").App} app
 * @returns {{id: string, ranks: number}[]}
 */
export function jobsOf(app) {
  /** @type {Map<string, number>} */
  const count = new Map();
  for (const run of app.selection.all()) {
    if (run.rank !== null) count.set(run.job, (count.get(run.job) ?? 0) + 1);
  }
  return [...count].filter(([, ranks]) => ranks > 1).map(([id, ranks]) => ({ id, ranks }));
}

/** The job is chosen here, whichever runs are selected: so are its tags. @param {Page} page */
export function ranksView(page) {
  const { app } = page;
  const jobs = jobsOf(app);
  if (!jobs.length) {
    return {
      element: empty({ title: app.t("scalar.ranks.none"), text: app.t("scalar.ranks.how") }),
      load() {},
      update() {},
      paint() {},
      end() {},
    };
  }
  const job = jobs.find((one) => one.id === page.options().job)?.id ?? jobs[0].id;
  const choose = select({
    label: app.t("scalar.ranks.job"),
    options: jobs.map((one) => ({
      value: one.id,
      label: app.t("scalar.ranks.job_of", { job: one.id.slice(2) || ".", n: one.ranks }),
    })),
    value: job,
    onchange: (value) => page.change({ job: value }),
  });
  app.charts.prepare("heatmap");
  const holder = h("div");
  const element = h("div", { class: "stack" }, h("div", { class: "toolbar" }, choose), holder);
  const asked = latest(element);
  /** @type {Map<string, ReturnType<typeof rankCard>>} */
  let cards = new Map();

  /** @param {{tag: string}[]} found */
  const take = (found) => {
    const tags = page.passing(found.map(({ tag }) => tag));
    const next = new Map(tags.map((tag) => [tag, cards.get(tag) ?? rankCard(page, tag, job)]));
    cards.forEach((card, tag) => next.has(tag) || card.end());
    if ([...next.keys()].join("\n") !== [...cards.keys()].join("\n") || !next.size) {
      replace(
        holder,
        next.size
          ? h(
              "div",
              { class: "cards" },
              [...next.values()].map((card) => card.element),
            )
          : empty({
              title: app.t(found.length ? "scalar.none_match" : "scalar.none"),
              text: page.options().filter,
            }),
      );
    }
    cards = next;
    cards.forEach((card) => card.load());
  };
  const load = () =>
    asked.ask(
      (signal) => app.api.get("v2/tags", { kind: "scalar", job, brief: true }, { signal }),
      ({ tags }) => take(tags),
      leaveAsIs,
    );
  return {
    element,
    load,
    update: load,
    paint: () => cards.forEach((card) => card.paint()),
    end: () => (asked.end(), cards.forEach((card) => card.end())),
  };
}

/** @param {Page} page @param {string} tag @param {string} job */
function rankCard(page, tag, job) {
  const { app } = page;
  const band = h("div", { class: "chart", role: "img", "aria-label": app.t("scalar.ranks.band", { tag }) });
  const heat = h("div", { class: "chart", role: "img", "aria-label": app.t("scalar.ranks.heat", { tag }) });
  const key = h("div", { class: "scalar-key small muted" });
  const foot = h("div", { class: "row small wrap" });
  /** @type {any} */
  let together = null;
  /** @type {any} */
  let grid = null;
  /** @type {any} */
  let picked = null;

  const paint = () => {
    if (!together || !grid) return;
    app.charts.draw(band, () => bandFigure(page, together, picked));
    app.charts.draw(
      heat,
      () => heatFigure(app, grid, heat.clientHeight),
      (plot) =>
        plot.on("plotly_click", (/** @type {any} */ event) =>
          pick(grid.ranks.indexOf(event.points[0].customdata)),
        ),
    );
    replace(key, scaleKey(app, grid.most, grid.not_finite.length > 0));
    replace(
      foot,
      straying(app, grid, pick),
      picked && button(app.t("scalar.ranks.unpick"), unpick, { class: "link" }),
    );
  };

  /** @param {number} row */
  const pick = (row) => {
    const [run, label] = [grid.runs[row], app.t("scalar.ranks.rank", { rank: grid.ranks[row] })];
    return askedOne.ask(
      (signal) => app.api.columns("v2/scalar/series", { tag, run: [run], px: 600 }, { signal }),
      (answer) => {
        picked = answer.series[0] && { ...answer.series[0], label };
        paint();
      },
      leaveAsIs,
    );
  };

  const unpick = () => {
    askedOne.end();
    picked = null;
    paint();
  };

  const load = () => {
    const px = Math.max(200, Math.min(800, band.clientWidth || 400));
    return asked.ask(
      (signal) =>
        Promise.all([
          app.api.columns("v2/scalar/band", { tag, job, px }, { signal }),
          app.api.columns("v2/scalar/ranks", { tag, job, px: Math.min(px, 300) }, { signal }),
        ]),
      (answers) => {
        together = answers[0];
        const away = awayFromMedian(answers[1]);
        grid = { ...answers[1], away, most: usualMost(away) };
        paint();
      },
      leaveAsIs,
    );
  };

  const element = card({
    title: tag,
    tools: [saveButton(app, () => element, tag)],
    body: h("div", { class: "scalar-ranks" }, band, key, heat),
    foot,
    full: { label: app.t("common.fullscreen") },
  });
  const [asked, askedOne] = [latest(element), latest(element)];
  const seen = whenNear(element, load);
  return {
    element,
    paint,
    load: seen.ask,
    end() {
      [asked, askedOne, seen].forEach((one) => one.end());
      app.charts.remove(band);
      app.charts.remove(heat);
    },
  };
}

/** @param {Page} page @param {any} together @param {any} picked */
function bandFigure(page, together, picked) {
  const { app } = page;
  const { theme } = app;
  const { to, layout } = bandSheet(page, [together]);
  const data = bandTraces({
    band: together,
    colour: theme.colour("--accent"),
    label: app.t("scalar.ranks.mean"),
    to,
  });
  if (picked) {
    data.push({
      ...lineOn(picked.step, picked.value, to),
      name: picked.label,
      line: { color: theme.colour("--bad"), width: 1.6 },
    });
  }
  return { data, layout };
}

/**
 * What the colours mean. Plotly's own bar costs half of the drawing, and moves the map out of line with the
 * band.
 * @param {import("../../core/types.js").App} app
 * @param {number} most
 * @param {boolean} strange whether there are values that are not finite
 */
function scaleKey(app, most, strange) {
  const bar = h("i", {
    style: { background: `linear-gradient(to right, ${SCALE.map((name) => `var(${name})`).join(", ")})` },
  });
  return [
    h("span", null, app.t("scalar.ranks.key")),
    h("span", { class: "grow" }),
    number(-most, 3),
    bar,
    `+${number(most, 3)}`,
    strange && [
      h("i", { style: { background: `var(${NOT_FINITE})`, width: "14px" } }),
      h("span", null, app.t("scalar.ranks.nan")),
    ],
  ];
}

/**
 * Each cell is how far a rank is from the median rank at that step.
 * @param {import("../../core/types.js").App} app
 * @param {any} grid
 * @param {number} height px there are
 */
function heatFigure(app, grid, height) {
  const { theme } = app;
  const [columns, rows] = [grid.step.length, Math.floor(height / ROW)];
  const { y, z, who } = folded(grid.away, grid.ranks, columns, rows);
  const colours = SCALE.map((name, i) => [i / 2, theme.colour(name)]);
  const strange = {
    type: "heatmap",
    x: grid.step,
    y,
    z: notFiniteRows(grid.not_finite, grid.ranks.length, columns, rows),
    customdata: who,
    colorscale: [0, 1].map((end) => [end, theme.colour(NOT_FINITE)]),
    showscale: false,
    hovertemplate: app.t("scalar.ranks.cell_nan"),
    hoverongaps: false,
  };
  return {
    data: [
      {
        type: "heatmap",
        x: grid.step,
        y,
        z,
        customdata: who,
        zmin: -grid.most,
        zmax: grid.most,
        colorscale: colours,
        showscale: false,
        hovertemplate: app.t("scalar.ranks.cell"),
        hoverongaps: false,
      },
      ...(grid.not_finite.length ? [strange] : []),
    ],
    layout: {
      ...theme.plotly(),
      yaxis: theme.axis({ title: { text: app.t("scalar.ranks.axis") }, nticks: 6 }),
      xaxis: theme.axis({ nticks: 6 }),
    },
  };
}

/** @param {import("../../core/types.js").App} app @param {any} grid @param {(row: number) => void} pick */
function straying(app, grid, pick) {
  /** @type {Map<number, import("../../components/strays.js").Stray[]>} */
  const far = new Map();
  for (const stray of grid.strays) far.set(stray.row, [...(far.get(stray.row) ?? []), stray]);
  if (!far.size) {
    return h("span", { class: "badge ok" }, app.t("scalar.ranks.together", { n: grid.runs.length }));
  }
  const named = [...far].slice(0, NAMED).map(([row, some]) => {
    const what = some.map((stray) => strayWords(app, stray)).join(app.t("stray.and"));
    const text = app.t("scalar.ranks.strays", { rank: grid.ranks[row], what });
    return button(text, () => pick(row), { class: "badge bad" });
  });
  const rest = far.size - named.length;
  return [named, rest > 0 && h("span", { class: "muted" }, app.t("scalar.ranks.more", { n: rest }))];
}
