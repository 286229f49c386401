// Editor of alert rules: a list with switches, and a form that adds or changes a rule.

import { iconButton, button } from "../../components/button.js";
import { levelBadge } from "../../components/alerts.js";
import { check, select } from "../../components/field.js";
import { claimElement } from "../../core/claims.js";
import { needsServer } from "../../core/copy.js";
import { h, replace, throttle } from "../../core/dom.js";
import { keepFocus } from "../../core/focus.js";
import { latest, leaveAsIs } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Rule
 * @property {string} id
 * @property {boolean} built_in
 * @property {"not_finite" | "above" | "below" | "silent" | "strays" | "failed"} condition
 * @property {string} tags
 * @property {number} limit
 * @property {"info" | "warning" | "error"} level
 * @property {boolean} on
 * @property {number} since Unix seconds, 0 for all points
 */
/** @typedef {Omit<Rule, "id" | "built_in" | "since"> & {recorded: boolean}} RuleFields */

const PATH = "v2/alert/rules";
const LONGEST = 200; // characters of a pattern
const CONDITIONS = ["above", "below", "not_finite", "strays", "silent", "failed"];
const LEVELS = ["error", "warning", "info"];
/** @type {RuleFields} */
const FIRST = { condition: "above", tags: "*", limit: 0, level: "warning", on: true, recorded: false };
const MINUTES = 10;
const PREVIEW_GAP = 500; // ms between two previews while somebody types

/**
 * Create the editor of alert rules. It is unfolded if `open`.
 * @param {App} app
 * @param {{open: boolean, ontoggle: (open: boolean) => void}} options
 */
export function ruleEditor(app, { open, ontoggle }) {
  return new Rules(app, open, ontoggle);
}

/** Editor of alert rules. */
class Rules {
  /** @param {App} app @param {boolean} open @param {(open: boolean) => void} ontoggle */
  constructor(app, open, ontoggle) {
    const { t } = app;
    this.app = app;
    this.list = h("ul", { class: "rules", "aria-label": t("alert.rules") });
    this.fault = h("p", { class: "fault small", role: "alert" });
    this.count = h("span", { class: "badge" });
    /** Which rule is being changed, "" for a new one, null for none. @type {string | null} */
    this.editing = null;
    this.add = button(t("alert.rules.add"), () => this.edit(""), needsServer(app));
    this.adding = h("div", null, this.add);
    /** @type {HTMLDetailsElement} */
    this.element = h(
      "details",
      {
        class: "group alert-rules",
        open,
        ontoggle: () => this.element.isConnected && ontoggle(this.element.open),
      },
      h("summary", null, t("alert.rules"), this.count),
      h("p", { class: "muted small" }, t("alert.rules.why")),
      this.fault,
      this.list,
      this.adding,
    );
    this.requests = latest(this.element);
    /** Whether a change is on its way. */
    this.sending = false;
    /** Whether others changed something meanwhile. */
    this.missed = false;
    /** @type {Rule[]} */
    this.rules = [];
  }

  /** Expand or collapse the editor. @param {boolean} open */
  open(open) {
    this.element.open = open;
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }

  /** Request the rules. While a change is in flight this waits for its answer. */
  read() {
    this.missed = this.sending;
    return this.sending
      ? undefined
      : this.requests.ask(
          (signal) => this.app.api.get(PATH, {}, { signal }),
          (answer) => this.take(answer),
          leaveAsIs,
        );
  }

  /**
   * Send a change. Return whether it was accepted; otherwise show the error.
   * @param {() => Promise<{rules: Rule[]}>} question
   */
  async ask(question) {
    replace(this.fault);
    this.requests.end();
    this.sending = true;
    try {
      this.take(await question());
      return true;
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      replace(this.fault, this.app.t(error.key ?? "error.http", { status: error.status, ...error.vars }));
      return false;
    } finally {
      this.sending = false;
      if (this.missed) this.read();
    }
  }

  /** Store the rules and redraw if they differ. @param {{rules: Rule[]}} answer */
  take({ rules }) {
    const unchanged = JSON.stringify(rules) === JSON.stringify(this.rules);
    this.rules = rules;
    if (!unchanged) this.draw(); // who is at a rule stays there
  }

  /** Draw the list, unless a rule is being edited. */
  draw() {
    this.count.textContent = String(this.rules.filter((rule) => rule.on).length);
    if (this.editing) return; // somebody is writing in a row
    const rows = this.rules.map((rule) => this.row(rule));
    keepFocus(this.list, () => replace(this.list, rows));
  }

  /** Create the row of a rule. @param {Rule} rule */
  row(rule) {
    const { app } = this;
    const { t } = app;
    const words = ruleInWords(app, rule);
    /** @type {HTMLInputElement} */
    const box = h("input", {
      type: "checkbox",
      checked: rule.on,
      "data-focus": "on",
      onchange: () => this.send(rule, { on: box.checked }),
    });
    const change = iconButton("edit", t("alert.rules.change", { rule: words }), () => this.edit(rule.id));
    /** Delete a rule. */
    const remove = rule.built_in
      ? null
      : iconButton("close", t("alert.rules.remove", { rule: words }), () => this.remove(rule));
    return h(
      "li",
      { class: "row", "data-key": rule.id },
      h("label", { class: "check grow" }, box, h("span", null, words)),
      levelBadge(app, rule.level),
      change,
      remove,
    );
  }

  /** Send changed fields of a rule. @param {Rule} rule @param {Partial<RuleFields>} changes */
  async send(rule, changes) {
    const fields = { ...fieldsOf(rule), ...changes };
    const accepted = await this.ask(() =>
      this.app.api.send("PUT", this.app.api.build(PATH, { id: rule.id }), fields),
    );
    if (!accepted) this.draw(); // the box shows what is kept
  }

  /** @param {Rule} rule */
  async remove(rule) {
    if (await this.ask(() => this.app.api.send("DELETE", this.app.api.build(PATH, { id: rule.id })))) {
      this.add.focus();
    }
  }

  /** Show the form for a rule, or for a new one if `id` is "". @param {string} id */
  edit(id) {
    this.close();
    this.editing = id;
    const rule = this.rules.find((other) => other.id === id);
    const form = ruleForm(this.app, rule ? fieldsOf(rule) : FIRST, {
      fixed: rule?.built_in === true,
      onsave: (fields) => this.save(id, fields),
      oncancel: () => this.close(id),
    });
    const row = this.list.querySelector(`[data-key="${CSS.escape(id)}"]`);
    if (row) replace(row, form);
    else replace(this.adding, form);
    /** @type {HTMLElement | null} */ (form.querySelector("select, input"))?.focus();
  }

  /** Close the form and return the focus to the button that opened it. @param {string | null} [opener] */
  close(opener = null) {
    this.editing = null;
    replace(this.adding, this.add);
    this.draw();
    if (opener === "") this.add.focus();
    else if (opener) this.focus(opener, "button");
  }

  /** Focus a control in the row of a rule. @param {string} id @param {string} selector */
  focus(id, selector) {
    /** @type {HTMLElement | null} */ (
      this.list.querySelector(`[data-key="${CSS.escape(id)}"] ${selector}`)
    )?.focus();
  }

  /** Save the form. @param {string} id @param {RuleFields} fields */
  async save(id, fields) {
    const { api } = this.app;
    const question = id
      ? () => api.send("PUT", api.build(PATH, { id }), fields)
      : () => api.send("POST", PATH, fields);
    if (await this.ask(question)) this.close(id);
  }
}

/** Return what a person can change of a rule. @param {Rule} rule @returns {RuleFields} */
function fieldsOf({ condition, tags, limit, level, on, since }) {
  return { condition, tags, limit, level, on, recorded: since === 0 };
}

/** Return a rule as text. @param {App} app @param {Rule} rule */
function ruleInWords(app, rule) {
  const { t, format } = app;
  return t(`alert.rule.${rule.condition}`, {
    tags: rule.tags === "*" ? t("alert.any_scalar") : rule.tags,
    limit: format.number(rule.limit),
    n: rule.limit,
  });
}

/**
 * Create the form of a rule.
 * @param {App} app
 * @param {RuleFields} before
 * @param {{fixed: boolean, onsave: (fields: RuleFields) => void, oncancel: () => void}} options `fixed`: the
 *   condition stays
 */
function ruleForm(app, before, { fixed, onsave, oncancel }) {
  const { t } = app;
  const fields = { ...before };
  const tags = h("input", {
    type: "text",
    value: fields.tags,
    maxlength: LONGEST,
    required: true,
    spellcheck: "false",
  });
  const limit = h("input", { type: "number", step: "any", required: true, value: String(fields.limit) });
  const tagsField = field(t("alert.form.tags"), tags);
  const name = h("span", { class: "label" });
  const limitField = h("label", { class: "field inline" }, name, limit);
  const fit = () => {
    const silent = fields.condition === "silent";
    tagsField.hidden = tags.disabled = silent || fields.condition === "failed";
    limitField.hidden = limit.disabled = ["not_finite", "strays", "failed"].includes(fields.condition);
    name.textContent = t(silent ? "alert.form.minutes" : "alert.form.limit");
    if (silent) limit.min = "1";
    else limit.removeAttribute("min");
    if (silent && !(Number(limit.value) > 0)) limit.value = String(MINUTES);
  };
  const condition = select({
    label: t("alert.form.condition"),
    options: CONDITIONS.map((value) => ({ value, label: t(`alert.form.${value}`) })),
    value: fields.condition,
    onchange: (value) => ((fields.condition = /** @type {typeof fields.condition} */ (value)), fit()),
  });
  condition.box.disabled = fixed;
  fit();
  const current = () => ({ ...fields, tags: tags.value.trim() || "*", limit: Number(limit.value) });
  const preview = h("div", { class: "small rule-preview", role: "status" });
  const ask = previewer(app, preview, current);
  const form = h(
    "form",
    {
      class: "row wrap rule-form",
      oninput: ask,
      onchange: ask,
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), onsave(current())),
    },
    condition,
    tagsField,
    limitField,
    levelAndPoints(app, fields),
    h("button", { type: "submit", class: "primary" }, t("common.save")),
    button(t("common.cancel"), oncancel),
    preview,
  );
  ask();
  return form;
}

/** Create the controls of a rule's level and points. @param {App} app @param {RuleFields} fields */
function levelAndPoints({ t }, fields) {
  const level = select({
    label: t("alert.form.level"),
    options: LEVELS.map((value) => ({ value, label: t(`alert.level.${value}`) })),
    value: fields.level,
    onchange: (value) => (fields.level = /** @type {typeof fields.level} */ (value)),
  });
  const recorded = check({
    label: t("alert.form.recorded"),
    checked: fields.recorded,
    onchange: (on) => (fields.recorded = on),
  });
  return [level, recorded];
}

/**
 * Return a function that shows in how many runs a rule fires on what is recorded now.
 * @param {App} app
 * @param {HTMLElement} box
 * @param {() => RuleFields} current
 */
function previewer(app, box, current) {
  const requests = latest(box);
  return throttle(
    () =>
      requests.ask(
        (signal) => app.api.get(`${PATH}/preview`, current(), { signal }),
        ({ claim }) => replace(box, claimElement(app, claim)),
        (error) => replace(box, error.key ? h("p", { class: "fault" }, app.t(error.key, error.vars)) : null),
      ),
    PREVIEW_GAP,
  );
}

/** Create a labelled input. @param {string} label @param {HTMLElement} box */
function field(label, box) {
  return h("label", { class: "field inline" }, h("span", { class: "label" }, label), box);
}
