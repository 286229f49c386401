// Rows of the runs table.

import { iconButton } from "../../components/button.js";
import { healthStrip } from "../../components/health_strip.js";
import { lineSample } from "../../components/line.js";
import { longName } from "../../components/long_name.js";
import { lookAlikeMark } from "../../components/look_alike.js";
import { needsServer } from "../../core/copy.js";
import { h } from "../../core/dom.js";
import { annotateDialog } from "../../components/runs/annotate.js";
import { cellStyle } from "../../components/runs/column_layout.js";
import { attempt, change } from "../../components/runs/changes.js";
import { stateMarks } from "../../components/runs/columns.js";
import { stateOf } from "../../components/runs/values.js";

const CELLS = 32; // of the strip of ranks, wide enough to be seen

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/** @typedef {import("../../components/runs/columns.js").TableColumn} TableColumn */

/**
 * @typedef {(ids: string[], name: string, disabled: boolean) => HTMLElement} MakeBox makes the check box of a
 *   run or of the ranks of a job
 */

/**
 * Create a check box of several runs, on if all are on.
 * @param {string} label
 * @param {string[]} ids
 * @param {(id: string) => boolean} isOn
 * @param {(on: boolean, event: MouseEvent) => void} onchange
 * @param {boolean} [disabled]
 */
export function runsBox(label, ids, isOn, onchange, disabled = false) {
  const on = ids.filter(isOn).length;
  /** @type {HTMLInputElement} */
  const box = h("input", {
    type: "checkbox",
    checked: on === ids.length,
    indeterminate: on > 0 && on < ids.length,
    disabled,
    "aria-label": label,
    "data-focus": "box",
    onclick: (/** @type {MouseEvent} */ event) => onchange(box.checked, event),
  });
  return box;
}

/** Return a function that creates check boxes which chart runs. @param {App} app @returns {MakeBox} */
export function chartBoxes({ t, selection }) {
  return (ids, name, disabled) =>
    runsBox(
      t("runs.show", { run: name }),
      ids,
      (id) => selection.has(id),
      (on) => selection.toggleMany(ids, on),
      disabled,
    );
}

/**
 * Create the row of a run.
 * @param {App} app
 * @param {import("./rows.js").RunRow} row
 * @param {TableColumn[]} columns
 * @param {number} now Unix seconds on the server
 * @param {string} start that the names in the list share
 * @param {MakeBox} box
 */
export function runRow(app, { run, under }, columns, now, start, box) {
  return h(
    "tr",
    { "data-key": run.id, class: run.pinned ? "pinned" : null },
    nameCell(app, run, under, start, box),
    actionsCell(app, run),
    columns.map((column) => cell(column, column.cell(run, { now }))),
    h("td", { class: "rest" }),
  );
}

/**
 * Create the row of a job.
 * @param {App} app
 * @param {import("./rows.js").JobRow} row
 * @param {TableColumn[]} columns
 * @param {number} now Unix seconds on the server
 * @param {{open: boolean, toggle: () => void, health?: import("../../components/health_strip.js").Health,
 *   start: string, box: MakeBox}} ranks whether they are listed, how they are, and what the names in the list
 *   share
 */
export function jobRow(app, row, columns, now, { open, toggle, health, start, box }) {
  return h(
    "tr",
    { "data-key": row.job, class: "job" },
    jobCell(app, row, open, toggle, health, start, box),
    h("td", { class: "actions" }),
    columns.map((column) => cell(column, jobFact(app, row.runs, column.key, column, now))),
    h("td", { class: "rest" }),
  );
}

/**
 * Create the cell of a column.
 * @param {TableColumn} column
 * @param {import("../../core/dom.js").Child} content
 */
function cell(column, content) {
  const fixed = column.left === undefined ? "" : "fixed";
  const classes = [column.number ? "number" : "", column.width ? "narrowed" : "", fixed].join(" ").trim();
  return h("td", { class: classes || null, style: cellStyle(column) }, content);
}

/**
 * Create the cell of a run's name.
 * @param {App} app
 * @param {Run} run
 * @param {boolean} under whether it stands under its job
 * @param {string} start
 * @param {MakeBox} box
 */
function nameCell(app, run, under, start, box) {
  const on = app.selection.has(run.id);
  const text = under && run.rank !== null ? app.t("runs.rank", { rank: run.rank }) : run.name;
  const name = h(
    "a",
    {
      class: "ellipsis",
      href: app.url.link("overview", { run: run.id }),
      title: run.id,
      "data-focus": "name",
    },
    longName(text, { title: run.id, start }),
  );
  return h(
    "td",
    { class: under ? "name under" : "name" },
    h(
      "div",
      { class: "row" },
      box([run.id], run.name, run.hidden || run.archived),
      lineSample(app, run.id, on),
      name,
      lookAlikeMark(app, run.name),
      badges(app, run),
    ),
  );
}

/** Return the badges of a run. @param {App} app @param {Run} run */
function badges(app, run) {
  return [
    run.pinned ? h("span", { class: "badge accent" }, app.t("runs.baseline")) : null,
    run.hidden ? h("span", { class: "badge" }, app.t("runs.hidden")) : null,
    run.archived ? h("span", { class: "badge" }, app.t("runs.archived")) : null,
    run.damage
      ? h(
          "a",
          {
            class: "badge warn",
            href: app.url.link("overview", { run: run.id }),
            title: app.t("damage.run", { n: run.damage }),
          },
          app.t("damage.short", { n: run.damage }),
        )
      : null,
    ...run.labels.map((label) => h("span", { class: "badge label" }, label)),
  ];
}

/** Create the cell of a run's actions. @param {App} app @param {Run} run */
function actionsCell(app, run) {
  const pin = iconButton(
    "pin",
    app.t(run.pinned ? "runs.unpin" : "runs.pin"),
    () => attempt(app, () => app.selection.annotate([{ run: run.id, pinned: !run.pinned }])),
    { "aria-pressed": run.pinned, "data-focus": "pin", ...needsServer(app) },
  );
  const note = iconButton("note", app.t("runs.annotate"), () => annotateDialog(app, run), {
    "aria-pressed": Boolean(run.note),
    "data-focus": "note",
    ...needsServer(app),
  });
  const hiding = app.t(run.hidden ? "manage.unhidden" : "manage.hidden", { n: 1 });
  const hide = iconButton(
    run.hidden ? "eye" : "hide",
    app.t(run.hidden ? "runs.unhide" : "runs.hide"),
    () => change(app, [{ run: run.id, hidden: !run.hidden }], hiding),
    { "data-focus": "hide", ...needsServer(app) },
  );
  return h("td", { class: "actions" }, h("div", { class: "row" }, pin, note, hide));
}

/**
 * Create the cell of a job's name.
 * @param {App} app
 * @param {{job: string, runs: Run[]}} row
 * @param {boolean} open
 * @param {() => void} onfold
 * @param {import("../../components/health_strip.js").Health | undefined} health
 * @param {string} start
 * @param {MakeBox} box
 */
function jobCell(app, row, open, onfold, health, start, box) {
  const ids = row.runs.map((run) => run.id);
  const name = row.job.slice(2) || ".";
  const arrow = iconButton(open ? "down" : "right", app.t("runs.fold", { job: name }), onfold, {
    "aria-expanded": open,
    "data-focus": "fold",
    class: "icon quiet fold",
  });
  const hurt = row.runs.reduce((sum, run) => sum + run.damage, 0);
  const badge = hurt ? h("span", { class: "badge warn" }, app.t("damage.short", { n: hurt })) : null;
  return h(
    "td",
    { class: "name" },
    h(
      "div",
      { class: "row" },
      box(ids, name, false),
      arrow,
      h(
        "a",
        {
          class: "ellipsis",
          href: app.url.link("job", { job: name }),
          title: app.t("health.open", { job: name }),
          "data-focus": "name",
        },
        h("strong", null, longName(name, { title: app.t("health.open", { job: name }), start })),
      ),
      h("span", { class: "badge" }, app.t("runs.ranks", { n: ids.length })),
      health && healthStrip(app, health, row.job, CELLS),
      badge,
    ),
  );
}

/**
 * Return a job's value in a column: the worst state, that of the newest rank, the range, or the sum.
 * @param {App} app
 * @param {Run[]} runs
 * @param {string} key
 * @param {Pick<TableColumn, "value" | "cell">} column
 * @param {number} now
 */
function jobFact(app, runs, key, column, now) {
  const newest = runs.reduce((best, run) => (run.last_event > best.last_event ? run : best));
  if (key === "state") return stateMarks(app, runs, now);
  if (key === "updated" || key === "kinds") return column.cell(newest, { now });
  if (key === "size") return app.format.bytes(runs.reduce((sum, run) => sum + run.size, 0));
  if (key.startsWith("hyper:") || key.startsWith("spark:")) return column.cell(runs[0], { now });
  if (key === "damage" || key === "created" || key === "duration") return "";
  const all = runs.map((run) => column.value?.(run)).filter((value) => typeof value === "number");
  const values = all.filter(Number.isFinite);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const range = low === high ? [low] : [low, high];
  const shown = range.map((value) => app.format.number(value, range.length > 1 ? 3 : undefined));
  const numbers = [...new Set(shown)]; // "1 … 1" would say nothing
  const lost = [...new Set(all.filter((value) => !Number.isFinite(value)).map(String))];
  return [...(values.length ? [numbers.join(" … ")] : []), ...lost].join(", ");
}

/**
 * Return how many jobs the runs belong to, and how many of the runs are running.
 * @param {Run[]} runs
 * @param {number} now
 */
export function counts(runs, now) {
  const jobs = new Set(runs.map((run) => run.job)).size;
  return { jobs, running: runs.filter((run) => stateOf(run, now) === "running").length };
}
