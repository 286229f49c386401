// Choice of the tag that represents a run where only one can be shown.

/**
 * Return the first tag that matches `liked`, else the first of all. Throws if there are no tags.
 * @param {{tag: string}[]} tags
 * @param {RegExp} liked
 */
export function mainTag(tags, liked) {
  return (tags.find(({ tag }) => liked.test(tag)) ?? tags[0]).tag;
}
