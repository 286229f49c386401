// Row of the table of runs: views/runs/cells.js with lit-html.

import { html, nothing } from "/lit-html/lit-html.js";
import { ifDefined } from "/lit-html/directives/if-defined.js";
import { annotateDialog, keep } from "/js/views/runs/annotate.js";
import { stateOf } from "/js/views/runs/values.js";
import { iconTemplate, lineTemplate } from "./shared.js";

export const runRow = (app, { run, under }, columns, now) =>
  html`<tr data-key=${run.id} class=${ifDefined(run.pinned ? "pinned" : undefined)}>
    ${nameCell(app, run, under)} ${columns.map((column) => cell(column, column.cell(run, { now })))}
    ${actionsCell(app, run)}
  </tr>`;

export const jobRow = (app, row, columns, now, { open, toggle }) =>
  html`<tr data-key=${row.job} class="job">
    ${jobCell(app, row, open, toggle)}
    ${columns.map((column) => cell(column, jobFact(app, row.runs, column.key, column, now)))}
    <td></td>
  </tr>`;

const cell = (column, content) =>
  html`<td class=${ifDefined(column.number ? "number" : undefined)}>${content}</td>`;

function nameCell(app, run, under) {
  const on = app.selection.has(run.id);
  const text = under && run.rank !== null ? app.t("runs.rank", { rank: run.rank }) : run.name;
  return html`<td class=${under ? "name under" : "name"}>
    <div class="row">
      <input
        type="checkbox"
        .checked=${on}
        ?disabled=${run.hidden}
        aria-label=${app.t("runs.show", { run: run.name })}
        @change=${(event) => app.selection.toggle(run.id, event.target.checked)}
      />
      ${lineTemplate(app, run.id, on)}
      <a class="ellipsis" href=${app.url.link("overview", { run: run.id })} title=${run.id}>${text}</a>
      ${badges(app, run)}
    </div>
  </td>`;
}

const badges = (app, run) => [
  run.pinned ? html`<span class="badge accent">${app.t("runs.baseline")}</span>` : nothing,
  run.hidden ? html`<span class="badge">${app.t("runs.hidden")}</span>` : nothing,
  run.damage
    ? html`<a
        class="badge warn"
        href=${app.url.link("overview", { run: run.id })}
        title=${app.t("damage.run", { n: run.damage })}
        >${app.t("damage.short", { n: run.damage })}</a
      >`
    : nothing,
  run.labels.map((label) => html`<span class="badge label">${label}</span>`),
];

const action = (name, label, pressed, onclick) =>
  html`<button
    type="button"
    class="icon quiet"
    aria-label=${label}
    title=${label}
    aria-pressed=${ifDefined(pressed)}
    @click=${onclick}
  >
    ${iconTemplate(name)}
  </button>`;

const actionsCell = (app, run) =>
  html`<td class="actions">
    <div class="row">
      ${action("pin", app.t(run.pinned ? "runs.unpin" : "runs.pin"), run.pinned, () =>
        keep(app, run.id, { pinned: !run.pinned }),
      )}
      ${action("note", app.t("runs.annotate"), Boolean(run.note), () => annotateDialog(app, run))}
      ${action(run.hidden ? "eye" : "hide", app.t(run.hidden ? "runs.unhide" : "runs.hide"), undefined, () =>
        keep(app, run.id, { hidden: !run.hidden }),
      )}
    </div>
  </td>`;

function jobCell(app, row, open, onfold) {
  const ids = row.runs.map((run) => run.id);
  const on = ids.filter((id) => app.selection.has(id)).length;
  const name = row.job.slice(2) || ".";
  const label = app.t("runs.fold", { job: name });
  const hurt = row.runs.reduce((sum, run) => sum + run.damage, 0);
  return html`<td class="name">
    <div class="row">
      <input
        type="checkbox"
        .checked=${on === ids.length}
        .indeterminate=${on > 0 && on < ids.length}
        aria-label=${app.t("runs.show", { run: name })}
        @change=${(event) => app.selection.toggleMany(ids, event.target.checked)}
      />
      <button
        type="button"
        class="icon quiet fold"
        aria-label=${label}
        title=${label}
        aria-expanded=${open}
        @click=${onfold}
      >
        ${iconTemplate(open ? "down" : "right")}
      </button>
      <strong class="ellipsis" title=${row.job}>${name}</strong>
      <span class="badge">${app.t("runs.ranks", { n: ids.length })}</span>
      ${hurt ? html`<span class="badge warn">${app.t("damage.short", { n: hurt })}</span>` : nothing}
    </div>
  </td>`;
}

function jobFact(app, runs, key, column, now) {
  const newest = runs.reduce((best, run) => (run.last_event > best.last_event ? run : best));
  if (key === "state" || key === "updated" || key === "kinds") return column.cell(newest, { now });
  if (key === "size") return app.format.bytes(runs.reduce((sum, run) => sum + run.size, 0));
  if (key.startsWith("hyper:") || key.startsWith("spark:")) return column.cell(runs[0], { now });
  const values = runs
    .map((run) => column.value?.(run))
    .filter((value) => typeof value === "number" && Number.isFinite(value));
  if (!values.length || key === "damage" || key === "created" || key === "duration") return "";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high
    ? app.format.number(low)
    : `${app.format.number(low, 3)} … ${app.format.number(high, 3)}`;
}

export function counts(runs, now) {
  const jobs = new Set(runs.map((run) => run.job)).size;
  return { jobs, running: runs.filter((run) => stateOf(run, now) === "running").length };
}
