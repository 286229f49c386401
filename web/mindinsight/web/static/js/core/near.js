// Work that waits until its element is nearly on the screen: a page of three hundred cards asks for nine.

const ALL = "mindinsight-near";

/**
 * @param {Element} element
 * @param {() => void} work
 */
export function whenNear(element, work) {
  let near = false;
  let wanted = false;
  const seen = new IntersectionObserver(
    (entries) => {
      near = entries[entries.length - 1].isIntersecting;
      if (near && wanted) run();
    },
    { rootMargin: "300px 0px" },
  );
  const run = () => {
    wanted = false;
    work();
  };
  seen.observe(element);
  const all = () => wanted && run();
  document.addEventListener(ALL, all);
  return {
    /** Do the work now if the element is near, else when it comes near. */
    ask() {
      wanted = true;
      if (near) run();
    },
    end() {
      seen.disconnect();
      document.removeEventListener(ALL, all);
    },
  };
}

/** Do all work that waits, wherever its element is: somebody wants the whole page. */
export function wakeAll() {
  document.dispatchEvent(new Event(ALL));
}
