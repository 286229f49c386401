// List of the reports in a workspace, with a form for a new one.

import { empty } from "../../components/empty.js";
import { PATH } from "../../core/pins.js";
import { needsServer } from "../../core/copy.js";
import { h, renew, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {{id: string, title: string, changed: number, blocks: number}} Entry */

/** List of the reports in a workspace, with a form for a new one. */
export class ReportList {
  /** @param {HTMLElement} root @param {App} app */
  constructor(root, app) {
    this.app = app;
    this.body = h("div", { class: "reports-list" });
    this.fault = h("p", { class: "fault small", role: "alert" });
    const { t } = app;
    const name = h("input", {
      type: "text",
      required: true,
      pattern: ".*\\S.*",
      maxlength: 200,
      "aria-label": t("reports.new_name"),
      placeholder: t("reports.new_name"),
    });
    const onsubmit = (/** @type {Event} */ event) => (event.preventDefault(), this.begin(name.value));
    const form = h(
      "form",
      { class: "row", onsubmit },
      name,
      h("button", { type: "submit", class: "primary", ...needsServer(app) }, t("reports.new")),
    );
    replace(
      root,
      h("div", { class: "toolbar" }, h("h1", { class: "grow" }, t("nav.reports")), form),
      this.fault,
      this.body,
    );
    this.requests = latest(this.body);
  }

  /** Request and show the list. */
  start() {
    return this.requests.ask(
      (signal) => this.app.api.get(PATH, {}, { signal }),
      ({ reports }) => this.draw(reports),
    );
  }

  /** Create a report and open it. @param {string} title */
  async begin(title) {
    const { app } = this;
    try {
      const { id } = await app.api.send("POST", PATH, { title });
      app.router.go(app.url.link("reports", { report: id }));
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      replace(this.fault, app.t(error.key ?? "error.http", error.vars));
    }
  }

  /** Draw the list. @param {Entry[]} reports */
  draw(reports) {
    const { app } = this;
    const { t, format } = app;
    if (!reports.length) {
      replace(this.body, empty({ icon: "report", title: t("reports.none"), text: t("reports.none_how") }));
      return;
    }
    const rows = [...reports]
      .sort((a, b) => b.changed - a.changed)
      .map(({ id, title, changed, blocks }) =>
        h(
          "li",
          null,
          h(
            "a",
            { class: "card row", href: app.url.link("reports", { report: id }) },
            h("span", { class: "grow ellipsis", title }, title),
            h("span", { class: "muted small" }, t("reports.blocks", { n: blocks })),
            h("time", { class: "muted small" }, format.time(changed)),
          ),
        ),
      );
    renew(this.body, h("ul", { "aria-label": t("nav.reports") }, rows));
  }

  /** Refresh the list. */
  update() {
    this.requests.ask(
      (signal) => this.app.api.get(PATH, {}, { signal }),
      ({ reports }) => this.draw(reports),
      leaveAsIs,
    );
  }

  /** Drop requests in flight. */
  end() {
    this.requests.end();
  }
}
