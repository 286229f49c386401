// Panel of a node of the graph: views/graph/panel.js with lit-html.

import { html, nothing } from "/lit-html/lit-html.js";

export const panelElement = ({ t }) =>
  html`<div class="graph-about scroll" role="region" aria-label=${t("graph.about")} tabindex="0"></div>`;

export function nodeFacts(app, about, traced, does, dumped = null) {
  const { t } = app;
  const toggle = html`<button type="button" @click=${() => does.toggle(about.id)}>
    ${t(about.opened ? "graph.close" : "graph.open")}
  </button>`;
  return html`<div class="graph-facts stack">
    <div>
      ${around(app, about, does)}
      <h2>${about.label || t("graph.call")}</h2>
      <p class="muted small mono path">${about.path}</p>
    </div>
    <dl class="pairs">${summary(app, about)}</dl>
    <div class="row wrap">${about.count ? toggle : nothing} ${traceButtons(app, traced, does)}</div>
    ${tracedText(about.traced)} ${dumped}
    ${entries(app, "graph.inputs", about.inputs, (entry) => nodeRow(app, entry, does))}
    ${entries(app, "graph.outer", about.outer, (entry) => outerRow(entry, does))}
    ${entries(app, "graph.outputs", about.outputs, (entry) => nodeRow(app, entry, does))}
    ${attributes(app, about.attributes ?? [])} ${stacks(app, about.stacks ?? [])}
  </div>`;
}

export function outerFacts(app, about, does, dumped = null) {
  const { t } = app;
  return html`<div class="graph-facts stack">
    <div>
      <p class="muted small">${t(`graph.kind.${about.kind}`)}</p>
      <h2>${about.label}</h2>
    </div>
    <dl class="pairs">
      ${pair(t(about.kind === "constant" ? "graph.value" : "graph.type"), about.text || "–")}
    </dl>
    ${dumped} ${entries(app, "graph.users", about.users, (entry) => nodeRow(app, entry, does))}
    ${attributes(app, about.attributes)}
  </div>`;
}

const around = (app, about, does) =>
  html`<nav aria-label=${app.t("graph.around")}>
    <ol class="crumbs small">
      ${about.around.map(
        ({ id, label }) =>
          html`<li><button type="button" class="link" @click=${() => does.goTo(id)}>${label}</button></li>`,
      )}
    </ol>
  </nav>`;

function summary(app, about) {
  const { t } = app;
  if (about.operators === undefined) {
    return [
      pair(t("graph.operator"), about.type || t("graph.call")),
      pair(t("graph.output"), about.output || "–"),
      about.dynamic ? pair(t("graph.shape"), t("graph.dynamic")) : nothing,
    ];
  }
  const types = Object.entries(about.types)
    .slice(0, 6)
    .map(([type, count]) => `${type} ${count}`)
    .join(", ");
  return [
    pair(t("graph.what"), t(`graph.kind.${about.kind}`)),
    pair(t("graph.children"), String(about.count)),
    pair(t("graph.operators"), String(about.operators)),
    pair(t("graph.types"), Object.keys(about.types).length > 6 ? `${types}, …` : types),
  ];
}

const pair = (name, value) =>
  html`<dt>${name}</dt>
    <dd>${value}</dd>`;

export const traceButtons = (app, traced, does) =>
  ["up", "down"].map((direction) => {
    const on = traced === direction;
    return html`<button type="button" aria-pressed=${on} @click=${() => does.trace(on ? null : direction)}>
      ${app.t(`graph.trace.${direction}`)}
    </button>`;
  });

export const tracedText = (text) =>
  html`<p class="small traced" role="status" ?hidden=${!text}>${text ?? ""}</p>`;

function entries(app, key, list, row) {
  if (!list?.total) return nothing;
  const rest = list.total - list.shown.length;
  return html`<section>
    <h3>${app.t(key)}<span class="badge">${list.total}</span></h3>
    <ul class="entries scroll">
      ${list.shown.map(row)}
      ${rest > 0 ? html`<li class="muted small">${app.t("graph.rest", { n: rest })}</li>` : nothing}
    </ul>
  </section>`;
}

function nodeRow(app, entry, does) {
  const text = [entry.text, entry.control ? app.t("graph.control") : ""].filter(Boolean).join(" · ");
  return html`<li>
    <button type="button" class="link ellipsis" title=${entry.path} @click=${() => does.goTo(entry.id)}>
      ${entry.label || app.t("graph.call")}
    </button>
    ${text ? html`<span class="muted small">${text}</span>` : nothing}
  </li>`;
}

const outerRow = (entry, does) =>
  html`<li>
    <button type="button" class="link ellipsis" title=${entry.label} @click=${() => does.outer(entry.node)}>
      ${entry.label}
    </button>
    <span class="muted small">${entry.text}</span>
  </li>`;

function attributes(app, list) {
  if (!list.length) return nothing;
  return html`<section>
    <h3>${app.t("graph.attributes")}<span class="badge">${list.length}</span></h3>
    <dl class="pairs small">
      ${list.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd class="mono">${value}</dd>`,
      )}
    </dl>
  </section>`;
}

function stacks(app, list) {
  if (!list.length) return nothing;
  const line = (frame) =>
    html`<li>
      <span class="muted mono">${frame.file}:${frame.line}</span>
      <code>${frame.code}</code>
    </li>`;
  return html`<section>
    <h3>${app.t("graph.source")}</h3>
    ${list.map(
      (stack) =>
        html`<ol class="stack-lines small">
          ${stack.map(line)}
        </ol>`,
    )}
  </section>`;
}
