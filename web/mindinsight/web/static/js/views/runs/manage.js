// Management of many runs: ticks in the table, and a bar with what can be done to the ticked runs.

import { button } from "../../components/button.js";
import { menu } from "../../components/dialog.js";
import { change } from "../../components/runs/changes.js";
import { field, labelsIn, MAX_NAME, swatches } from "../../components/runs/annotate.js";
import { needsServer } from "../../core/copy.js";
import { h, renew } from "../../core/dom.js";
import { countJobs } from "../../core/jobs.js";
import { runsBox } from "./cells.js";
import { renameDialog } from "./rename.js";
import { openTrash, trashDialog } from "./trash.js";

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../core/selection.js").RunChange} RunChange */

const MOST_LABELS = 50; // of a run, as the server stores

/**
 * Create the bar that manages several runs at once, and the button that opens it. Opened during a search, all
 * found runs are ticked.
 * @param {App} app
 * @param {{found: () => Run[], searched: () => boolean, redraw: () => void}} table `found`: the listed runs
 */
export function createManage(app, { found, searched, redraw }) {
  const { t } = app;
  let open = false;
  /** @type {Set<string>} */
  let ticks = new Set();
  /** Runs of the last tick, where a range of ticks begins. @type {string[]} */
  let last = [];
  const attrs = { class: "manage-bar row wrap", role: "toolbar", "aria-label": t("manage.title") };
  const element = h("div", { ...attrs, hidden: true });
  const opener = button(t("manage.title"), () => show(!open), {
    "aria-pressed": "false",
    title: t("manage.how"),
    ...needsServer(app),
  });
  /** Only listed runs count: nothing is done to a run out of sight. */
  const ticked = () => found().filter(({ id }) => ticks.has(id));

  const show = (/** @type {boolean} */ on) => {
    open = on;
    ticks = new Set(on && searched() ? found().map(({ id }) => id) : []);
    opener.setAttribute("aria-pressed", String(on));
    redraw();
  };
  const tick = (/** @type {string[]} */ ids, /** @type {boolean} */ on) => {
    for (const id of ids) on ? ticks.add(id) : ticks.delete(id);
    redraw();
  };
  const draw = () => {
    element.hidden = !open;
    if (!open) return;
    const runs = ticked();
    const all = () =>
      tick(
        found().map(({ id }) => id),
        true,
      );
    renew(
      element,
      h("strong", { role: "status" }, t("manage.ticked", { n: countJobs(runs) })),
      outside(app, ticks, runs, tick),
      button(t("common.all"), all, { class: "link", "data-focus": "all" }),
      button(t("common.none"), () => tick([...ticks], false), { class: "link", "data-focus": "none" }),
      actions(app, runs),
      app.selection.list().deletable
        ? button(t("trash.open"), () => openTrash(app), { class: "link", "data-focus": "trash" })
        : null,
      button(t("manage.done"), () => show(false), { class: "quiet", "data-focus": "done" }),
    );
  };
  /** @type {import("./cells.js").MakeBox} */
  const box = (ids, name) =>
    runsBox(
      t("manage.tick", { run: name }),
      ids,
      (id) => ticks.has(id),
      (on, event) => {
        const range = event.shiftKey ? between(found(), last, ids) : ids;
        last = ids;
        tick(range, on);
      },
    );
  return { element, opener, draw, box: () => (open ? box : null) };
}

/**
 * Return how many ticked runs are not in the list, and a button that unticks them; nothing if there are none.
 * @param {App} app
 * @param {Set<string>} ticks
 * @param {Run[]} listed those in the list
 * @param {(ids: string[], on: boolean) => void} tick
 */
function outside({ t, selection }, ticks, listed, tick) {
  const known = new Set(listed.map(({ id }) => id));
  const ids = [...ticks].filter((id) => !known.has(id));
  const runs = ids.flatMap((id) => selection.run(id) ?? []);
  if (!runs.length) return [];
  return [
    h("span", { class: "muted", role: "status" }, t("manage.outside", { n: countJobs(runs) })),
    button(t("manage.untick"), () => tick(ids, false), { class: "link", "data-focus": "untick" }),
  ];
}

/**
 * Return the ids of the runs from one tick to another, in the order of a list.
 * @param {{id: string}[]} runs
 * @param {string[]} from
 * @param {string[]} to
 */
export function between(runs, from, to) {
  const at = runs.flatMap(({ id }, i) => (from.includes(id) || to.includes(id) ? [i] : []));
  const ends = from.some((id) => runs.some((run) => run.id === id));
  return ends ? runs.slice(Math.min(...at), Math.max(...at) + 1).map(({ id }) => id) : to;
}

/** Create the buttons of what can be done to runs. @param {App} app @param {Run[]} runs */
function actions(app, runs) {
  const { t } = app;
  const off = { disabled: !runs.length };
  const n = countJobs(runs);
  const set = (/** @type {Partial<RunChange>} */ fields, /** @type {string} */ key) =>
    change(
      app,
      runs.map(({ id }) => ({ run: id, ...fields })),
      t(key, { n }),
    );
  const opens = (/** @type {string} */ key, /** @type {(close: () => void) => HTMLElement} */ body) => {
    /** @type {HTMLElement} */
    const anchor = button(t(key), () => openMenu(anchor, body, t(key)), {
      ...off,
      "aria-haspopup": "dialog",
      "data-focus": key,
    });
    return anchor;
  };
  const turn = (/** @type {"hidden" | "archived"} */ name, /** @type {[string, string]} */ [on, off_]) => {
    const undone = runs.length > 0 && runs.every((run) => run[name]);
    const key = undone ? off_ : on;
    return button(t(key), () => set({ [name]: !undone }, undone ? `manage.un${name}` : `manage.${name}`), {
      ...off,
      "data-focus": name,
    });
  };
  const { deletable } = app.selection.list();
  return [
    opens("manage.label", (close) => labelForm(app, runs, close)),
    opens("manage.group", (close) =>
      groupForm(app, runs, (group) => (close(), set({ group }, "manage.grouped"))),
    ),
    opens("runs.colour", (close) =>
      colourForm(app, (colour) => (close(), set({ colour }, "manage.coloured"))),
    ),
    turn("hidden", ["runs.hide", "runs.unhide"]),
    turn("archived", ["manage.archive", "manage.unarchive"]),
    button(t("manage.rename"), () => renameDialog(app, runs), { ...off, "data-focus": "rename" }),
    button(t("manage.delete"), () => trashDialog(app, runs), {
      disabled: !runs.length || !deletable,
      title: deletable ? null : t("manage.delete.off"),
      "data-focus": "delete",
    }),
  ];
}

/**
 * Open a menu whose content closes it.
 * @param {HTMLElement} anchor
 * @param {(close: () => void) => HTMLElement} body
 * @param {string} label
 */
function openMenu(anchor, body, label) {
  const content = body(() => opened.close());
  const opened = menu(anchor, content, label);
}

/**
 * Create the form that adds labels to runs, or removes them.
 * @param {App} app
 * @param {Run[]} runs
 * @param {() => void} close
 */
function labelForm(app, runs, close) {
  const { t } = app;
  const known = [...new Set(app.selection.everything().flatMap((run) => run.labels))];
  const box = textBox("manage-labels", known, t("runs.labels.how"));
  const apply = (/** @type {boolean} */ on) => {
    const words = labelsIn(box.value);
    if (!words.length) return;
    close();
    const changes = runs.map(({ id, labels }) => {
      const others = labels.filter((label) => !words.includes(label));
      return { run: id, labels: (on ? [...others, ...words] : others).slice(0, MOST_LABELS) };
    });
    change(app, changes, t(on ? "manage.labelled" : "manage.unlabelled", { n: countJobs(runs) }));
  };
  return h(
    "form",
    { class: "stack", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), apply(true)) },
    field(t("runs.col.labels"), box),
    box.choices,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, t("manage.label.add")),
      button(t("manage.label.remove"), () => apply(false)),
    ),
  );
}

/**
 * Create the form that puts runs into a group.
 * @param {App} app
 * @param {Run[]} runs
 * @param {(group: string) => void} onchoose
 */
function groupForm({ t, selection }, runs, onchoose) {
  const known = [...new Set(selection.everything().map((run) => run.group))].filter(Boolean);
  const box = textBox("manage-groups", known, "");
  const of = new Set(runs.map((run) => run.group));
  box.value = of.size === 1 ? [...of][0] : "";
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), onchoose(box.value.trim()));
  return h(
    "form",
    { class: "stack", onsubmit: submit },
    field(t("runs.col.group"), box),
    box.choices,
    h(
      "div",
      { class: "row" },
      h("button", { type: "submit", class: "primary" }, t("manage.group.set")),
      button(t("manage.group.none"), () => onchoose("")),
    ),
  );
}

/**
 * Create a text box that offers known texts.
 * @param {string} id
 * @param {string[]} known
 * @param {string} placeholder
 */
function textBox(id, known, placeholder) {
  const list = h(
    "datalist",
    { id },
    known.sort().map((value) => h("option", { value })),
  );
  return Object.assign(h("input", { type: "text", list: id, placeholder, maxlength: MAX_NAME }), {
    choices: list,
  });
}

/**
 * Create the choice of a colour.
 * @param {App} app
 * @param {(colour: string) => void} onchoose
 */
function colourForm(app, onchoose) {
  const choices = swatches(app, "");
  choices.forEach(({ input, colour }) => {
    input.checked = false;
    input.addEventListener("change", () => onchoose(colour));
  });
  return h(
    "div",
    { class: "row wrap" },
    choices.map(({ element }) => element),
  );
}
