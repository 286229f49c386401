// Waveform on a canvas: the range of the samples in each column, channels below each other.

/** @typedef {import("./facts.js").Facts} Facts */

/**
 * Draw the waveform, and the position unless it is at the start.
 * @param {HTMLCanvasElement} canvas
 * @param {Facts} facts
 * @param {{wave: string, cursor: string, at: number}} pen `at`: share of the time that has been played
 */
export function drawWaveform(canvas, facts, { wave, cursor, at }) {
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context || !width) return;
  context.clearRect(0, 0, width, height);
  context.fillStyle = wave;
  const channels = facts.shown_channels;
  const columns = facts.low.length / channels;
  const most = loudest(facts);
  const lane = height / channels;
  for (let channel = 0; channel < channels; channel++) {
    const middle = lane * (channel + 0.5);
    for (let column = 0; column < columns; column++) {
      const i = channel * columns + column;
      const top = middle - (facts.high[i] / most) * lane * 0.48;
      const bottom = middle - (facts.low[i] / most) * lane * 0.48;
      const left = (column / columns) * width;
      context.fillRect(left, top, Math.max(1, width / columns), Math.max(scale, bottom - top));
    }
  }
  if (at > 0) {
    context.fillStyle = cursor;
    context.fillRect(at * width, 0, scale, height);
  }
}

/**
 * Return the scale: full scale, or the largest sample of a float file that exceeds it.
 * @param {Facts} facts
 */
function loudest({ low, high }) {
  let most = 1;
  for (let i = 0; i < low.length; i++) most = Math.max(most, -low[i], high[i]);
  return most;
}
