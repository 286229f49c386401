// Watchpoints of one's own: the form is built from what the server says each condition takes.

import { button, iconButton } from "../../components/button.js";
import { select } from "../../components/field.js";
import { h, replace } from "../../core/dom.js";

/** @typedef {import("../dump.js").Page} Page */
/** @typedef {{condition: string, limits: Record<string, number | null>, operators: string[]}} Watch */

/** @param {Page} page @param {(watchpoints: Watch[]) => void} start */
export async function watchForm(page, start) {
  const { app } = page;
  const { t } = app;
  const { conditions } = await app.api.get("v2/dump/conditions");
  /** @type {Watch[]} */
  const chosen = [];
  const list = h("div", { class: "stack" });
  const go = button(t("dump.check.start"), () => start(chosen), { disabled: true });

  /** @param {Watch} watch */
  const of = (watch) => conditions.find((/** @type {any} */ one) => one.id === watch.condition);

  /** A condition that checks limits needs one of them, and what that one needs. @param {Watch} watch */
  const complete = (watch) => {
    const has = (/** @type {string} */ name) => (watch.limits[name] ?? null) !== null;
    const checking = of(watch).parameters.filter((/** @type {any} */ one) => one.checks);
    const given = checking.filter((/** @type {any} */ one) => has(one.name));
    return (
      (given.length || !checking.length) && given.every((/** @type {any} */ one) => one.requires.every(has))
    );
  };

  const ready = () => {
    go.disabled = !chosen.length || !chosen.every(complete);
  };

  const draw = () => {
    ready();
    replace(
      list,
      chosen.map((watch, at) => line(watch, at)),
    );
  };

  /** @param {Watch} watch @param {number} at */
  const line = (watch, at) => {
    const operators = h("input", {
      type: "text",
      value: watch.operators.join(", "),
      placeholder: t("dump.check.operators"),
      "aria-label": t("dump.check.operators"),
      onchange: () =>
        (watch.operators = operators.value
          .split(",")
          .map((/** @type {string} */ name) => name.trim())
          .filter(Boolean)),
    });
    const remove = iconButton("close", t("dump.check.remove"), () => {
      chosen.splice(at, 1);
      draw();
    });
    return h(
      "div",
      { class: "row wrap dump-watch" },
      h("strong", null, t(`dump.condition.${watch.condition}`)),
      of(watch).parameters.map((/** @type {any} */ one) => limit(watch, one)),
      operators,
      remove,
    );
  };

  /** @param {Watch} watch @param {any} parameter */
  const limit = (watch, parameter) => {
    const box = h("input", {
      type: "number",
      step: "any",
      value: watch.limits[parameter.name] ?? "",
      title: parameter.name,
      oninput: () => set(watch, parameter.name, box.value),
    });
    return h("label", { class: "field inline" }, h("span", { class: "label mono" }, parameter.name), box);
  };

  /** @param {Watch} watch @param {string} name @param {string} text */
  const set = (watch, name, text) => {
    watch.limits[name] = text === "" ? null : Number(text);
    ready();
  };

  const options = [
    { value: "", label: t("dump.check.add") },
    ...conditions.map((/** @type {any} */ one) => ({ value: one.id, label: t(`dump.condition.${one.id}`) })),
  ];
  const add = select({
    label: t("dump.check.own"),
    options,
    value: "",
    onchange: (id) => {
      const condition = conditions.find((/** @type {any} */ one) => one.id === id);
      if (condition) {
        chosen.push({
          condition: id,
          limits: Object.fromEntries(
            condition.parameters.map((/** @type {any} */ one) => [one.name, one.default]),
          ),
          operators: [],
        });
      }
      add.box.value = "";
      draw();
    },
  });
  return h("div", { class: "stack" }, h("div", { class: "row" }, add, go), list);
}
