// Row of the table of dumped tensors: views/dump/rows.js with lit-html.

import { html } from "/lit-html/lit-html.js";
import { ifDefined } from "/lit-html/directives/if-defined.js";

export const COLUMNS = [
  { key: "sequence", sort: "sequence", number: true },
  { key: "operator", sort: "operator" },
  { key: "type", sort: "type" },
  { key: "slot" },
  { key: "dtype" },
  { key: "shape" },
  { key: "nans", sort: "nans", number: true },
  { key: "infs", sort: "positive_infs", number: true },
  { key: "minimum", sort: "minimum", number: true },
  { key: "maximum", sort: "maximum", number: true },
  { key: "mean", sort: "mean", number: true },
  { key: "std", sort: "std", number: true },
  { key: "norm", sort: "norm", number: true },
  { key: "zeros", sort: "zeros", number: true },
];

export function cells(page, row, open) {
  const { app } = page;
  const { statistics } = row;
  return html`
    <td class="number muted">${row.sequence}</td>
    <td class="name">
      <button type="button" class="link" title=${row.operator} @click=${open}>${short(row.operator)}</button>
    </td>
    <td class="type" title=${row.type}>${row.type}</td>
    <td>${slotText(app, row)}</td>
    <td>${row.dtype}</td>
    <td class="mono">${shapeText(row.shape)}</td>
    ${lost(app, statistics?.nans, row)} ${lost(app, infinities(statistics), row)}
    ${["minimum", "maximum", "mean", "std", "norm"].map(
      (key) => html`<td class="number">${statistics ? number(app, statistics[key]) : ""}</td>`,
    )}
    ${count(app, statistics?.zeros, row)}
  `;
}

export function infinities(statistics) {
  if (!statistics || statistics.positive_infs === null || statistics.negative_infs === null) return null;
  return statistics.positive_infs + statistics.negative_infs;
}

export function lostElements(statistics) {
  const infs = infinities(statistics);
  return infs === null || statistics.nans === null ? null : infs + statistics.nans;
}

function count(app, value, row) {
  const title = row.statistics && value === null ? app.t("dump.not_counted") : undefined;
  return html`<td class="number" title=${ifDefined(title)}>${value ?? ""}</td>`;
}

function lost(app, value, row) {
  if (row.damage) {
    const title = `${app.t(row.damage.reason)} ${row.damage.detail}`;
    return html`<td class="number strange" title=${title}>!</td>`;
  }
  if (value === null && row.finite === false) {
    return html`<td class="number strange" title=${app.t("dump.lost_not_counted")}>?</td>`;
  }
  return value ? html`<td class="number strange">${value}</td>` : count(app, value, row);
}

export function short(name) {
  const parts = name.split("/");
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : name;
}

export function slotText(app, row) {
  return `${app.t(`dump.direction.${row.direction}`)} ${row.slot}`;
}

export function shapeText(shape) {
  return shape ? `[${shape.join(", ")}]` : "";
}

export function number(app, value) {
  return typeof value === "string" ? value : app.format.number(value);
}
