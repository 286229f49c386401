// Entry point of the pages: creates the application's services and starts the router.

import { unreachablePage } from "./components/unreachable.js";
import { Alerts } from "./core/alerts.js";
import * as api from "./core/api.js";
import { COPY, openCopy } from "./core/copy.js";
import { Charts } from "./core/charts.js";
import * as dom from "./core/dom.js";
import { replace } from "./core/dom.js";
import * as format from "./core/format.js";
import { chosenLanguage, createTranslate, loadTexts } from "./core/i18n.js";
import { Live } from "./core/live.js";
import { followPreferences } from "./core/preferences.js";
import { Router } from "./frame/router.js";
import { Selection } from "./core/selection.js";
import { Theme } from "./core/theme.js";
import { Url } from "./core/url.js";
import { copyLine } from "./frame/copy_line.js";
import { header } from "./frame/header.js";
import { unreachableLine } from "./frame/unreachable.js";
import { listen } from "./frame/shortcuts.js";
import { side } from "./frame/side.js";

/** @type {import("./core/types.js").Boot} */
const boot = JSON.parse(document.getElementById("boot")?.textContent ?? "{}");
const copy = COPY ? await openCopy() : null;
if (copy) document.documentElement.lang = boot.lang = chosenLanguage(boot.lang);
const url = new Url();
url.chooseNamed();
const theme = new Theme();
const live = new Live();
const selection = new Selection(url, live, theme);
const first = selection.begin().then(
  () => null,
  (error) => error,
);
const t = createTranslate(await loadTexts(boot), boot.lang);
const router = new Router(boot, url);

/** @type {import("./core/types.js").App} */
const app = {
  alerts: new Alerts(live),
  api,
  boot,
  charts: new Charts(boot, theme),
  dom,
  format,
  live,
  router,
  selection,
  t,
  theme,
  url,
};

const body = document.getElementById("body");
if (copy) live.start(); // the header says so
header(app, { ondrawer: () => body?.classList.toggle("drawer") });
side(app);
listen(app);
if (copy) copyLine(app, copy);
else live.start();
unreachableLine(app);
const failure = await first;
if (failure) {
  replace(/** @type {HTMLElement} */ (document.getElementById("view")), unreachablePage(app, failure));
  await new Promise((resolve) => selection.on(() => resolve(null)));
}
followPreferences(app);
selection.resume(url.remember(selection.list().base));
app.alerts.begin(selection.list().base);
await router.start(app);
