// Banner about records that could not be read.

import { h } from "../core/dom.js";
import { icon } from "./icons.js";

/**
 * Return a banner with the number of damaged sections in the given runs and links to them, or null if there
 * are none.
 * @param {import("../core/types.js").App} app
 * @param {import("../core/types.js").Run[]} runs
 */
export function damageBanner(app, runs) {
  const hurt = runs.filter((run) => run.damage);
  if (!hurt.length) return null;
  const n = hurt.reduce((sum, run) => sum + run.damage, 0);
  const links = hurt
    .slice(0, 5)
    .map((run, i) => [i ? ", " : "", h("a", { href: app.url.link("overview", { run: run.id }) }, run.name)]);
  const more = hurt.length > 5 ? ` +${hurt.length - 5}` : "";
  return h(
    "div",
    { class: "banner warn", role: "note" },
    icon("warning"),
    h("div", null, app.t("damage.banner", { n }), " ", links, more),
  );
}
