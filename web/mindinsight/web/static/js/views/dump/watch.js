// Form for the user's watchpoints, built from the server's description of each condition.

import { button, iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";
import { conditionName } from "./reasons.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {{condition: string, limits: Record<string, number | null>, operators: string[]}} Watch */
/**
 * @typedef {Object} Parameter
 * @property {string} name
 * @property {number | null} default
 * @property {boolean} checks whether it is a limit that values are checked against
 * @property {string[]} requires names of the parameters that it needs
 */
/** @typedef {{id: string, parameters: Parameter[]}} Condition */

/**
 * Request the conditions and return the form of watchpoints, which calls `start` with those chosen.
 * @param {Page} page
 * @param {(watchpoints: Watch[]) => void} start
 */
export async function watchForm(page, start) {
  const { conditions } = await page.app.api.get("v2/dump/conditions");
  return new WatchForm(page.app, conditions, start).element;
}

/** List of watchpoints with their limits. */
class WatchForm {
  /**
   * @param {import("../../core/types.js").App} app
   * @param {Condition[]} conditions
   * @param {(watchpoints: Watch[]) => void} start
   */
  constructor(app, conditions, start) {
    this.t = app.t;
    this.conditions = new Map(conditions.map((condition) => [condition.id, condition]));
    /** @type {Watch[]} */
    this.watches = [];
    this.list = h("div", { class: "stack" });
    this.why = h("span", { class: "muted small", id: "dump-check-why", role: "status" });
    this.submit = button(this.t("dump.check.start"), () => start(this.watches), {
      "aria-describedby": this.why.id,
    });
    this.enable();
    const row = h("div", { class: "row wrap" }, this.conditionSelect(), this.submit, this.why);
    this.element = h("div", { class: "stack" }, row, this.list);
  }

  /** Create the select that adds a watchpoint. */
  conditionSelect() {
    const { t } = this;
    const ids = [...this.conditions.keys()];
    const box = select({
      label: t("dump.check.own"),
      options: [
        { value: "", label: t("dump.check.add") },
        ...ids.map((id) => ({ value: id, label: conditionName(t, id) })),
      ],
      value: "",
      onchange: (id) => {
        if (id) this.add(id);
        box.box.value = "";
      },
    });
    return box;
  }

  /** Add a watchpoint with default limits. @param {string} condition id */
  add(condition) {
    const limits = this.parameters(condition).map((parameter) => [parameter.name, parameter.default]);
    this.watches.push({ condition, limits: Object.fromEntries(limits), operators: [] });
    this.draw();
  }

  /** Return the parameters of a condition. @param {string} condition id */
  parameters(condition) {
    return this.conditions.get(condition)?.parameters ?? [];
  }

  /** Draw the watchpoints. */
  draw() {
    this.enable();
    replace(
      this.list,
      this.watches.map((watch) => this.line(watch)),
    );
  }

  /** Enable the start button if all watchpoints are complete; otherwise show what is missing. */
  enable() {
    const { t } = this;
    const incomplete = this.watches.find((watch) => !this.complete(watch));
    this.submit.disabled = !this.watches.length || Boolean(incomplete);
    this.why.textContent = incomplete
      ? t("dump.check.incomplete", { condition: conditionName(t, incomplete.condition) })
      : this.watches.length
        ? ""
        : t("dump.check.empty");
  }

  /**
   * Return whether a watchpoint has the limits it needs. A condition with limits needs at least one.
   * @param {Watch} watch
   */
  complete({ condition, limits }) {
    const has = (/** @type {string} */ name) => (limits[name] ?? null) !== null;
    const checking = this.parameters(condition).filter((parameter) => parameter.checks);
    const parameters = checking.filter((parameter) => has(parameter.name));
    return (
      (parameters.length || !checking.length) &&
      parameters.every((parameter) => parameter.requires.every(has))
    );
  }

  /** Create the controls of a watchpoint. @param {Watch} watch */
  line(watch) {
    const { t } = this;
    /** @type {HTMLInputElement} */
    const operators = h("input", {
      type: "text",
      value: watch.operators.join(", "),
      placeholder: t("dump.check.operators"),
      "aria-label": t("dump.check.operators"),
      onchange: () => (watch.operators = namesIn(operators.value)),
    });
    const remove = iconButton("close", t("dump.check.remove"), () => {
      this.watches.splice(this.watches.indexOf(watch), 1);
      this.draw();
    });
    return h(
      "div",
      { class: "row wrap dump-watch" },
      h("strong", null, conditionName(t, watch.condition)),
      this.parameters(watch.condition).map(({ name }) => this.limit(watch, name)),
      operators,
      remove,
    );
  }

  /** Create the input of a limit. @param {Watch} watch @param {string} name of a parameter */
  limit(watch, name) {
    const box = h("input", {
      type: "number",
      step: "any",
      value: watch.limits[name] ?? "",
      title: this.t(`dump.limit.${name}`),
      oninput: () => {
        watch.limits[name] = box.value === "" ? null : Number(box.value);
        this.enable();
      },
    });
    return h("label", { class: "field inline" }, h("span", { class: "label mono" }, name), box);
  }
}

/** Split names separated by commas. @param {string} text names with commas between */
function namesIn(text) {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
