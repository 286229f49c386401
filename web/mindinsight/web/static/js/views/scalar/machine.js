// Names of what is recorded of machines, by their tags.

/** @typedef {import("../../core/types.js").Translate} Translate */

export const SYSTEM = "system/"; // what the tags begin with
const PART = /^system\/(cpu|memory|disk|network|gpu|npu)(?:\.(\d+))?(?:\/(\w+))?$/;

/** Quantities of each part; those of accelerators are the same. @type {Record<string, string[]>} */
const QUANTITIES = {
  cpu: ["percent", "process_percent"],
  memory: ["percent", "process_MB"],
  disk: ["percent", "read_MB_per_s", "write_MB_per_s"],
  network: ["sent_MB_per_s", "received_MB_per_s"],
  device: ["percent", "memory_percent", "memory_MB", "temperature_C", "power_W"],
};

/**
 * Return the name of a machine's part or of a quantity of it, or null for another tag.
 * @param {Translate} t
 * @param {string} tag of a section, system/gpu.0, or of a scalar, system/gpu.0/power_W
 */
export function machineName(t, tag) {
  const [, part, number = "", quantity] = PART.exec(tag) ?? [];
  if (!part) return null;
  const name = t(`system.part.${part}`, { n: number }).trim();
  if (!quantity) return name;
  const kind = part === "gpu" || part === "npu" ? "device" : part;
  return QUANTITIES[kind].includes(quantity) ? `${name} · ${t(`system.${kind}.${quantity}`)}` : null;
}
