// JSON encoding of elements. Decoding builds only allowed tags and attributes, because anybody may have
// written to the workspace.

/** @typedef {string | [string, Record<string, string>, unknown[]]} Node */

const SVG = "http://www.w3.org/2000/svg";
const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
const HTML_TAGS = new Set(
  (
    "div span section article header footer p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot " +
    "tr th td caption colgroup col b i em strong s small code pre br hr blockquote figure figcaption img " +
    "details summary time mark sub sup"
  ).split(" "),
);
const SVG_TAGS = new Set(
  "svg g path rect circle ellipse line polyline polygon text tspan title desc defs marker".split(" "),
);
const ATTRIBUTES = new Set(
  (
    "class role title alt lang dir scope colspan rowspan hidden open datetime width height viewBox d x y " +
    "x1 x2 y1 y2 cx cy r rx ry dx dy points transform fill fill-opacity stroke stroke-width stroke-opacity " +
    "stroke-dasharray stroke-linecap stroke-linejoin opacity text-anchor dominant-baseline font-size " +
    "preserveAspectRatio data-figure data-key data-text"
  ).split(" "),
);
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|bmp);base64,[A-Za-z0-9+/=]*$/;
// What comes back of a style: colours, text, and sizes in the flow of the card. Names are those of parsed
// declarations, so that it does not matter how one is written (`pos\69tion: fixed`).
const DECLARATIONS = new Set(
  (
    "color opacity visibility background-color background-image background-size background-position " +
    "background-position-x background-position-y background-repeat background-origin background-clip " +
    "background-attachment fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray " +
    "font-family font-size font-style font-weight font-variant-numeric text-align text-anchor " +
    "text-transform text-overflow white-space white-space-collapse text-wrap-mode line-height " +
    "vertical-align width height min-width max-width min-height max-height display left top transform " +
    "padding-top padding-right padding-bottom padding-left flex-grow flex-shrink flex-basis " +
    "grid-column-start grid-column-end grid-template-columns row-gap column-gap overflow-x overflow-y " +
    "aspect-ratio"
  ).split(" "),
);
// What loads a file, or hides that it does.
const UNSAFE_VALUE = /url\(|image\(|image-set|element\(|cross-fade|src\(|\\/i;
const DEEPEST = 200;

/**
 * Return whether an attribute may be restored on a tag.
 * @param {string} tag
 * @param {string} name
 * @param {string} value
 */
export function isAllowed(tag, name, value) {
  if (name === "src") return tag === "img" && PICTURE.test(value);
  if (name === "style") return true; // `setStyle` looks at each declaration
  return (ATTRIBUTES.has(name) || /^aria-[a-z]+$/.test(name)) && !/url\(|javascript:/i.test(value);
}

/** Return whether a tag may be restored. Of other elements only the children are. @param {string} tag */
export function isAllowedTag(tag) {
  return HTML_TAGS.has(tag) || SVG_TAGS.has(tag);
}

/**
 * Encode an element and its children as nested arrays of tag, attributes and children.
 * @param {Element} element
 * @param {import("./frozen_figures.js").Names} colours
 * @returns {Node}
 */
export function encodeTree(element, colours) {
  const tag = element.localName;
  const attributes = [...element.attributes]
    .map(({ name, value }) => [name, colourful(name, value, element, colours)])
    .filter(([name, value]) => isAllowed(tag, name, value));
  const children = [...element.childNodes]
    .filter(({ nodeType }) => nodeType === TEXT_NODE || nodeType === ELEMENT_NODE)
    .map((child) =>
      child.nodeType === TEXT_NODE
        ? (child.textContent ?? "")
        : encodeTree(/** @type {Element} */ (child), colours),
    );
  return [tag, Object.fromEntries(attributes), children];
}

/**
 * Return an attribute's value with theme colours replaced by their names.
 * @param {string} name
 * @param {string} value
 * @param {Element} element
 * @param {import("./frozen_figures.js").Names} colours
 */
function colourful(name, value, element, colours) {
  if (name === "fill" || name === "stroke") return colours.get(value.toLowerCase()) ?? value;
  if (name !== "style" || !("style" in element)) return value;
  return value.replace(/rgb\((\d+), (\d+), (\d+)\)|#[0-9a-f]{6}\b/gi, (text, ...parts) => {
    const hex = text.startsWith("#")
      ? text
      : `#${parts
          .slice(0, 3)
          .map((part) => Number(part).toString(16).padStart(2, "0"))
          .join("")}`;
    return colours.get(hex.toLowerCase()) ?? text;
  });
}

/**
 * Build the element of an encoded tree. Tags that are not allowed become spans; children deeper than 200
 * levels are dropped.
 * @param {unknown} node as `encodeTree` made it, or anything else
 * @param {number} [depth]
 * @returns {globalThis.Node}
 */
export function decodeTree(node, depth = 0) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = Array.isArray(node) ? node : [];
  const nested = Array.isArray(children) && depth < DEEPEST ? children : [];
  const element =
    SVG_TAGS.has(tag) && !HTML_TAGS.has(tag)
      ? /** @type {SVGElement} */ (document.createElementNS(SVG, tag))
      : document.createElement(HTML_TAGS.has(tag) ? tag : "span");
  if (isAllowedTag(tag)) setAttributes(element, tag, attributes);
  element.append(...nested.map((child) => decodeTree(child, depth + 1)));
  return element;
}

/**
 * Set those attributes that are allowed.
 * @param {HTMLElement | SVGElement} element
 * @param {string} tag
 * @param {unknown} attributes
 */
function setAttributes(element, tag, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value !== "string" || !isAllowed(tag, name, value)) continue;
    if (name === "style") setStyle(element.style, value);
    else element.setAttribute(name, value);
  }
}

/**
 * Set a style without the properties and values that are not allowed.
 * @param {CSSStyleDeclaration} style
 * @param {string} text
 */
function setStyle(style, text) {
  style.cssText = text; // of an element that is nowhere yet: nothing is loaded or drawn
  for (const name of [...style]) {
    if (!DECLARATIONS.has(name) && !/^--[a-z][a-z0-9-]*$/.test(name)) style.removeProperty(name);
  }
  if (UNSAFE_VALUE.test(style.cssText)) style.cssText = "";
}
