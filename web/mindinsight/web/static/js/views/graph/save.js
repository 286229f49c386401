// Export of a drawing: SVG and PNG as on the page, the picture as JSON, a Plotly figure.

const MOST_PIXELS = 30e6;

/**
 * The drawing whole and by itself, with the colours it has now.
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

/** The page's rules for drawings, with their variables filled in. */
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

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** @param {string} text SVG @param {{width: number, height: number}} picture @returns {Promise<Blob>} */
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

/** Hand a file to the browser. @param {string} name @param {Blob} blob */
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
