// Lazy work: runs when its element comes near the window, so that a page of 300 cards requests only the
// visible ones.

const ALL = "mindinsight-near";

/** What is told when an element comes near or goes. @type {WeakMap<Element, (near: boolean) => void>} */
const callbacks = new WeakMap();
/** One for all: three hundred of them would each look at every scroll. @type {IntersectionObserver | null} */
let shared = null;

/** Return the observer shared by all elements, created on first use. */
function observer() {
  shared ??= new IntersectionObserver(
    (entries) => entries.forEach((entry) => callbacks.get(entry.target)?.(entry.isIntersecting)),
    { rootMargin: "300px 0px" },
  );
  return shared;
}

/**
 * Run work when an element is near the window. `ask()` requests it; `end()` stops observing.
 * @param {Element} element
 * @param {(() => void) & {cancel?: () => void}} work a throttled one is cancelled at the end
 * @param {() => void} [left] called when the element is no longer near
 */
export function whenNear(element, work, left) {
  let near = false;
  let waiting = false;
  const run = () => {
    waiting = false;
    work();
  };
  callbacks.set(element, (now) => {
    const before = near;
    near = now;
    if (near && waiting) run();
    else if (before && !near) left?.();
  });
  observer().observe(element);
  const wake = () => waiting && run();
  document.addEventListener(ALL, wake);
  return {
    /** Do the work now if the element is near, else when it comes near. */
    ask() {
      waiting = true;
      if (near) run();
    },
    end() {
      work.cancel?.();
      observer().unobserve(element);
      callbacks.delete(element);
      document.removeEventListener(ALL, wake);
    },
  };
}

/**
 * Run work before the whole page is saved, too. Return a function that stops that.
 * @param {() => void} work
 */
export function whenSaved(work) {
  document.addEventListener(ALL, work);
  return () => document.removeEventListener(ALL, work);
}

/** Run all pending work, wherever its element is. Used before the whole page is saved. */
export function wakeAll() {
  document.dispatchEvent(new Event(ALL));
}

/**
 * Return a function that measures the page once in a task: between changes of many elements every measurement
 * would lay out the page anew.
 * @template T
 * @param {() => T} measure
 * @returns {() => T}
 */
export function onceATask(measure) {
  /** @type {{value: T} | null} */
  let known = null;
  return () => {
    if (!known) {
      known = { value: measure() };
      queueMicrotask(() => (known = null));
    }
    return known.value;
  };
}
