// One report: its title, its blocks, and changes by other people.

import { button, iconButton } from "../../components/button.js";
import { dialog } from "../../components/dialog.js";
import { empty } from "../../components/empty.js";
import { toast } from "../../components/toast.js";
import { h, replace } from "../../core/dom.js";
import { latest, leaveAsIs } from "../../core/latest.js";
import { PATH } from "../../core/pins.js";
import { copyLink, savePage } from "../../components/share.js";
import { BlockView } from "./block.js";

/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/** @typedef {import("./block.js").Block} Block */
/** @typedef {{id: string, title: string, changed: number, blocks: Block[]}} Report */

const AGAIN_MS = 5000; // until it is asked whether somebody else changed something

/** Page of one report. */
export class ReportPage {
  /** @param {HTMLElement} root @param {App} app @param {string} id */
  constructor(root, app, id) {
    this.root = root;
    this.app = app;
    this.path = `${PATH}/${id}`;
    /** @type {Report | null} */
    this.report = null;
    /** @type {Map<string, BlockView>} */
    this.views = new Map();
    this.head = h("div", { class: "toolbar" });
    this.body = h("div", { class: "report-blocks legend" });
    this.foot = h("div", { class: "toolbar report-foot" });
    this.requests = latest(root);
    this.timer = window.setInterval(() => document.hidden || app.live.paused() || this.follow(), AGAIN_MS);
  }

  /** Request and show the report. */
  async start() {
    replace(this.root, this.head, this.body, this.foot);
    await this.requests.ask(
      (signal) => this.app.api.get(this.path, {}, { signal }),
      (report) => this.take(report),
      (error) => this.lost(error),
    );
  }

  /** Show that the report does not exist. Other errors are thrown. @param {Failure} error */
  lost(error) {
    const { t, url } = this.app;
    if (error.status !== 404) throw error;
    const action = h("a", { class: "button", href: url.at("reports", "") }, t("reports.all"));
    replace(this.root, empty({ icon: "report", title: t("reports.gone"), action }));
  }

  /** Request the report again, because somebody else may have changed it. */
  follow() {
    if (!this.report) return undefined;
    return this.requests.ask(
      (signal) => this.app.api.get(this.path, {}, { signal }),
      (report) => this.take(report),
      leaveAsIs,
    );
  }

  /** Pass a change of data on to all blocks. @param {import("../../core/types.js").Change} change */
  update(change) {
    this.views.forEach((view) => view.update(change));
  }

  /**
   * Send a change and show the resulting report. Return the error, or null.
   * @param {"PATCH" | "PUT" | "DELETE"} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<Failure | null>} the error where there was one
   */
  async change(method, path, body) {
    this.requests.end();
    try {
      this.take(await this.app.api.send(method, this.path + path, body));
      return null;
    } catch (thrown) {
      const error = /** @type {Failure} */ (thrown);
      if (error.code !== "block_changed") {
        toast(this.app.t(error.key ?? "error.http", error.vars), { bad: true });
      }
      return error;
    }
  }

  /** Show the newest version of the report. @param {Report} report */
  take(report) {
    const renamed = report.title !== this.report?.title;
    const grown = this.report === null || report.blocks.length !== this.report.blocks.length;
    this.report = report;
    if (renamed) this.drawHead();
    document.title = `${report.title} · MindInsight`;
    const known = new Set(report.blocks.map((block) => block.id));
    for (const [id, view] of this.views) {
      if (!known.has(id)) this.drop(id, view);
    }
    report.blocks.forEach((block, i) => {
      const view = this.views.get(block.id) ?? new BlockView(this, block);
      this.views.set(block.id, view);
      const before = this.body.children[i];
      if (before !== view.element) this.body.insertBefore(view.element, before ?? null);
      view.take(block);
    });
    if (grown) this.drawFoot(report.blocks.length);
  }

  /** Remove a block from the page. @param {string} id @param {BlockView} view */
  drop(id, view) {
    this.views.delete(id);
    view.end();
    view.element.remove();
  }

  /** Draw title and tools. */
  drawHead() {
    const { app, report } = this;
    const { t, url } = app;
    const title = report?.title ?? "";
    replace(
      this.head,
      h("a", { class: "small", href: url.at("reports", "") }, t("reports.all")),
      h("h1", { class: "grow ellipsis", title }, title),
      h(
        "span",
        { class: "row" },
        iconButton("edit", t("reports.rename"), () => this.rename()),
        iconButton("link", t("share.copy"), () => copyLink(app)),
        button(t("reports.save"), () => this.save()),
        iconButton("close", t("reports.delete"), () => this.remove()),
      ),
    );
  }

  /** Draw the button for a new text. @param {number} blocks */
  drawFoot(blocks) {
    const { t } = this.app;
    replace(
      this.foot,
      button(t("reports.write"), () => this.write("end"), { class: blocks ? null : "primary" }),
      h("p", { class: "muted small" }, t(blocks ? "reports.pin_how" : "reports.empty")),
    );
  }

  /** Save the report as one HTML file. */
  save() {
    savePage(this.app, /** @type {Element} */ (document.getElementById("view")), this.report?.title ?? "");
  }

  /** Insert a text after a block and edit it. @param {string} after */
  async write(after) {
    this.requests.end();
    const answer = await this.app.api.send("POST", `${this.path}/blocks`, { after }).catch((error) => {
      toast(this.app.t(error.key ?? "error.http", error.vars), { bad: true });
      return null;
    });
    if (!answer) return;
    this.take(answer);
    this.views.get(answer.added)?.edit();
  }

  /** Ask for a new title. */
  rename() {
    const { t } = this.app;
    const name = h("input", {
      type: "text",
      value: this.report?.title,
      maxlength: 200,
      required: true,
      "aria-label": t("reports.new_name"),
    });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.change("PATCH", "", { title: name.value }).then((error) => error || box.close());
    };
    const form = h(
      "form",
      { class: "row", onsubmit },
      name,
      h("button", { type: "submit" }, t("common.save")),
    );
    const box = dialog({ title: t("reports.rename"), body: form, close: t("common.close") });
    name.select();
  }

  /** Delete the report after confirmation. */
  remove() {
    const { app } = this;
    const { t } = app;
    const gone = async () => {
      box.close();
      try {
        await app.api.send("DELETE", this.path);
        app.router.go(app.url.at("reports", ""));
      } catch (thrown) {
        const error = /** @type {Failure} */ (thrown);
        toast(t(error.key ?? "error.http", error.vars), { bad: true });
      }
    };
    const box = dialog({
      title: t("reports.delete"),
      body: h("p", null, t("reports.delete_sure", { title: this.report?.title ?? "" })),
      actions: [button(t("reports.delete"), gone, { class: "primary" })],
      close: t("common.close"),
    });
  }

  /** Leave the page. */
  end() {
    clearInterval(this.timer);
    this.requests.end();
    this.views.forEach((view) => view.end());
  }
}
