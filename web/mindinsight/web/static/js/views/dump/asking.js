// Questions of which only the last one counts, and errors in words.

import { icon } from "../../components/icons.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").App} App */

/** Asks, and forgets answers that come after something else was asked or after the part was left. */
export function lastAsked() {
  let turn = 0;
  let timer = 0;
  return {
    /**
     * @template T
     * @param {() => Promise<T>} question
     * @param {(answer: T) => void} take
     * @param {(error: any) => void} fail
     */
    async ask(question, take, fail) {
      clearTimeout(timer);
      const mine = ++turn;
      try {
        const answer = await question();
        if (mine === turn) take(answer);
      } catch (error) {
        if (mine === turn) fail(error);
      }
    },
    /**
     * Ask again in a while, unless something else is asked before.
     * @param {() => void} again
     * @param {number} delay
     */
    later(again, delay) {
      clearTimeout(timer);
      timer = window.setTimeout(again, delay);
    },
    end() {
      turn++;
      clearTimeout(timer);
    },
  };
}

/** What went wrong, in words. @param {App} app @param {any} error @returns {string} */
export function inWords({ t }, error) {
  if (error.code === "unreadable") {
    return t("error.unreadable", { why: t(error.key), detail: error.vars.detail ?? "" });
  }
  return t(error.key ?? "error.view", error.vars);
}

/** @param {App} app @param {any} error */
export function failure(app, error) {
  return h("div", { class: "banner bad", role: "alert" }, icon("warning"), inWords(app, error));
}
