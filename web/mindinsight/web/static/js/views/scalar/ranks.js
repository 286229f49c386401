// Ranks mode: a card for each tag of a job with all ranks and their distances from the median.

import { empty } from "../../components/empty.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { jobsOf } from "../../core/jobs.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { emptyPart } from "./mode_view.js";
import { rankCard } from "./rank_card.js";

/** @typedef {import("./card.js").Page} Page */
/** @typedef {ReturnType<typeof rankCard>} RankCard */

/**
 * Create the Ranks mode of the scalars page. It opens on the first job that is charted; another one can be
 * chosen here.
 * @param {Page} page
 * @returns {import("./mode_view.js").Part}
 */
export function ranksView(page) {
  const { app } = page;
  const jobs = jobsOf(app);
  if (!jobs.length) return emptyPart({ title: app.t("scalar.ranks.none"), text: app.t("scalar.ranks.how") });
  const charted = new Set(app.selection.runs().map((run) => run.job));
  const job = (
    jobs.find(({ id }) => id === page.options().job) ??
    jobs.find(({ id }) => charted.has(id)) ??
    jobs[0]
  ).id;
  app.charts.prepare("heatmap");
  const grid = cardGrid(page, job);
  const chooser = jobSelect(page, jobs, job);
  const element = h("div", { class: "stack" }, h("div", { class: "toolbar" }, chooser), grid.element);
  const requests = latest(element);
  const load = () =>
    requests.ask(
      (signal) => app.api.get("v2/tags", { kind: page.kind, job, brief: true }, { signal }),
      ({ tags }) => grid.show(tags.map((/** @type {{tag: string}} */ { tag }) => tag)),
      leaveAsIs,
    );
  return {
    element,
    load,
    update: load,
    paint: () => grid.cards().forEach((card) => card.paint()),
    end: () => (requests.end(), grid.cards().forEach((card) => card.end())),
  };
}

/**
 * Create the choice of a job.
 * @param {Page} page
 * @param {{id: string, ranks: number}[]} jobs
 * @param {string} job chosen
 */
function jobSelect(page, jobs, job) {
  const { t } = page.app;
  return select({
    label: t("scalar.ranks.job"),
    options: jobs.map(({ id, ranks }) => ({
      value: id,
      label: t("scalar.ranks.job_of", { job: id.slice(2) || ".", n: ranks }),
    })),
    value: job,
    onchange: (value) => page.change({ job: value }),
  });
}

/**
 * Create the grid of cards. Existing cards stay when tags are added or removed.
 * @param {Page} page
 * @param {string} job
 */
function cardGrid(page, job) {
  const { app } = page;
  const element = h("div");
  /** @type {Map<string, RankCard>} */
  let cards = new Map();
  return {
    element,
    cards: () => [...cards.values()],
    /** @param {string[]} tags all there are */
    show(tags) {
      const passing = page.passing(tags);
      const next = new Map(passing.map((tag) => [tag, cards.get(tag) ?? rankCard(page, tag, job)]));
      cards.forEach((card, tag) => next.has(tag) || card.end());
      const changed = [...next.keys()].join("\n") !== [...cards.keys()].join("\n");
      cards = next;
      const elements = [...cards.values()].map((card) => card.element);
      if (!elements.length) {
        const title = app.t(tags.length ? "scalar.none_match" : "scalar.none");
        replace(element, empty({ title, text: page.options().filter }));
      } else if (changed) replace(element, h("div", { class: "cards" }, elements));
      cards.forEach((card) => card.load());
    },
  };
}
