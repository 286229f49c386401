// Strip with one cell per rank of a job, coloured by the rank's most serious anomaly.

import { claimText } from "../core/claims.js";
import { h } from "../core/dom.js";

/** @typedef {import("../core/types.js").App} App */
/** @typedef {import("../core/types.js").Stray & {row: number, tag: string}} RankOutlier */
/**
 * @typedef {{runs: string[], ranks: (number | null)[], tags: string[], strays: RankOutlier[],
 *   claims: import("../core/claims.js").Claim[]}} Health
 */

/** The worst first. */
export const KINDS = /** @type {const} */ (["not_finite", "silent", "lasting", "spikes"]);

const CELLS = 64; // beyond which several ranks share a cell

/** Return each rank's anomalies, most serious first. @param {Health} health @returns {RankOutlier[][]} */
export function outliersByRank(health) {
  /** @type {RankOutlier[][]} */
  const rows = health.runs.map(() => []);
  for (const stray of health.strays) {
    rows[stray.row].push(stray);
    if (typeof stray.other === "number") rows[stray.other].push(stray);
  }
  rows.forEach((row) => row.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.step - b.step));
  return rows;
}

/**
 * Return the most serious anomaly of each cell. Ranks share cells if there are more than `most`.
 * @param {Health} health
 * @param {number} [most]
 * @returns {(RankOutlier | undefined)[]}
 */
export function cellsOf(health, most = CELLS) {
  const rows = outliersByRank(health).map(([first]) => first);
  const share = Math.ceil(rows.length / most);
  const cells = [];
  for (let i = 0; i < rows.length; i += share) {
    const some = rows.slice(i, i + share).filter((stray) => stray !== undefined);
    cells.push(some.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))[0]);
  }
  return cells;
}

/** Return the ids of runs whose health is unknown. @param {Pick<Health, "claims">} health */
export function unknownRuns({ claims }) {
  const unknown = claims.filter(({ verdict }) => verdict === "unknown");
  return new Set(unknown.flatMap(({ evidence }) => evidence.map(({ run }) => run)));
}

/**
 * Return the runs whose steps take longer than most, by id: by how many percent, and since which step.
 * @param {Pick<Health, "claims">} health
 * @returns {Map<string, {percent: number, step: number}>}
 */
export function slowRuns({ claims }) {
  const slower = claims.filter(({ key }) => /^claim\.health\.(was_)?slower$/.test(key));
  const ranks = /** @type {{run: string, percent: number, step: number}[]} */ (
    slower.flatMap(({ evidence }) => evidence)
  );
  return new Map(ranks.map(({ run, percent, step }) => [run, { percent, step }]));
}

/**
 * Return the groups of a scalar into which a run falls, by the run's id.
 * @param {Pick<Health, "claims">} health
 * @returns {Map<string, {tag: string, group: "low" | "high"}[]>}
 */
export function groupsByRun({ claims }) {
  /** @type {Map<string, {tag: string, group: "low" | "high"}[]>} */
  const groups = new Map();
  const split = claims.filter(({ key }) => key === "claim.health.groups");
  for (const { run, tag, group } of split.flatMap(({ evidence }) => evidence)) {
    const own = { tag: String(tag), group: /** @type {"low" | "high"} */ (group) };
    groups.set(String(run), [...(groups.get(String(run)) ?? []), own]);
  }
  return groups;
}

/**
 * Return the ranks without data between those of a job, if the server says that ranks are missing.
 * @param {Pick<Health, "claims" | "ranks">} health
 * @param {number} most beyond it none is named
 */
export function missingRanks({ claims, ranks }, most) {
  if (!claims.some(({ key }) => key === "claim.health.missing_ranks")) return [];
  return ranks.flatMap((rank, row) => {
    const n = missingBefore(ranks, row, most);
    return Array.from({ length: n }, (_, i) => (rank ?? 0) - n + i);
  });
}

/**
 * Return how many ranks without data a gap in the strip before a row stands for; 0 if there is no gap.
 * @param {(number | null)[]} ranks ascending @param {number} row @param {number} most beyond it no gap fits
 */
export function missingBefore(ranks, row, most) {
  const [before, rank] = [row ? ranks[row - 1] : -1, ranks[row]];
  if (before === null || rank === null || (ranks.at(-1) ?? 0) >= most) return 0;
  return Math.max(rank - before - 1, 0);
}

/**
 * Create the strip of a job's ranks, coloured by their anomalies, as a link to the job's page.
 * @param {App} app
 * @param {Health} health
 * @param {string} job
 * @param {number} [most] cells
 */
export function healthStrip(app, health, job, most = CELLS) {
  const text = health.claims.map((claim) => claimText(app, claim)).join(" ");
  const unknown = unknownRuns(health);
  const share = Math.ceil(health.runs.length / most);
  const regular = health.claims.some(({ key }) => key === "claim.health.some_of_each");
  const slow = slowRuns(health);
  const rest = (/** @type {number} */ cell) => {
    const runs = health.runs.slice(cell * share, (cell + 1) * share);
    if (runs.some((run) => slow.has(run))) return "lasting";
    return runs.some((run) => unknown.has(run)) ? "unknown" : "well";
  };
  const cells = cellsOf(health, most).flatMap((stray, i) => [
    ...Array.from({ length: share > 1 || regular ? 0 : missingBefore(health.ranks, i, most) }, () =>
      h("i", { class: "missing" }),
    ),
    h("i", {
      class: stray?.kind ?? rest(i),
      title: stray && rankText(app, health, stray),
      "data-rank": share > 1 ? null : health.ranks[i],
    }),
  ]);
  return h(
    "a",
    {
      class: "health-strip",
      href: app.url.link("job", { job: job.slice(2) || "." }),
      "aria-label": app.t("health.of", { job: job.slice(2) || ".", what: text }),
      title: text,
      "data-focus": "health",
    },
    cells,
  );
}

/**
 * Return an anomaly as text: "rank 7: loss: NaN at step 120". If two ranks differ from each other, neither is
 * named as the faulty one.
 * @param {App} app
 * @param {Health} health
 * @param {RankOutlier} stray
 */
export function rankText(app, health, stray) {
  if (typeof stray.other === "number") return `${stray.tag}: ${claimText(app, stray.claim)}`;
  const rank = app.t("runs.rank", { rank: health.ranks[stray.row] ?? health.runs[stray.row] });
  return `${rank}: ${stray.tag}: ${claimText(app, stray.claim)}`;
}
