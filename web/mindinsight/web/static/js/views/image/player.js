// Player of the steps of an image. It stops at the newest.

import { replaceableButton } from "../../components/button.js";

const FRAME_MS = 300;

/**
 * Create the button that plays the steps of an image and stops at the newest. `stop()` stops playing.
 * @param {import("../../core/types.js").App} app
 * @param {{next: () => boolean, rewind: () => void, ready: () => boolean}} film `next` shows the step after,
 *   false at the last; `ready`: whether the picture of the step before is there
 */
export function player({ t }, film) {
  const toggle = replaceableButton();
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    show();
  };
  const play = () => {
    if (!film.next()) film.rewind();
    timer = window.setInterval(() => film.ready() && !film.next() && stop(), FRAME_MS);
    show();
  };
  const show = () => {
    const [icon, name] = timer ? ["pause", t("image.pause")] : ["play", t("image.play")];
    toggle.show(icon, name, "", timer ? stop : play);
  };
  show();
  return { element: toggle.element, stop };
}
