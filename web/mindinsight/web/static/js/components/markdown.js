// Markdown, rendered from the syntax tree that the server sends. No HTML is parsed.

import { h } from "../core/dom.js";

/** @typedef {{href?: string, start?: number}} Attributes */
/** @typedef {{map: <T>(to: (node: Node) => T) => T[]}} Nodes */
/** @typedef {string | [string, Attributes, Nodes]} Node of formats/markdown_tree.py */

const TAGS = new Set(
  "h1 h2 h3 h4 h5 h6 p blockquote ul ol li hr pre table thead tbody tr th td code em strong s a br".split(
    " ",
  ),
);
const SCHEMES = ["http:", "https:", "mailto:"];

/** Create the element of a Markdown tree. @param {Node[]} tree @returns {Element} */
export function markdown(tree) {
  return h("div", { class: "markdown" }, tree.map(element));
}

/**
 * Create the element of one node. Of tags that are not allowed only the children are kept.
 * @param {Node} node
 * @returns {import("../core/dom.js").Child}
 */
function element(node) {
  if (typeof node === "string") return node;
  const [tag, attributes, children] = node;
  if (!TAGS.has(tag)) return children.map(element);
  return h(tag, allowed(tag, attributes), children.map(element));
}

/**
 * Return the attributes that are allowed on a tag.
 * @param {string} tag
 * @param {Attributes} attributes
 */
function allowed(tag, { href, start }) {
  if (tag === "a" && isSafe(href)) return { href, rel: "noopener noreferrer nofollow", target: "_blank" };
  if (tag === "ol" && Number.isInteger(start)) return { start };
  return null;
}

/**
 * Return whether a link has an http, https or mailto address. Relative ones would lead into this application.
 * @param {string | undefined} href
 */
function isSafe(href) {
  try {
    return SCHEMES.includes(new URL(href ?? "").protocol);
  } catch {
    return false; // relative: it would lead into this dashboard
  }
}
