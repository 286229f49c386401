// Shapes of the answers about studies; types only, nothing runs.

/** @typedef {{name: string, group?: string, goal: "minimize" | "maximize"}} Target */
/**
 * @typedef {Object} Progress
 * @property {number | null} wanted
 * @property {number} jobs
 * @property {number} done
 * @property {number} complete
 * @property {number} pruned
 * @property {number} failed
 * @property {number} running
 * @property {number} interrupted
 * @property {number} imported
 * @property {number | null} left seconds
 */
/**
 * @typedef {Object} Trial
 * @property {number} number
 * @property {"running" | "complete" | "pruned" | "failed" | "interrupted" | "imported"} state
 * @property {unknown[] | null} values
 * @property {Record<string, unknown>} params
 * @property {number | null} begun Unix seconds
 * @property {number | null} ended Unix seconds
 * @property {string | null} run
 * @property {{reason: string, there?: string[], [name: string]: unknown} | null} failure
 * @property {string[]} log
 * @property {number | null} again
 * @property {number | null} last_step at which the pruner judged it
 */
/**
 * @typedef {Object} StudyEntry
 * @property {string} id
 * @property {string} name
 * @property {boolean | null} tuned
 * @property {Target[]} targets
 * @property {Progress} progress
 */
/**
 * @typedef {Object} Study
 * @property {string} id
 * @property {string} name
 * @property {boolean | null} tuned a tuner is at work; null if that is not known
 * @property {number} updated Unix seconds
 * @property {boolean} may_stop
 * @property {boolean} stopping
 * @property {Target[]} targets
 * @property {{name: string, choices: unknown[]}[]} parameters
 * @property {{name?: string, args?: Record<string, unknown>}} tuner
 * @property {{name: string} | null} pruner
 * @property {Progress} progress
 * @property {Trial[]} trials
 * @property {{number: number, value: number, ended: number}[]} best
 * @property {number[]} front
 * @property {import("../../../core/claims.js").Claim[]} claims about failed trials
 */

export {};
