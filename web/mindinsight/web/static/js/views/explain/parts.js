// Parts of an explanation: claims under a heading, with the line of code, curves and links to the evidence.

import { claimElement, claimText } from "../../core/claims.js";
import { h, svg } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/answers.js").ExplanationPart} ExplanationPart */
/** @typedef {import("../../core/answers.js").ReportCurve} ReportCurve */
/** @typedef {import("../../core/claims.js").Claim} Claim */

const WIDTH = 320; // of the frame in which the server draws curves
const HEIGHT = 120;
const SPREAD = "claim.explain.spread";
const NOTHING = "claim.explain.nothing";
const LIMITS = "claim.explain.limits";
const KINDS = ["operators", "gradients", "weights"];

/**
 * Create the panel of a part of an explanation. The summary has no heading.
 * @param {App} app
 * @param {ExplanationPart} part
 */
export function partPanel(app, part) {
  const claims = paragraphs(app, part.claims);
  if (part.topic === "summary") {
    const [first, ...others] = part.claims;
    return h(
      "div",
      { class: "answer-story", role: "status" },
      first?.key === NOTHING ? [searchedList(app, first), paragraphs(app, others)] : claims,
    );
  }
  const found =
    part.topic !== "difference" && !part.after && part.claims.some(({ verdict }) => verdict === "found");
  return h(
    "section",
    { class: `panel explain-part${found ? " explain-found" : ""}`, "data-topic": part.topic },
    h(
      "h2",
      { class: "panel-title" },
      app.t(`explain.topic.${part.topic}`),
      part.dump && h("span", { class: "muted small", title: part.dump }, ` ${dumpName(app, part.dump)}`),
    ),
    claims,
    part.frame &&
      h(
        "pre",
        { class: "explain-code", tabindex: "0" },
        h("span", { class: "muted" }, `${part.frame.file}:${part.frame.line}\n`),
        part.frame.code,
      ),
    part.curves.length > 0 &&
      h(
        "div",
        { class: "explain-curves" },
        part.curves.map((drawn) => curve(app, drawn)),
      ),
    part.links.length > 0 &&
      h(
        "p",
        { class: "row wrap small" },
        part.links.map((link) => evidence(app, link)),
      ),
  );
}

/**
 * Create the sentence that nothing was found, and the list of what was searched.
 * @param {App} app
 * @param {Claim} claim
 */
function searchedList(app, claim) {
  return [
    h("p", { class: `claim claim-${claim.verdict}`, "data-claim": claim.key }, app.t("explain.nothing")),
    partsOf(app, claim),
  ];
}

/** Create the list of what was searched. @param {App} app @param {Claim} claim */
function partsOf(app, claim) {
  const searched = /** @type {Claim[]} */ (claim.values.searched);
  return h(
    "ul",
    { class: "explain-searched" },
    searched.map((part) => h("li", null, claimText(app, part))),
  );
}

/** Create the paragraph of a claim; limits are folded away. @param {App} app @param {Claim} claim */
function paragraph(app, claim) {
  if (claim.key !== LIMITS) return claimElement(app, claim);
  return h(
    "details",
    { class: "muted small", "data-claim": claim.key },
    h("summary", null, app.t("explain.limits")),
    partsOf(app, claim),
  );
}

/**
 * Create the group of the parts whose faults may follow from the first one, or null without one.
 * @param {App} app
 * @param {ExplanationPart[]} parts
 */
export function consequences(app, parts) {
  const own = parts.filter(({ after }) => after);
  if (!own.length) return null;
  const title = app.t("explain.consequences");
  const panels = own.map((part) => partPanel(app, part));
  return h("section", { class: "stack explain-after" }, h("h2", { class: "muted" }, title), panels);
}

/**
 * Create a paragraph for each claim, and one table for the claims about several steps of a spread.
 * @param {App} app
 * @param {Claim[]} claims
 */
function paragraphs(app, claims) {
  const steps = claims.filter(({ key }) => key === SPREAD);
  if (steps.length < 2) return claims.map((claim) => paragraph(app, claim));
  return claims
    .filter((claim) => claim.key !== SPREAD || claim === steps[0])
    .map((claim) => (claim === steps[0] ? spreadTable(app, steps) : paragraph(app, claim)));
}

/**
 * Create the table of a spread: a row for each step, and its operators, gradients and weights that are
 * non-finite.
 * @param {App} app
 * @param {Claim[]} claims
 */
function spreadTable({ t }, claims) {
  /** @param {Claim} claim @param {string} kind */
  const partOf = (claim, kind) =>
    /** @type {Claim[]} */ (claim.values.parts).find(({ key }) => key.split(".")[3] === kind)?.values;
  const kinds = KINDS.filter((kind) => claims.some((claim) => partOf(claim, kind)));
  const cell = (/** @type {Record<string, unknown> | undefined} */ values) => {
    if (!values) return h("td", { class: "number" }, "–");
    const { count, n, names } = /** @type {{count: number, n: number, names?: string[]}} */ (values);
    const text = t("explain.spread.share", { count, n });
    const named = names && count < n && h("div", { class: "muted small" }, names.join(", "));
    return h("td", { class: "number" }, text, named);
  };
  return h(
    "table",
    { class: "table explain-spread", "data-claim": SPREAD },
    h("caption", { class: "small" }, t("explain.spread")),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", null, t("common.step")),
        kinds.map((kind) => h("th", { class: "number" }, t(`explain.spread.${kind}`))),
      ),
    ),
    h(
      "tbody",
      null,
      claims.map((claim) =>
        h(
          "tr",
          null,
          h("td", null, String(claim.values.step)),
          kinds.map((kind) => cell(partOf(claim, kind))),
        ),
      ),
    ),
  );
}

/**
 * Return the name of a dump without the directory of the run's job, which the page names.
 * @param {App} app
 * @param {string} dump id
 */
function dumpName(app, dump) {
  const job = app.selection.named()?.job;
  return job && dump.startsWith(`${job}/`) ? dump.slice(job.length + 1) : dump.replace(/^\.\//, "");
}

/**
 * Create the link to a page with the evidence.
 * @param {App} app
 * @param {ExplanationPart["links"][number]} link
 */
function evidence(app, { page, query, name }) {
  const whole = page === "dump" && !query.operator ? (query.tab ?? "tensors") : page; // of no single tensor
  const named = page === "graph" ? "graph_of" : "tensor";
  const text = name ? app.t(`explain.open.${named}`, { name }) : app.t(`explain.open.${whole}`);
  return h("a", { href: app.url.link(page, query) }, text);
}

/** Draw one curve around the step of the fault. @param {App} app @param {ReportCurve} curve */
function curve(app, { tag, first, last, low, high, segments, broken, mark, newest, points, extent, run }) {
  const whole = app.t("report.curve", {
    tag: run ? `${run}, ${tag}` : tag,
    n: points,
    first: extent[0],
    last: extent[1],
    value: newest,
  });
  const isPart = first !== extent[0] || last !== extent[1];
  const label = isPart ? app.t("explain.curve_part", { whole, first, last }) : whole;
  return h(
    "figure",
    null,
    svg(
      "svg",
      { role: "img", "aria-label": label, viewBox: `-4 -14 ${WIDTH + 8} ${HEIGHT + 30}` },
      svg("rect", { class: "frame", x: 0, y: 0, width: WIDTH, height: HEIGHT }),
      svg("text", { x: 0, y: -4 }, high),
      svg("text", { x: 0, y: HEIGHT + 13 }, low),
      svg("text", { x: WIDTH, y: HEIGHT + 13, "text-anchor": "end" }, `${first} – ${last}`),
      segments.map((segment) => svg("polyline", { class: "curve", points: segment })),
      broken.map((x) => svg("path", { class: "broken", d: `M${x - 3} 0h6l-3 6z` })),
      mark !== null && svg("line", { class: "mark", x1: mark, x2: mark, y1: 0, y2: HEIGHT }),
    ),
    h("figcaption", { class: "small" }, label),
  );
}
