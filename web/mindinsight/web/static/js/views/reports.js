// Reports page: Markdown texts and pinned cards, written by people. It shows the list of reports or one
// report.

import { ReportList } from "./reports/list.js";
import { ReportPage } from "./reports/page.js";

export const alone = true;

/** Mount the page. @param {HTMLElement} root @param {import("../core/types.js").App} app */
export async function mount(root, app) {
  const make = () => {
    const id = app.url.get("report");
    return id ? new ReportPage(root, app, id) : new ReportList(root, app);
  };
  let part = make();
  await part.start();
  const off = app.url.on(() => {
    part.end();
    part = make();
    part.start();
  });
  return {
    update: (/** @type {import("../core/types.js").Change} */ change) => part.update(change),
    unmount() {
      off();
      part.end();
    },
  };
}
