// Profile of a data pipeline: what holds it up, and each operator with the queue after it and its CPU time.

import { claimElement, claimText } from "../../core/claims.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").PipelineProfile} Profile */
/** @typedef {Profile["operators"][number]} Operator */
/** @typedef {import("../../components/graph/dump_marks.js").Marks} Marks */

const COLUMNS = ["operator", "queue", "empty", "cpu"];

/**
 * Create the claims and the table of a data pipeline's profile.
 * @param {App} app
 * @param {Profile} profile
 * @param {(node: number) => void} goTo
 */
export function profileCard(app, profile, goTo) {
  const { t } = app;
  const times = profile.batch_ms !== null && profile.wait_ms !== null;
  return [
    profile.claims.map((claim) => claimElement(app, claim, { class: "small" })),
    times &&
      h(
        "p",
        { class: "graph-totals" },
        t("graph.pipeline.times", {
          batch: app.format.number(rounded(profile.batch_ms)),
          wait: app.format.number(rounded(profile.wait_ms)),
        }),
      ),
    profile.operators.length > 0 && [
      h(
        "table",
        { class: "pipeline-profile" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            COLUMNS.map((name) => heading(app, name)),
          ),
        ),
        h(
          "tbody",
          null,
          profile.operators.map((operator) => row(app, operator, goTo)),
        ),
      ),
      h(
        "p",
        { class: "muted small" },
        t("graph.pipeline.note", {
          ms: app.format.number(profile.interval_ms ?? 0),
          file: profile.file ?? "",
        }),
      ),
    ],
  ];
}

/**
 * Create the panel of a profile whose data pipeline was not recorded, so that there are no boxes to mark.
 * @param {App} app
 * @param {Profile} profile
 */
export function unmarkedProfile(app, profile) {
  const title = h("h2", null, app.t("graph.view.dataset"));
  return h(
    "section",
    { class: "panel graph-card" },
    title,
    profileCard(app, profile, () => undefined),
  );
}

/** Return a value with three significant digits, for milliseconds. @param {number | null} value */
function rounded(value) {
  return Number((value ?? 0).toPrecision(3));
}

/** @param {App} app @param {string} name */
function heading({ t }, name) {
  return h("th", { scope: "col", title: t(`graph.pipeline.${name}.what`) }, t(`graph.pipeline.${name}`));
}

/**
 * Create the row of an operator.
 * @param {App} app
 * @param {Operator} operator
 * @param {(node: number) => void} goTo
 */
function row(app, operator, goTo) {
  const { name, node, workers, cpu, slowest } = operator;
  const title = slowest ? `⚠ ${name}` : name;
  return h(
    "tr",
    { class: slowest ? "slowest" : null },
    h(
      "th",
      { scope: "row", title: workers === null ? null : app.t("graph.pipeline.workers", { n: workers }) },
      node === null
        ? title
        : h("button", { type: "button", class: "link", onclick: () => goTo(node) }, title),
    ),
    h("td", null, queueText(app, operator) || "–"),
    h("td", null, operator.empty === null ? "–" : `${operator.empty} / ${operator.samples}`),
    h("td", null, cpu === null ? "–" : `${app.format.number(rounded(cpu))} %`),
  );
}

/**
 * Return the mean length of a queue and its capacity, "" without a queue.
 * @param {App} app
 * @param {Operator} operator
 */
function queueText(app, { mean, capacity }) {
  return mean === null ? "" : `${app.format.number(rounded(mean))} / ${capacity}`;
}

/**
 * Return the marks of a box: how full the queue after it was, and whether it holds the pipeline up.
 * @param {App} app
 * @param {Profile | null} profile
 * @param {{id: number}} box
 * @returns {Marks | null} null without a profile of it
 */
export function profileMarks(app, profile, { id }) {
  const operator = profile?.operators.find(({ node }) => node === id);
  const queue = operator && queueText(app, operator);
  if (!profile || !operator || !queue) return null;
  const label = app.t("graph.pipeline.queue.label", { queue });
  const badge = operator.slowest
    ? { kind: "ill fault", text: `⚠ ${queue}`, label: `${claimText(app, profile.claims[0])} ${label}` }
    : { kind: "", text: queue, label };
  return { badge, heat: null, hatched: false };
}
