// Templates that several components need: what components/icons.js, line.js and button.js make with h().

import { html, svg } from "/lit-html/lit-html.js";
import { icon } from "/js/components/icons.js";

const DASHES = { solid: "none", dash: "5 3", dot: "2 2.5", dashdot: "6 2 2 2" };
const PATHS = new Map();

/** Path of a named icon. @param {string} name */
function path(name) {
  if (!PATHS.has(name)) PATHS.set(name, icon(name).firstChild.getAttribute("d"));
  return PATHS.get(name);
}

/** @param {string} name */
export const iconTemplate = (name) =>
  html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    ${svg`<path d=${path(name)} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round"
      stroke-linejoin="round"></path>`}
  </svg>`;

/** @param {any} app @param {string} id of a run @param {boolean} on */
export const lineTemplate = (app, id, on) =>
  html`<svg class="line-sample" width="18" height="8" aria-hidden="true">
    ${svg`<path d="M1 4h16" stroke=${on ? app.selection.colour(id) : "var(--line-strong)"} stroke-width="3"
      stroke-dasharray=${DASHES[app.selection.dash(id)]} opacity=${on ? 1 : 0.45}></path>`}
  </svg>`;
