// Work that waits until its element is nearly on the screen: a page of three hundred cards asks for nine.

const ALL = "mindinsight-near";

/** What is told when an element comes near or goes. @type {WeakMap<Element, (near: boolean) => void>} */
const told = new WeakMap();
/** One for all: three hundred of them would each look at every scroll. @type {IntersectionObserver | null} */
let seen = null;

function observer() {
  seen ??= new IntersectionObserver(
    (entries) => entries.forEach((entry) => told.get(entry.target)?.(entry.isIntersecting)),
    { rootMargin: "300px 0px" },
  );
  return seen;
}

/**
 * @param {Element} element
 * @param {() => void} work
 */
export function whenNear(element, work) {
  let near = false;
  let wanted = false;
  const run = () => {
    wanted = false;
    work();
  };
  told.set(element, (now) => {
    near = now;
    if (near && wanted) run();
  });
  observer().observe(element);
  const all = () => wanted && run();
  document.addEventListener(ALL, all);
  return {
    /** Do the work now if the element is near, else when it comes near. */
    ask() {
      wanted = true;
      if (near) run();
    },
    end() {
      observer().unobserve(element);
      told.delete(element);
      document.removeEventListener(ALL, all);
    },
  };
}

/** Do all work that waits, wherever its element is: somebody wants the whole page. */
export function wakeAll() {
  document.dispatchEvent(new Event(ALL));
}
