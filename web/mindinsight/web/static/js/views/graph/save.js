// Export of a drawing as SVG or PNG.

const MOST_PIXELS = 30e6;

/**
 * Return the whole drawing as a self-contained SVG in the current colours.
 * @param {SVGElement} drawing
 * @param {{width: number, height: number}} picture
 */
export function asSvg(drawing, picture) {
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  copy.querySelector("g")?.removeAttribute("transform");
  copy.classList.remove("far");
  for (const [name, value] of Object.entries({
    xmlns: "http://www.w3.org/2000/svg",
    viewBox: `0 0 ${picture.width} ${picture.height}`,
    width: picture.width,
    height: picture.height,
  })) {
    copy.setAttribute(name, String(value));
  }
  copy.removeAttribute("aria-hidden");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = `svg{font:12px sans-serif;background:${colour("--panel")}}${rules()}`;
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
}

/** Return the page's CSS rules for drawings with their variables replaced by values. */
function rules() {
  const texts = [];
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSStyleRule && rule.selectorText.includes(".graph-drawing")) {
        texts.push(rule.cssText);
      }
    }
  }
  return texts.join("").replace(/var\((--[\w-]+)\)/g, (_, name) => colour(name));
}

/** Return the value of a CSS variable. @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/**
 * Draw an SVG at twice its size, less if it is very large. Rejects if the browser cannot draw it.
 * @param {string} text SVG
 * @param {{width: number, height: number}} picture
 * @returns {Promise<Blob>}
 */
export async function asPng(text, picture) {
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (picture.width * picture.height)));
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(picture.width * scale);
  canvas.height = Math.ceil(picture.height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}

/** Download a file. @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
