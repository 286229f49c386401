// One cursor over all charts of the page: a line in each, and in the one under the pointer a table of
// values, nearest first.

import { createTip } from "../../components/tip.js";
import { h } from "../../core/dom.js";
import { number, duration, time } from "../../core/format.js";
import { places, reaches, shown } from "./figure.js";

/** @typedef {import("./figure.js").Drawn} Drawn */
/** @typedef {import("./options.js").Options} Options */
/**
 * @typedef {Object} Member
 * @property {() => Drawn[]} drawn
 * @property {() => Options} options
 * @property {() => import("./figure.js").Scales | null} scales
 * @property {() => import("./alert_marks.js").Mark[]} marks
 * @property {(at: number) => void} pick a place on x was clicked, in the units of the address
 */

const ROWS = 12;
const STILL = 4; // px that a pointer may move in a click
const TWICE = 300; // ms within which a second press makes it a double click, which undoes the zoom
const NEAR = 24; // px from the pointer within which a curve is meant
const ON = 5; // px from the pointer within which an alert's line is meant
const SPARED = ["relative", "wall"]; // what a narrow window has no room for

/** @type {Record<string, (curve: import("./figure.js").Curve, row: number) => string>} */
const FIELDS = {
  smoothed: (curve, row) => (curve.smooth ? number(curve.smooth[row], 6) : ""),
  value: (curve, row) => number(curve.value[row], 6),
  x: (curve, row) => (curve.x ? number(curve.x[row], 6) : ""),
  step: (curve, row) => number(curve.step[row], 12),
  relative: (curve, row) => duration(curve.wall[row] - curve.wall[0]),
  wall: (curve, row) => time(curve.wall[row]),
};

/** @param {import("../../core/types.js").App} app */
export function createCursor(app) {
  /** @type {Map<any, Member & {line: HTMLElement}>} */
  const members = new Map();
  const tip = createTip();

  /** @param {number} x in the units of the curves */
  const drawLines = (x) => {
    for (const [element, member] of members) {
      const axis = element._fullLayout?.xaxis;
      const scales = member.scales();
      if (!axis || !scales || !app.charts.visible(element)) continue;
      const at = axis.c2p(scales.x.to(x));
      member.line.hidden = !(at >= 0 && at <= axis._length);
      member.line.style.transform = `translateX(${Math.round(axis._offset + at)}px)`;
    }
  };

  /**
   * The run that is meant stands out in every chart, the others step back; null: all are alike.
   * @type {string | null}
   */
  let meant = null;
  const mean = (/** @type {string | null} */ run) => {
    if (run === meant) return;
    meant = run;
    for (const element of members.keys()) if (app.charts.visible(element)) fade(element, run);
  };
  const offPointed = app.selection.onPoint(mean);

  const clear = () => {
    tip.hide();
    mean(null);
    members.forEach((member) => (member.line.hidden = true));
  };

  /** @param {any} element @param {PointerEvent} event */
  const move = (element, event) => {
    const member = members.get(element);
    const layout = element._fullLayout;
    const scales = member?.scales();
    if (!member || !scales || !layout?.xaxis?._length) return;
    const box = element.getBoundingClientRect();
    const x = across(element, member, event);
    drawLines(x);
    const rows = nearest(member, scales, layout, x, event.clientY - box.top - layout.yaxis._offset);
    mean(rows.length > 1 && rows[0].away < NEAR ? rows[0].one.curve.run : null);
    if (rows.length) {
      tip.show(event.clientX, event.clientY, [
        ...alertsAt(member, scales, layout.xaxis, x),
        ...content(app, rows, member.options().x),
      ]);
    } else tip.hide();
  };

  return {
    /** @param {any} element a chart's element @param {Member} member */
    join(element, member) {
      const line = h("div", { class: "scalar-cursor", hidden: true });
      element.parentElement.append(line);
      members.set(element, { ...member, line });
      element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => move(element, event));
      element.addEventListener("pointerleave", clear);
      clicked(element, (event) => {
        const at = across(element, member, event);
        if (Number.isFinite(at)) {
          member.pick(
            member.options().x === "wall" ? at / 1000 : member.options().x === "step" ? Math.round(at) : at,
          );
        }
      });
    },
    /** It was drawn anew. @param {any} element */
    drawn: (element) => fade(element, meant),
    /** @param {any} element */
    leave(element) {
      members.get(element)?.line.remove();
      members.delete(element);
    },
    end() {
      offPointed();
      clear();
      tip.remove();
      members.clear();
    },
  };
}

/**
 * Where the pointer is on x, in the units of the curves.
 * @param {any} element
 * @param {Member} member
 * @param {PointerEvent} event
 */
function across(element, member, event) {
  const axis = element._fullLayout?.xaxis;
  const scales = member.scales();
  if (!axis?._length || !scales) return NaN;
  return scales.x.from(axis.p2c(event.clientX - element.getBoundingClientRect().left - axis._offset));
}

/**
 * A press and a release at one place inside the plot, and no second one soon after. Plotly keeps the releases
 * of what is dragged to itself, so they are looked for in the whole window.
 * @param {HTMLElement} element
 * @param {(event: PointerEvent) => void} onclick
 */
function clicked(element, onclick) {
  let timer = 0;
  let before = -Infinity;
  element.addEventListener("pointerdown", (down) => {
    clearTimeout(timer);
    const second = down.timeStamp - before < TWICE;
    before = down.timeStamp;
    if (second || down.button || !(/** @type {Element} */ (down.target).closest(".nsewdrag"))) return;
    const release = (/** @type {PointerEvent} */ up) => {
      if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < STILL) {
        timer = window.setTimeout(() => element.isConnected && onclick(up), TWICE);
      }
    };
    window.addEventListener("pointerup", release, { capture: true, once: true });
  });
}

/** @param {any} element a chart @param {string | null} run that stands out */
function fade(element, run) {
  const traces = [...element.querySelectorAll(".scatterlayer .trace")];
  const of = traces.map((trace) => trace.__data__?.[0]?.trace?.meta ?? null);
  const known = run !== null && of.includes(run);
  traces.forEach((trace, i) => trace.classList.toggle("faded", known && of[i] !== null && of[i] !== run));
}

/**
 * What the alerts say whose lines are under the pointer.
 * @param {Member} member
 * @param {import("./figure.js").Scales} scales
 * @param {any} xaxis
 * @param {number} x
 */
function alertsAt(member, scales, xaxis, x) {
  const place = (/** @type {number} */ at) => xaxis.c2p(scales.x.to(at));
  return member
    .marks()
    .filter((mark) => Math.abs(place(mark.x) - place(x)) <= ON)
    .map(({ colour, words }) => h("p", { class: "tip-alert", style: { color: colour } }, words));
}

/** @typedef {{one: Drawn, row: number, away: number}} Near */

/**
 * Each curve's point nearest in x, sorted by how far the curve is from the pointer: one that has ended is
 * farther than its height says.
 * @param {Member} member
 * @param {import("./figure.js").Scales} scales
 * @param {any} layout of Plotly
 * @param {number} x
 * @param {number} y px
 * @returns {Near[]}
 */
function nearest(member, scales, { xaxis, yaxis }, x, y) {
  const axis = member.options().x;
  const place = (/** @type {number} */ at) => xaxis.c2p(scales.x.to(at));
  /** @type {Near[]} */
  const rows = [];
  for (const one of member.drawn()) {
    const along = places(one.curve, axis);
    const row = closest(along, x);
    if (row < 0) continue;
    const beyond = reaches(one.curve, axis, x) ? 0 : place(along[row]) - place(x);
    const value = shown(one.curve)[row];
    const height = Number.isFinite(value) ? yaxis.c2p(scales.y.to(value)) : yaxis._length;
    rows.push({ one, row, away: Math.hypot(height - y, beyond) });
  }
  return rows.sort((a, b) => a.away - b.away);
}

/**
 * Row whose place is nearest to x in an ascending column, -1 in an empty one.
 * @param {ArrayLike<number>} column
 * @param {number} x
 */
export function closest(column, x) {
  let low = 0;
  let high = column.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < x) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && Math.abs(column[low - 1] - x) <= Math.abs(column[low] - x)) low--;
  return column.length ? low : -1;
}

/** @param {import("../../core/types.js").App} app @param {Near[]} rows @param {string} axis */
function content(app, rows, axis) {
  const smoothed = rows.some(({ one }) => one.curve.smooth);
  const across = axis.startsWith("tag:");
  const fields = [
    ...(smoothed ? ["smoothed"] : []),
    "value",
    ...(across ? ["x"] : []),
    "step",
    "relative",
    "wall",
  ];
  const aside = (/** @type {string} */ field) =>
    SPARED.includes(field) || (across && field === "step") ? "aside" : null;
  const body = rows.slice(0, ROWS).map(({ one: { curve, colour, label }, row }, rank) =>
    h(
      "tr",
      { class: rank === 0 ? "near" : "" },
      h("td", null, h("i", { class: "swatch", style: { background: colour } })),
      h("th", { scope: "row" }, label),
      fields.map((field) => h("td", { class: aside(field) }, FIELDS[field](curve, row))),
    ),
  );
  const head = fields.map((field) =>
    h("th", { scope: "col", class: aside(field) }, app.t(`scalar.tip.${field}`)),
  );
  const rest = rows.length - body.length;
  return [
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h("tr", null, h("td", null), h("th", { scope: "col" }, app.t("scalar.tip.run")), head),
      ),
      h("tbody", null, body),
    ),
    rest > 0 && h("p", { class: "muted" }, app.t("scalar.tip.more", { n: rest })),
  ];
}
