// Banner about records that could not be read.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";
import { isTorn } from "./runs/values.js";

/** @typedef {import("../core/types.js").Run} Run */

const NAMED = 5; // runs

/**
 * Return a banner with the numbers of damaged sections and of unfinished records in the given runs and links
 * to them, or null if there are none.
 * @param {import("../core/types.js").App} app
 * @param {Run[]} runs
 * @param {number} now Unix seconds on the server
 */
export function damageBanner(app, runs, now) {
  const [hurt, torn] = [runs.filter((run) => run.damage), runs.filter((run) => isTorn(run, now))];
  const sections = hurt.reduce((sum, run) => sum + run.damage, 0);
  const lines = [
    hurt.length > 0 && h("div", null, app.t("damage.banner", { n: sections }), " ", links(app, hurt)),
    torn.length > 0 && h("div", null, app.t("damage.torn.banner", { n: torn.length }), " ", links(app, torn)),
  ].filter(Boolean);
  if (!lines.length) return null;
  return h("div", { class: "banner warn", role: "note" }, icon("warning"), h("div", null, lines));
}

/** Create links to the first of some runs. @param {import("../core/types.js").App} app @param {Run[]} runs */
function links(app, runs) {
  const named = runs
    .slice(0, NAMED)
    .map((run, i) => [i ? ", " : "", h("a", { href: app.url.link("overview", { run: run.id }) }, run.name)]);
  return [named, runs.length > NAMED ? ` +${runs.length - NAMED}` : ""];
}
