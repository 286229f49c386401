// Runs before the first paint, so that a dark page is never white for a moment.
(() => {
  const saved = /(?:^|; )mindinsight_theme=(light|dark)/.exec(document.cookie)?.[1];
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = saved ?? system;
  const compact = /(?:^|; )mindinsight_density=compact/.test(document.cookie);
  document.documentElement.dataset.density = compact ? "compact" : "comfortable";
})();
