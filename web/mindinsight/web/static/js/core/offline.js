// Self-contained HTML file of a part of the page: elements, styles, figures and Plotly. Its content security
// policy forbids every request.

import { asking } from "./api.js";
import { capture } from "./capture.js";
import { h } from "./dom.js";
import { zoneName } from "./format.js";
import { baseNames } from "./run_list.js";
import { wakeAll } from "./lazy_work.js";
import { offlineTip } from "./offline_tip.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").Run} Run */

const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
].join("; ");
// The function may have another name in the bundle, which is minified.
const DRAW = `const offlineTip = ${offlineTip.toString()};
const figures = JSON.parse(document.getElementById("figures").textContent);
for (const [i, { data, layout, config }] of figures.entries()) {
  const element = document.querySelector('[data-figure="' + i + '"]');
  Plotly.newPlot(element, data, layout, { ...config, responsive: true, displayModeBar: false })
    .then((plot) => offlineTip(plot));
}`;
const QUIET = 400; // ms without a request or a change, after which a page has all of its charts
const LONGEST = 60_000; // ms
const ABOUT = "[data-about]"; // ids of the runs that a page is about
export const MOST_NAMES = 4; // runs in the title of a saved page

/**
 * Return an HTML file of a view or a card.
 * @param {App} app
 * @param {Element} root a view or a card
 * @param {string} title
 * @returns {Promise<Blob>}
 */
export async function offlinePage(app, root, title) {
  if (root.id === "view") await everything(root);
  const { copy, figures } = await capture(app, root);
  const runs = runsOf(app, copy, figures);
  const named = root.id === "view" ? title : cardTitle(app, title, copy, runs);
  const body = h("body", null, h("main", { class: "offline" }, heading(app, named, copy, runs), copy));
  const [styles, plotly] = await Promise.all([
    styleTexts(),
    figures.length ? text(app.charts.script(figures)) : "",
  ]);
  const scripts = figures.length
    ? [
        `<script>${ended(plotly)}</script>`,
        `<script type="application/json" id="figures">${asJson(figures)}</script>`,
        `<script>${DRAW}</script>`,
      ].join("")
    : "";
  return new Blob([documentOf(app, named, styles, body, scripts)], { type: "text/html" });
}

/**
 * Return the text of the HTML document.
 * @param {App} app
 * @param {string} title
 * @param {string} styles
 * @param {HTMLElement} body
 * @param {string} scripts elements that go at the end of the body
 */
function documentOf(app, title, styles, body, scripts) {
  const where = directory(app);
  const isNamed = title.endsWith(` ${where}`);
  const named = h("title", null, [title, !isNamed && where, "MindInsight"].filter(Boolean).join(" · "));
  const content = new XMLSerializer().serializeToString(body).replace("</body>", () => `${scripts}</body>`);
  return [
    `<!doctype html><html lang="${app.boot.lang}" data-theme="${app.theme.dark() ? "dark" : "light"}"><head>`,
    `<meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    new XMLSerializer().serializeToString(named),
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${styles}</style>`,
    `</head>${content}</html>`,
  ].join("");
}

/**
 * Load content that was not scrolled to, until no new chart appears or 60 s have passed.
 * @param {Element} root
 */
async function everything(root) {
  wakeAll();
  let before = "";
  for (let waited = 0; waited < LONGEST; waited += QUIET) {
    await new Promise((resolve) => setTimeout(resolve, QUIET));
    const loading = [...root.querySelectorAll("img")].filter((image) => image.src && !image.complete).length;
    const now = `${root.textContent?.length}`;
    if (now === before && !loading && !asking()) return;
    before = now;
  }
}

/**
 * Return the runs of a legend: those that the copy says it is about, otherwise those drawn in the figures, by
 * the ids in their lines or by their colours. A page without a list of runs draws other lines in the same
 * colours.
 * @param {App} app
 * @param {Element} copy
 * @param {import("./charts.js").Figure[]} figures
 * @returns {Run[]}
 */
function runsOf({ selection }, copy, figures) {
  const about = [...copy.querySelectorAll(ABOUT)].map((part) => part.getAttribute("data-about") ?? "[]");
  const own = about.flatMap((ids) => /** @type {string[]} */ (JSON.parse(ids)));
  if (about.length) return own.flatMap((id) => selection.run(id) ?? []);
  if (document.querySelector("#body.alone")) return [];
  const traces = figures.flatMap(({ data }) => data);
  const ids = new Set(traces.map(({ meta }) => meta).filter(Boolean));
  const unnamed = traces.filter(({ meta }) => (ids.size ? meta === "" : true)); // lines of several runs
  const drawn = asJson(unnamed.map(({ line, marker }) => [line, marker]));
  return selection.entries().filter((run) => ids.has(run.id) || drawn.includes(selection.colour(run.id)));
}

/**
 * Return the heading of the file: title, version, time, and a legend if the copy has none.
 * @param {App} app
 * @param {string} title
 * @param {Element} copy
 * @param {Run[]} runs
 */
function heading(app, title, copy, runs) {
  const now = Date.now() / 1000;
  const legend = runs.map((run) =>
    h(
      "span",
      { class: "row" },
      h("i", { class: "swatch", style: { background: app.selection.colour(run.id) } }),
      nameOf(app, copy, run),
    ),
  );
  return h(
    "header",
    { class: "stack" },
    h("h1", null, title),
    h(
      "p",
      { class: "muted small" },
      [`MindInsight ${app.boot.version}`, `${app.format.time(now)} ${zoneName(now)}`, directory(app)]
        .filter(Boolean)
        .join(" · "),
    ),
    copy.querySelector(".legend") || !runs.length ? null : h("div", { class: "row wrap small" }, legend),
  );
}

/**
 * Return the title of a card with the names of its runs, or their number if there are many.
 * @param {App} app
 * @param {string} title
 * @param {Element} copy
 * @param {Run[]} drawn
 */
function cardTitle(app, title, copy, drawn) {
  const marks = /** @type {NodeListOf<HTMLElement>} */ (copy.querySelectorAll(".swatch[data-run]"));
  const marked = [...marks].flatMap((mark) => app.selection.run(mark.dataset.run ?? "") ?? []);
  const names = [...new Set([...drawn, ...marked].map((run) => nameOf(app, copy, run)))];
  const label = names.length > MOST_NAMES ? app.t("share.runs", { n: names.length }) : names.join(", ");
  return label ? `${title} · ${label}` : title;
}

/**
 * Return the name of a run, or of its job where the job is drawn as one.
 * @param {App} app
 * @param {Element} copy
 * @param {Run} run
 */
function nameOf({ selection }, copy, run) {
  return selection.folded().has(run.job) && !copy.querySelector(ABOUT) ? run.job.slice(2) : run.name;
}

/**
 * Return the name of the base directory. Return "" with several, whose names are in those of the runs.
 * @param {App} app
 */
function directory({ selection }) {
  const [name, ...others] = baseNames(selection.list());
  return others.length ? "" : name;
}

/** Return the text of all style sheets. */
async function styleTexts() {
  const sheets = [...document.querySelectorAll("link[rel=stylesheet]")].map((link) =>
    text(/** @type {HTMLLinkElement} */ (link).href),
  );
  return (await Promise.all(sheets)).join("\n");
}

/** Fetch an address as text. @param {string} address */
async function text(address) {
  return (await fetch(address)).text();
}

/** Return JSON without "<", which could end the script element around it. @param {unknown} value */
function asJson(value) {
  const json = JSON.stringify(value, (_, item) =>
    ArrayBuffer.isView(item) ? Array.from(/** @type {import("./types.js").Numbers} */ (item)) : item,
  );
  return json.replaceAll("<", "\\u003c");
}

/** Escape what could end the script element around a script. @param {string} script */
function ended(script) {
  return script.replace(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--");
}
