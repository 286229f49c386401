// Drag and drop of elements among others of their type.

/**
 * Make an element draggable.
 * @param {HTMLElement} handle
 * @param {string} type of what is dragged; other targets refuse it
 * @param {string} key
 */
export function draggable(handle, type, key) {
  handle.draggable = true;
  handle.addEventListener("dragstart", (event) => event.dataTransfer?.setData(mimeType(type), key));
}

/**
 * Let an element take what is dropped on it.
 * @param {HTMLElement} element
 * @param {string} type
 * @param {(key: string) => void} ondrop
 */
export function dropTarget(element, type, ondrop) {
  element.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes(mimeType(type))) return;
    event.preventDefault();
    element.classList.add("drop");
  });
  element.addEventListener("dragleave", (event) => {
    if (!element.contains(/** @type {Node | null} */ (event.relatedTarget))) element.classList.remove("drop");
  });
  element.addEventListener("drop", (event) => {
    const key = event.dataTransfer?.getData(mimeType(type));
    if (!key) return;
    event.preventDefault();
    element.classList.remove("drop");
    ondrop(key);
  });
}

/** Return the type under which the browser carries a key; other pages do not know it. @param {string} type */
function mimeType(type) {
  return `text/x-mindinsight-${type}`;
}
