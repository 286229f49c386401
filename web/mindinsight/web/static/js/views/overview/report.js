// Button that creates a report of a run on the server and saves it as one HTML file.

import { button } from "../../components/button.js";
import { toast } from "../../components/toast.js";
import { needsServer } from "../../core/copy.js";
import { h } from "../../core/dom.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("../../core/types.js").Run} Run */

const PATH = "v2/report";
const POLL_MS = 300;

/**
 * Create the button that lets the server write a report of a run, and saves it as one HTML file.
 * @param {App} app
 * @param {Run} run
 */
export function reportButton(app, run) {
  const { t } = app;
  const label = h("span", null, t("report.button"));
  const element = button(
    label,
    async () => {
      element.disabled = true;
      try {
        await save(app, run, (text) => (label.textContent = text));
        toast(t("report.saved"));
      } catch (thrown) {
        const error = /** @type {Failure} */ (thrown);
        const why = error.key ? t(error.key, error.vars) : error.message;
        toast(t("report.failed", { why }), { bad: true });
      } finally {
        element.disabled = false;
        label.textContent = t("report.button");
      }
    },
    needsServer(app),
  );
  return element;
}

/**
 * Create and download the report. Throws if the server cannot create it.
 * @param {App} app
 * @param {Run} run
 * @param {(text: string) => void} tell how far it is
 */
async function save(app, run, tell) {
  const { api, t } = app;
  tell(t("report.saving"));
  const { report } = await api.send("POST", api.build(PATH, { run: run.id, language: app.boot.lang }));
  for (;;) {
    const state = await api.get(`${PATH}/${report}`);
    if (state.error) throw new Error(state.error);
    if (state.done) break;
    const { progress } = state;
    if (progress) tell(`${t(progress.key)}: ${progress.done}/${progress.total}`);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  const name = `report-${run.name.replace(/[^\p{L}\p{N}.-]+/gu, "_")}`;
  const href = api.build(`${PATH}/${report}/page`, { name });
  h("a", { href, download: `${name}.html` }).click();
}
