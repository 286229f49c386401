// Choice of the tag that stands for a run where only one fits.

/**
 * The tag to show first: what the user most likely looks for.
 * @param {{tag: string}[]} tags
 * @param {RegExp} liked
 */
export function mainTag(tags, liked) {
  return (tags.find(({ tag }) => liked.test(tag)) ?? tags[0]).tag;
}
