// Verdict on the pixels of two images.

/** @typedef {"same" | "size" | "most"} Verdict "size": only the sizes differ */

/**
 * Return the largest difference of two images, drawn on canvases of one size, and what it means.
 * @param {ArrayLike<number>} left red, green, blue and opacity of each pixel, from 0 to 255
 * @param {ArrayLike<number>} right
 * @param {number[][]} sizes width and height of each image
 * @returns {{most: number, verdict: Verdict}}
 */
export function comparePixels(left, right, sizes) {
  let most = 0;
  for (let i = 0; i < left.length; i++) most = Math.max(most, Math.abs(left[i] - right[i]));
  const equal = String(sizes[0]) === String(sizes[1]);
  return { most, verdict: most > 0 ? "most" : equal ? "same" : "size" };
}

/** Return the verdict alone. @param {Parameters<typeof comparePixels>} images */
export const pixelVerdict = (...images) => comparePixels(...images).verdict;
