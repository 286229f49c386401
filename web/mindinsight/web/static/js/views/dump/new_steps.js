// New steps of the dump that is shown.

import { leaveAsIs } from "../../core/latest.js";

/** @typedef {import("../../core/answers.js").DumpSummary} DumpSummary */
/** @typedef {import("../../components/dump/state.js").Page} Page */

/** ms between questions for new steps: the folder of a dump does not change when one comes deep inside. */
const FOLLOWING = 5000;

/**
 * Create functions that request the summary of the shown dump again: `ask(take)` now, and `follow()` from
 * time to time, as long as the page is seen, which replaces the summary if it changed.
 * @param {Page} page
 * @param {ReturnType<typeof import("../../core/latest.js").latest>} requests
 * @param {() => void} grown called after the summary was replaced
 */
export function newSteps(page, requests, grown) {
  /** @param {(summary: DumpSummary) => void} take */
  const ask = async (take) => {
    const { dump } = page.state;
    await requests.join(
      (signal) => page.app.api.get("v2/dump/summary", { dump }, { signal }),
      (summary) => {
        if (dump === page.state.dump && page.summary) take(summary);
      },
      leaveAsIs,
    );
    follow();
  };

  /** @returns {void} */
  const follow = () =>
    requests.later(() => {
      if (document.hidden || page.app.live.paused() || !page.summary) return follow();
      return ask((summary) => {
        if (JSON.stringify(summary) === JSON.stringify(page.summary)) return;
        page.summary = summary;
        grown();
      });
    }, FOLLOWING);

  return { ask, follow };
}
