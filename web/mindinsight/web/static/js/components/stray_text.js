// Text of what is wrong with a rank that strays from the others.

/** @typedef {import("../core/types.js").Stray} Stray */

const PLENTY = 10; // times the median, from which on percent are hard to read

/** @param {import("../core/types.js").App} app @param {Stray} stray */
export function strayWords(app, stray) {
  const { t, format } = app;
  const [step, last] = [format.number(stray.step, 12), format.number(stray.last_step ?? NaN, 12)];
  const by = amount(app, stray.relative ?? 0);
  if (stray.kind === "not_finite") return t("stray.not_finite", { step, n: stray.count });
  if (stray.kind === "silent") return t("stray.silent", { step });
  if (stray.kind === "lasting" && typeof stray.other === "number") {
    return t(stray.last_step === null ? "stray.pair" : "stray.pair_between", { step, last });
  }
  if (stray.kind === "lasting") {
    return t(stray.last_step === null ? "stray.since" : "stray.between", { by, step, last });
  }
  if (stray.period !== null) return t("stray.every", { by, step, period: format.number(stray.period, 12) });
  return t("stray.spikes", { by, step, n: stray.count });
}

/** "+26 %", or "×40". @param {import("../core/types.js").App} app @param {number} relative */
function amount({ format }, relative) {
  if (relative >= PLENTY) return `×${format.number(1 + relative, 2)}`;
  return `${relative < 0 ? "−" : "+"}${format.number(Math.abs(relative) * 100, 2)} %`;
}
