// Choice of the tag that represents a run where only one can be shown.

/** Return the tag the user most likely looks for. @param {{tag: string}[]} tags @param {RegExp} liked */
export function mainTag(tags, liked) {
  return (tags.find(({ tag }) => liked.test(tag)) ?? tags[0]).tag;
}
