// Program of a run: command, Git, packages and environment, and what another run had instead.

import { changedLines } from "../../components/changed_lines.js";
import { longName } from "../../components/long_name.js";
import { searchSelect } from "../../components/search_select.js";
import { tableHead } from "../../components/table_head.js";
import { claimElement } from "../../core/claims.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";

const MOST_LINES = 5000; // of changes: more elements make a page slow

/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */
/**
 * @typedef {Object} Git
 * @property {string} commit
 * @property {string} branch
 * @property {string} remote
 * @property {string | null} diff
 * @property {boolean} cut
 * @property {number | null} untracked
 */
/**
 * @typedef {Object} Program
 * @property {string[]} command
 * @property {string} directory
 * @property {string} host
 * @property {string} system
 * @property {string} python
 * @property {Record<string, string>} packages
 * @property {Record<string, string>} environment
 * @property {Git | null} git
 */
/** @typedef {[string, string | null, string | null][]} Differing name, value of the run, of the other */
/**
 * @typedef {Object} Difference
 * @property {import("../../core/claims.js").Claim[]} claims
 * @property {Differing} packages
 * @property {Differing} environment
 * @property {Differing} facts
 * @property {[string, string][]} command
 * @property {[string, string][]} changes
 * @property {boolean} cut
 */

/**
 * Request and draw the program that trained a run. The panel is hidden if the run recorded none.
 * @param {App} app @param {HTMLElement} panel @param {Run} run
 */
export async function programPanel(app, panel, run) {
  panel.hidden = !run.kinds.code;
  if (panel.hidden) return undefined;
  return latest(panel).ask(
    (signal) => app.api.get("v2/code/program", { run: run.id }, { signal }),
    (/** @type {Program} */ program) => {
      const looks = JSON.stringify([run.id, program]);
      if (panel.dataset.looks === looks) return undefined; // what a person opened stays open
      panel.dataset.looks = looks;
      const difference = h("div", { class: "program-difference" });
      replace(
        panel,
        h(
          "div",
          { class: "row wrap" },
          h("h2", { class: "grow" }, app.t("code.title")),
          comparison(app, run, difference),
        ),
        difference,
        h("dl", { class: "facts" }, facts(app, program)),
        changes(app, program.git),
        values(app, "code.packages", program.packages),
        values(app, "code.environment", program.environment),
      );
      return compare(app, run, difference);
    },
  );
}

/** @param {App} app @param {Program} program */
function facts({ t }, { command, directory, host, system, python, git }) {
  const untracked = git?.untracked;
  const rows = [
    ["code.command", command.length ? h("code", null, command.map(quoted).join(" ")) : null],
    ["code.directory", directory && h("code", null, directory)],
    ["code.commit", git ? h("code", null, git.commit) : t("code.no_git")],
    ["code.branch", git?.branch],
    ["code.remote", git?.remote],
    ["code.changes", git && changesFact(t, git)],
    ["code.untracked", git && (untracked ?? t("code.changes_unknown"))],
    ["code.python", python],
    ["code.system", system],
    ["code.host", host],
  ];
  return rows.flatMap(([key, value]) =>
    value || value === 0 ? [h("dt", null, t(String(key))), h("dd", null, value)] : [],
  );
}

/** Say how many lines were changed. @param {import("../../core/types.js").Translate} t @param {Git} git */
function changesFact(t, { diff, cut }) {
  if (diff === null) return t("code.changes_unknown");
  if (!diff) return t("code.no_changes");
  const counts = { "+": 0, "-": 0 };
  for (const [sign] of signed(diff)) {
    if (sign === "+" || sign === "-") counts[sign] += 1;
  }
  return `${cut ? "≥ " : ""}+${counts["+"]} −${counts["-"]}`;
}

/**
 * Split the lines of Git's difference into sign and rest. Lines about files have a blank for a sign.
 * @param {string} diff
 */
function signed(diff) {
  let inside = false; // a part of changed lines, after the names of the file
  return diff.split("\n").map((line) => {
    if (line.startsWith("diff ")) inside = false;
    else if (line.startsWith("@@")) inside = true;
    /** @type {[string, string]} */
    const pair = inside ? [line.slice(0, 1), line.slice(1)] : [" ", line];
    return pair;
  });
}

/** Return an argument as a shell takes it. @param {string} argument */
function quoted(argument) {
  return /^[\w@%+=:,./*-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/**
 * Create the uncommitted changes, drawn when they are opened; null if there are none.
 * @param {App} app @param {Git | null} git
 */
function changes({ t, format }, git) {
  if (!git?.diff) return null;
  const { diff, cut } = git;
  const all = signed(diff);
  const stage = h("div");
  const draw = () =>
    replace(
      stage,
      changedLines(all.slice(0, MOST_LINES)),
      all.length > MOST_LINES
        ? h("p", { class: "small muted" }, t("code.changes_shown", { n: MOST_LINES, total: all.length }))
        : null,
      cut
        ? h("p", { class: "small muted" }, t("code.changes_cut", { size: format.bytes(diff.length) }))
        : null,
    );
  return h(
    "details",
    { ontoggle: () => stage.childElementCount || draw() },
    h("summary", null, t("code.changes")),
    stage,
  );
}

/**
 * Create a closed list of values by name, or null.
 * @param {App} app
 * @param {string} title
 * @param {Record<string, string>} given
 */
function values({ t }, title, given) {
  const entries = Object.entries(given);
  if (!entries.length) return null;
  const rows = entries.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]);
  return h(
    "details",
    null,
    h("summary", null, t(title, { n: entries.length })),
    h("dl", { class: "facts program-values" }, rows),
  );
}

/**
 * Create the choice of another run, or null if no other has a program.
 * @param {App} app
 * @param {Run} run
 * @param {HTMLElement} stage
 */
function comparison(app, run, stage) {
  const others = app.selection.all().filter((other) => other.kinds.code && other.id !== run.id);
  if (!others.length) return null;
  const options = others.map(({ id, name }) => ({ value: id, label: name }));
  return searchSelect({
    label: app.t("code.compare"),
    id: "programs",
    options: [{ value: "", label: app.t("code.compare_none") }, ...options],
    value: chosen(app, run),
    onchange: (value) => {
      app.url.set({ with: value });
      compare(app, run, stage);
    },
  });
}

/**
 * Return the other run: that of the address, otherwise the baseline; "" for none.
 * @param {App} app
 * @param {Run} run
 */
function chosen({ selection, url }, run) {
  const base = selection.baseline();
  const id = url.get("with") ?? (base?.kinds.code && base.id !== run.id ? base.id : "");
  return id !== run.id && selection.run(id)?.kinds.code ? id : "";
}

/**
 * Request and draw what differs from the chosen run.
 * @param {App} app
 * @param {Run} run
 * @param {HTMLElement} stage
 */
function compare(app, run, stage) {
  const other = app.selection.run(chosen(app, run));
  if (!other) {
    latest(stage).end();
    replace(stage);
    return undefined;
  }
  return latest(stage).ask(
    (signal) => app.api.get("v2/code/difference", { run: run.id, other_run: other.id }, { signal }),
    (/** @type {Difference} */ answer) => {
      const names = { run: run.name, other: other.name };
      replace(
        stage,
        answer.claims.map((claim) => claimElement(app, claim)),
        table(app, "code.differing_packages", answer.packages, names),
        table(app, "code.differing_facts", [...answer.facts, ...answer.environment], names),
        lines(
          app,
          "code.differing_command",
          answer.command.filter(([sign]) => sign !== "@"),
          names,
        ),
        lines(app, "code.differing_changes", answer.changes, names),
        answer.cut ? h("p", { class: "small muted" }, app.t("text.difference_cut")) : null,
      );
    },
  );
}

/**
 * @param {App} app
 * @param {string} title
 * @param {Differing} rows
 * @param {{run: string, other: string}} names
 */
function table({ t }, title, rows, names) {
  if (!rows.length) return null;
  const cell = (/** @type {string | null} */ value) => h("td", { class: "mono" }, value ?? t("code.missing"));
  const heads = [t("code.name"), longName(names.run), longName(names.other)];
  return [
    h("h3", null, t(title, { n: rows.length })),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": t(title, { n: rows.length }) },
      h(
        "table",
        { class: "table" },
        tableHead(heads),
        h(
          "tbody",
          null,
          rows.map(([name, own, others]) => h("tr", null, h("td", null, name), cell(own), cell(others))),
        ),
      ),
    ),
  ];
}

/**
 * @param {App} app
 * @param {string} title
 * @param {[string, string][]} changed
 * @param {{run: string, other: string}} names
 */
function lines({ t }, title, changed, names) {
  return changed.length ? [h("h3", null, t(title, names)), changedLines(changed)] : null;
}
