// Tree of tags with counts. A click filters the cards; sections can be collapsed together.

import { button } from "../../components/button.js";
import { h, replace } from "../../core/dom.js";
import { exactPattern } from "../../core/patterns.js";
import { byName } from "../../core/run_list.js";
import { arrangeButton } from "./arrange_menu.js";

/** @typedef {import("./card.js").Page} Page */
/**
 * @typedef {Object} Branch
 * @property {string} name what is shown: a part of the tags' names, or several that belong together
 * @property {string} path the beginning that its tags share
 * @property {number} count tags
 * @property {Branch[]} children none for a tag
 */

const FEWEST = 8; // tags from which there is a tree
const PART = /^\/*[^/]*\/?/;

/**
 * Return the tree of tags by the parts between slashes. A branch with one child is merged with it.
 * @param {string[]} tags
 * @returns {Branch[]}
 */
export function tagBranches(tags) {
  return branches([...tags].sort(byName), "");
}

/**
 * Return the branches below a path.
 * @param {string[]} tags that begin with the path
 * @param {string} path
 * @returns {Branch[]}
 */
function branches(tags, path) {
  /** @type {Map<string, string[]>} */
  const parts = new Map();
  for (const tag of tags) {
    const part = tag.slice(path.length).match(PART)?.[0] ?? "";
    const members = parts.get(part);
    if (members) members.push(tag);
    else parts.set(part, [tag]);
  }
  return [...parts].map(([name, members]) => {
    const start = path + name;
    if (members.length === 1) {
      return { name: members[0].slice(path.length), path: members[0], count: 1, children: [] };
    }
    const children = branches(members, start);
    const [only] = children;
    return children.length === 1
      ? { ...only, name: name + only.name }
      : { name, path: start, count: members.length, children };
  });
}

/** Return the pattern that matches the tags of a branch. @param {Branch} branch */
export function branchPattern({ path, children }) {
  const exact = exactPattern(path);
  return children.length ? exact.slice(0, -1) : exact;
}

/**
 * Create the tree of tags with counts. A click filters the cards.
 * @param {Page} page
 * @param {HTMLElement} body of the page, with its groups of cards
 */
export function tagTree(page, body) {
  const { t } = page.app;
  const count = h("span", { class: "badge" });
  const list = h("ul", { class: "tag-tree", "aria-label": t("scalar.tree") });
  const tree = h(
    "details",
    { class: "tag-tree-box", ontoggle: () => draw() },
    h("summary", null, t("scalar.tree"), count),
    list,
  );
  const groups = () => /** @type {HTMLDetailsElement[]} */ ([...body.querySelectorAll("details.group")]);
  /** @param {boolean} open */
  const fold = (open) => groups().forEach((group) => (group.open = open));
  const folding = h(
    "span",
    { class: "row command" },
    button(t("scalar.tree.collapse"), () => fold(false), { class: "link" }),
    button(t("scalar.tree.expand"), () => fold(true), { class: "link" }),
  );
  const arranging = arrangeButton(page);
  const element = h("div", { class: "tag-bar small", hidden: true }, tree, folding, arranging.element);
  /** @type {string[]} */
  let tags = [];
  const draw = () => {
    if (tree.open) {
      replace(
        list,
        tagBranches(tags).map((branch) => row(page, branch)),
      );
    } else replace(list);
  };
  return {
    element,
    /**
     * @param {string[]} next all tags of the runs
     * @param {boolean} shown whether the mode has groups of cards
     */
    show(next, shown) {
      element.hidden = !shown;
      tree.hidden = next.length < FEWEST;
      arranging.draw();
      folding.hidden = groups().length < 2;
      if (next.join("\n") === tags.join("\n")) return;
      tags = next;
      count.textContent = String(tags.length);
      draw();
    },
  };
}

/**
 * Create a branch. Its children are created when it is opened.
 * @param {Page} page
 * @param {Branch} branch
 * @returns {HTMLElement}
 */
function row(page, branch) {
  const { t } = page.app;
  const { name, path, count, children } = branch;
  const find = button(name, () => page.find(branchPattern(branch)), {
    class: "link ellipsis",
    title: t("scalar.tree.only", { name: path }),
  });
  if (!children.length) return h("li", null, find);
  const below = h("ul", null);
  const box = h(
    "details",
    {
      ontoggle: () =>
        below.firstChild ||
        replace(
          below,
          children.map((child) => row(page, child)),
        ),
    },
    h("summary", null, find, h("span", { class: "badge" }, count)),
    below,
  );
  return h("li", null, box);
}
