// A part of the page as one HTML file that needs nothing else: the elements as they are, their styles, the
// figures, and Plotly itself. Nothing in it asks any host for anything; its own policy forbids it.

import { asking } from "./api.js";
import { h, replace } from "./dom.js";
import { wakeAll } from "./lazy_work.js";
import { offlineTip } from "./offline_tip.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./charts.js").Figure} Figure */

const POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
].join("; ");
const DRAW = `${offlineTip.toString()}
const figures = JSON.parse(document.getElementById("figures").textContent);
for (const [i, { data, layout, config }] of figures.entries()) {
  const element = document.querySelector('[data-figure="' + i + '"]');
  Plotly.newPlot(element, data, layout, { ...config, responsive: true, displayModeBar: false })
    .then((plot) => offlineTip(plot));
}`;
const QUIET = 400; // ms without a request or a change, after which a page has all of its charts
const LONGEST = 60_000; // ms

/** @param {App} app @param {Element} root a view or a card @param {string} title @returns {Promise<Blob>} */
export async function offlinePage(app, root, title) {
  if (root.id === "view") await everything(root);
  /** @type {Figure[]} */
  const figures = [];
  const copy = /** @type {HTMLElement} */ (root.cloneNode(true));
  const originals = [...root.querySelectorAll(".chart")];
  copy.querySelectorAll(".chart").forEach((element, i) => extractFigure(app, originals[i], element, figures));
  await Promise.all(pairs(root, copy, "img").map(([from, to]) => inline(from, to)));
  plain(copy);
  copy.removeAttribute("id");
  copy.classList.remove("full");
  const body = h("body", null, h("main", { class: "offline" }, heading(app, title), copy));
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
  return new Blob([documentOf(app, styles, body, scripts)], { type: "text/html" });
}

/**
 * A whole HTML document as text.
 * @param {App} app
 * @param {string} styles
 * @param {HTMLElement} body
 * @param {string} scripts elements that go at the end of the body
 */
function documentOf(app, styles, body, scripts) {
  const content = new XMLSerializer().serializeToString(body).replace("</body>", () => `${scripts}</body>`);
  return [
    `<!doctype html><html lang="${app.boot.lang}" data-theme="${app.theme.dark() ? "dark" : "light"}"><head>`,
    `<meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${styles}</style>`,
    `</head>${content}</html>`,
  ].join("");
}

/** Load what has not been scrolled to, until no new chart comes. @param {Element} root */
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
 * An empty box in place of the chart, and its figure.
 * @param {App} app
 * @param {Element} from
 * @param {Element} to
 * @param {Figure[]} figures
 */
function extractFigure(app, from, to, figures) {
  const figure = app.charts.figure(from);
  replace(to);
  if (!figure) return;
  to.setAttribute("data-figure", String(figures.length));
  figures.push(named(figure));
}

/** Lines that answer the pointer: the file has a tip of its own. @param {Figure} figure @returns {Figure} */
function named({ data, layout, config }) {
  const lines = data.map((trace) =>
    trace.name && trace.hoverinfo === "skip" && trace.opacity === 1 && !trace.fill
      ? { ...trace, hoverinfo: "none" }
      : trace,
  );
  return {
    data: lines,
    layout: { ...layout, hovermode: layout.hovermode || "x", autosize: true },
    config,
  };
}

/** @param {Element} root @param {Element} copy @param {string} selector @returns {[any, any][]} */
function pairs(root, copy, selector) {
  const copies = [...copy.querySelectorAll(selector)];
  return [...root.querySelectorAll(selector)].map((element, i) => [element, copies[i]]);
}

/** A picture's bytes into its address. @param {HTMLImageElement} from @param {HTMLImageElement} to */
async function inline(from, to) {
  to.removeAttribute("src");
  if (!from.src) return;
  const bytes = await (await fetch(from.src)).blob();
  to.setAttribute(
    "src",
    await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.readAsDataURL(bytes);
    }),
  );
}

/** Controls lead nowhere in a file: what they say stays, what they do goes. @param {Element} copy */
function plain(copy) {
  copy
    .querySelectorAll(".toolbar, .tools, input, select, textarea, .slider, .scalar-cursor, .unseen")
    .forEach((element) => element.remove());
  copy
    .querySelectorAll("button, a")
    .forEach((element) =>
      element.replaceWith(h("span", { class: element.className }, [...element.childNodes])),
    );
  copy.querySelectorAll("[tabindex]").forEach((element) => element.removeAttribute("tabindex"));
}

/** What this is, of when, and which line is which run. @param {App} app @param {string} title */
function heading(app, title) {
  const folded = app.selection.folded();
  const runs = app.selection
    .entries()
    .map((run) =>
      h(
        "span",
        { class: "row" },
        h("i", { class: "swatch", style: { background: app.selection.colour(run.id) } }),
        folded.has(run.job) ? run.job.slice(2) : run.name,
      ),
    );
  return h(
    "header",
    { class: "stack" },
    h("h1", null, title),
    h(
      "p",
      { class: "muted small" },
      `MindInsight ${app.boot.version} · ${new Date().toLocaleString(app.boot.lang)}`,
    ),
    h("div", { class: "row wrap small" }, runs),
  );
}

async function styleTexts() {
  const sheets = [...document.querySelectorAll("link[rel=stylesheet]")].map((link) =>
    text(/** @type {HTMLLinkElement} */ (link).href),
  );
  return (await Promise.all(sheets)).join("\n");
}

/** @param {string} address */
async function text(address) {
  return (await fetch(address)).text();
}

/** No "<" in it: it could end the block it stands in. @param {any} value */
function asJson(value) {
  const json = JSON.stringify(value, (_, item) =>
    ArrayBuffer.isView(item) ? Array.from(/** @type {any} */ (item)) : item,
  );
  return json.replaceAll("<", "\\u003c");
}

/** The same for a script. @param {string} script */
function ended(script) {
  return script.replace(/<\/script/gi, "<\\/script").replaceAll("<!--", "<\\!--");
}
