// Facts about a sound file as text.

/** @typedef {import("../../core/types.js").Numbers} Numbers */
/** @typedef {import("../../core/types.js").App} App */
/**
 * Answer of v2/audio/waveform.
 * @typedef {Object} Facts
 * @property {string | null} type media type, null for what is no sound
 * @property {number} size bytes
 * @property {string} label
 * @property {string | null} problem
 * @property {string} [encoding]
 * @property {number} [bits]
 * @property {number} [channels]
 * @property {number} [rate]
 * @property {number} [frames]
 * @property {number} [seconds]
 * @property {number} [missing] bytes
 * @property {number} shown_channels
 * @property {number} not_finite
 * @property {Numbers} low channels x columns
 * @property {Numbers} high
 */

/**
 * Return length, rate, channels, encoding and size as text.
 * @param {App} app
 * @param {Facts} facts
 * @returns {string}
 */
export function factsOf({ t, format }, facts) {
  const { seconds, rate, channels, bits, encoding, size } = facts;
  const known =
    rate === undefined
      ? [facts.type ?? ""]
      : [
          t("audio.seconds", { n: format.number(seconds) }),
          t("audio.rate", { rate }),
          t("audio.channels", { n: channels }),
          t("audio.bits", { n: bits, encoding }),
        ];
  return [...known, format.bytes(size)].filter(Boolean).join(" · ");
}

/** Return what is wrong with a sound. @param {App} app @param {Facts} facts @returns {string[]} */
export function problemsOf({ t, format }, facts) {
  const { missing = 0, not_finite: notFinite = 0, channels = 0, shown_channels: shown } = facts;
  const words = {
    "audio.cut": { size: format.bytes(missing) },
    "audio.not_finite": { n: notFinite },
    "audio.some_channels": { shown, n: channels },
  };
  return problemKeys(facts).map((key) => t(key, words[/** @type {keyof typeof words} */ (key)]));
}

/** Return the keys of what is wrong with a sound. @param {Facts} facts @returns {string[]} */
export function problemKeys(facts) {
  const { problem, missing = 0, not_finite: notFinite = 0, frames, channels = 0 } = facts;
  const keys = [
    problem,
    missing > 0 && "audio.cut",
    notFinite > 0 && "audio.not_finite",
    frames === 0 && missing === 0 && "audio.silent",
    facts.shown_channels < channels && "audio.some_channels",
  ];
  return keys.filter((key) => typeof key === "string");
}
