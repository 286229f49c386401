// Ticks of an axis of wall time, in the preferred time zone, which the first tick names, or of relative time.

import { plotTime, zoneName } from "../../core/format.js";
import { ticksWithin, tickText } from "./ticks.js";

const INTERVALS = 4; // at most: a label with seconds is 50 pixels wide, a narrow card 300
const DAY = 86_400;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => 60 * minutes),
  ...[1, 2, 3, 6, 12].map((hours) => 3600 * hours),
  ...[1, 2, 7, 14, 30, 60, 120, 365, 730, 1825, 3650].map((days) => DAY * days),
]; // seconds

/**
 * Return ticks at round times of the clock. The first one, and each at another date, has the date below it.
 * @param {number[] | undefined} ends in Unix seconds
 * @returns {{tickvals: number[], ticktext: string[]}} in milliseconds
 */
export function timeTicks(ends) {
  if (!ends?.every(Number.isFinite)) return { tickvals: [], ticktext: [] };
  const [low, high] = ends;
  const step = STEPS.find((seconds) => (high - low) / seconds <= INTERVALS) ?? (high - low) / INTERVALS;
  const shift = plotTime(low) / 1000 - low;
  const first = Math.ceil((low + shift) / step) * step - shift;
  const count = Math.floor((high - first) / step) + 1;
  const times = count > 0 ? Array.from({ length: count }, (_, i) => first + i * step) : [low];
  let before = "";
  const ticktext = times.map((unix) => {
    const [date, clock] = new Date(plotTime(unix)).toISOString().split("T");
    const zone = before ? "" : ` ${zoneName(unix)}`;
    const below = date === before ? "" : `<br>${date}${zone}`;
    before = date;
    if (step >= DAY) return `${date}${zone && `<br>${zone.trim()}`}`;
    return clock.slice(0, step < 60 ? 8 : 5) + below;
  });
  return { tickvals: times.map((unix) => unix * 1000), ticktext };
}

const FEWEST = 5; // seconds, below which decimal fractions are round
const UNITS = /** @type {[string, number][]} */ ([
  ["d", DAY],
  ["h", 3600],
  ["min", 60],
]);

/**
 * Return ticks at round relative times, each with its unit.
 * @param {[number, number]} ends in seconds
 */
export function durationTicks([low, high]) {
  const step = STEPS.find((seconds) => (high - low) / seconds <= INTERVALS + 1);
  const [unit, seconds] = UNITS.find(([, size]) => step && step % size === 0) ?? ["s", 1];
  const tickvals =
    step && high - low >= FEWEST
      ? Array.from(
          { length: Math.floor(high / step) - Math.ceil(low / step) + 1 },
          (_, i) => (Math.ceil(low / step) + i) * step,
        )
      : ticksWithin("linear", [low, high]).tickvals;
  return { tickvals, ticktext: tickvals.map((at) => `${tickText(at / seconds)} ${unit}`) };
}
