// Selector of the criterion that colours runs, with its legend.

import { button } from "../components/button.js";
import { menu } from "../components/dialog.js";
import { searchBox } from "../components/field.js";
import { icon } from "../components/icons.js";
import { h, replace } from "../core/dom.js";
import { faultText } from "../core/patterns.js";
import { differing, GROUP } from "../core/run_traits.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/colouring.js").Colours} Colours */

const SHOWN = 30; // names listed at a time; the filter finds the others
const ENTRIES = 12; // of the legend: there are no more colours
const PATTERN = "^[^/]+";

/** Create the select of the criterion that colours runs, with its legend. @param {App} app */
export function colourBy(app) {
  /** @type {ReturnType<typeof menu> | null} */
  let open = null;
  const name = h("span", { class: "ellipsis" });
  const opener = h(
    "button",
    {
      type: "button",
      class: "quiet small",
      "aria-haspopup": "dialog",
      onclick: () => {
        if (open?.isConnected) open.close();
        else {
          open = menu(
            opener,
            choices(app, () => open?.close()),
            app.t("colour.title"),
          );
        }
      },
    },
    icon("palette"),
    name,
    icon("down"),
  );
  const meaning = h("div", { class: "colour-legend small" });
  const draw = () => {
    name.textContent = app.t("colour.by", { key: nameOf(app, app.selection.colouring.shownBy()) });
    replace(meaning, legend(app, app.selection.colouring.colours()));
  };
  draw();
  return { element: h("div", { class: "colour-by" }, opener, meaning), draw };
}

/** Return the criterion as text. @param {App} app @param {string} by */
function nameOf(app, by) {
  if (by === GROUP) return app.t("runs.col.group");
  return by ? by.slice(by.indexOf(":") + 1) : app.t("colour.own");
}

/** Create the menu of criteria. @param {App} app @param {() => void} close */
function choices(app, close) {
  const { t, selection } = app;
  const now = selection.colouring.by();
  /** @type {string[]} */
  let tags = [];
  const choose = (/** @type {string} */ by) => (close(), selection.colouring.choose(by));
  const item = (/** @type {string} */ by) =>
    button(by ? nameOf(app, by) : t("colour.each"), () => choose(by), {
      class: "item",
      "aria-pressed": by === now,
    });
  const group = (/** @type {string} */ kind, /** @type {string[]} */ names) =>
    names.length
      ? h(
          "fieldset",
          null,
          h("legend", { class: "label" }, t(`colour.${kind}`)),
          names.slice(0, SHOWN).map((name) => item(`${kind}:${name}`)),
        )
      : null;
  const [settings, scalars] = [h("div", { class: "stack" }), h("div")];
  const fits = (/** @type {string} */ text) => text.toLowerCase().includes(search.box.value.toLowerCase());
  const drawScalars = () => replace(scalars, group("last", tags.filter(fits)));
  const draw = () => {
    const grouped = selection.all().some((run) => run.group);
    replace(
      settings,
      item(""),
      grouped ? item(GROUP) : null,
      group("hyper", differing(selection.all()).filter(fits)),
    );
    drawScalars();
  };
  const search = searchBox({ label: t("colour.filter"), onchange: draw });
  draw();
  app.api.get("v2/tags", { kind: "scalar", brief: true }).then(
    (answer) => {
      tags = answer.tags.map((/** @type {{tag: string}} */ row) => row.tag);
      drawScalars(); // the others stay what somebody may be pressing
    },
    () => undefined,
  );
  return h("div", { class: "stack colour-choices" }, search, settings, scalars, byName(app, now, choose));
}

/**
 * Create the input for a pattern on run names.
 * @param {App} app
 * @param {string} now
 * @param {(by: string) => void} choose
 */
function byName(app, now, choose) {
  const { t } = app;
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "text",
    class: "grow mono",
    required: true,
    "aria-label": t("colour.pattern"),
    title: t("colour.pattern"),
    spellcheck: "false",
    value: now.startsWith("name:") ? now.slice("name:".length) : PATTERN,
    oninput: () => box.setCustomValidity(fault(app, box.value)),
  });
  const onsubmit = (/** @type {Event} */ event) => (event.preventDefault(), choose(`name:${box.value}`));
  return h(
    "form",
    { onsubmit },
    h("span", { class: "label" }, t("colour.name")),
    h("div", { class: "row" }, box, h("button", { type: "submit" }, t("colour.apply"))),
  );
}

/**
 * Return the error of a pattern as text, or "".
 * @param {App} app
 * @param {string} pattern
 * @returns {string} what is wrong with it, or ""
 */
function fault(app, pattern) {
  return faultText(app, pattern);
}

/** Create the legend of the colours in use. @param {App} app @param {Colours | null} colours */
function legend(app, colours) {
  if (!colours) return [];
  const { t, format } = app;
  const { entries, range, without } = colours;
  const none = without
    ? h(
        "span",
        { class: "row muted" },
        swatch(app.theme.colour("--muted")),
        t("colour.without", { n: without }),
      )
    : null;
  if (range) {
    const bar = h("i", {
      class: "ramp",
      style: { background: `linear-gradient(to right, ${range.stops.join(", ")})` },
    });
    return [
      h(
        "div",
        { class: "row" },
        format.number(range.low),
        bar,
        format.number(range.high),
        range.log ? h("span", { class: "muted" }, t("colour.log")) : null,
      ),
      none,
    ];
  }
  const more = entries.length - ENTRIES;
  const items = entries
    .slice(0, ENTRIES)
    .map(({ label, colour, n }) =>
      h(
        "span",
        { class: "row", title: label },
        swatch(colour),
        h("span", { class: "ellipsis" }, label),
        h("span", { class: "muted" }, n),
      ),
    );
  return h(
    "div",
    { class: "row wrap" },
    items,
    more > 0 ? h("span", { class: "muted" }, t("colour.more", { n: more })) : null,
    none,
  );
}

/** Create a colour sample. @param {string} colour */
function swatch(colour) {
  return h("i", { class: "swatch", style: { "--swatch": colour } });
}
