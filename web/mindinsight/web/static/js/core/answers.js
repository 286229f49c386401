// Type definitions of the answers of the API, by path; no code.

/** @typedef {import("./types.js").Numbers} Numbers */
/** @typedef {import("./types.js").Column} Column */
/** @typedef {import("./claims.js").Claim} Claim */

/** @typedef {{file: string, reason: string, detail: string}} Damage what of a file could not be read */

/**
 * Statistics of a tensor. Null is not counted, text a number outside double precision.
 * @typedef {{count: number, zeros: number | null, negative: number | null, positive: number | null,
 *   nans: number | null, positive_infs: number | null, negative_infs: number | null,
 *   [name: string]: number | string | null}} Statistics
 */
/**
 * An input or output of an operator in a dump.
 * @typedef {{graph: string, operator: string, recorded: string, type: string, direction: string,
 *   slot: string, sequence: number}} Slot
 */
/**
 * A tensor of a dump. `said` are statistics that the dump recorded, `disagrees` those that differ from ours.
 * @typedef {Slot & {order: number, format: string, dtype: string, shape: number[] | null, values: boolean,
 *   known: boolean, computed: boolean, statistics: Statistics | null, finite: boolean | null,
 *   damage: Damage | null, said?: Record<string, number | string> | null, disagrees?: string[]}} Tensor
 */
/**
 * @typedef {{id: string, layout: string, framework: string, version: string, device: string, level: string,
 *   task: string, config: string, ranks: {rank: number, name: string, steps: number[]}[], graphs: string[],
 *   logs: number, damage: Damage[]}} DumpSummary
 */
/** @typedef {{file: string, line: number, last_line: number, function: string, code: string,
 *   own: boolean}} Frame of a call stack */
/** @typedef {{recorded: string, operator: string, type: string, known: boolean, certain: boolean,
 *   source_slot: string, target_slot: string}} Link between operators of a dump */
/**
 * @typedef {{graph: string, recorded: string, type: string, scope: string[], sequence: number, order: number,
 *   arguments: {name: string, value: string}[], operator: string, source: Frame | null, stack: Frame[],
 *   other_stacks: Frame[][]}} DumpOperator
 */
/** @typedef {{counts: Numbers, edges: Numbers}} Counts a histogram of a tensor */
/**
 * A part of a tensor: rows and columns of two of its dimensions.
 * @typedef {{shape: number[], dtype: string, dims: string, rows: number, columns: number, top: number,
 *   left: number, window: number[], minimum: number, maximum: number, values: Numbers}} Slice
 */
/**
 * A first fault. `explanation` is null if its cause is unknown.
 * @typedef {{kind: string, claims: Claim[], rank: number, step: number, tensors: Tensor[], operator:
 *   DumpOperator,
 *   explanation: {reason: string, index: number[] | null} | null}} Fault
 */
/**
 * The first operator at which ranks disagree.
 * @typedef {{claims: Claim[], rank: number, step: number, operator: DumpOperator, tensor: Tensor}}
 *   Disagreement
 */
/**
 * @typedef {{watchpoint: number, condition: string, limits: Record<string, number | boolean>, rank: number,
 *   step: number, tensor: Tensor, findings: {name: string, hit: boolean, actual: number | null}[]}} Hit
 */
/**
 * A pair of tensors of two dumps; measures are null if they could not be taken.
 * @typedef {{target: string, reference: string, matched_by: string, target_tensor: Slot | null,
 *   reference_tensor: Slot | null, codes: string[], messages: string, state: string, result: string,
 *   damage: Damage | null, [measure: string]: unknown}} Pair
 */
/** @typedef {{runs: string[], last: Column, min: Column, max: Column}} RunsTable values of a scalar by run */
/**
 * Colours of a dump on a graph. `least` and `most` are there, and may be null, if a statistic colours it.
 * @typedef {{done: boolean, tensors: number, measured: number, dumped: number, found: number, by_order:
 *   number,
 *   by_module: number, broken_afterwards: string[], judged: number, unjudged: number,
 *   boxes: {id: number, symptom?: string, counts?: Record<string, number>, value?: number | string | null,
 *   share?: number | null}[], counts: Record<string, number>,
 *   fault?: {id: number, path: string} | null, least?: number | null, most?: number | null}} Colouring
 */
/**
 * @typedef {Slice & {slice: Record<string, number>, whole: Record<string, number>}} TensorSlice
 */

/**
 * Answers to `get`.
 * @typedef {{
 *   "v2/runs": import("./types.js").RunList,
 *   "v2/runs/columns": {tables: Record<string, RunsTable>},
 *   "v2/tags": {tags: import("./tags.js").Tag[]},
 * }} Answers
 */
/**
 * Answers to `columns`, whose columns are typed arrays.
 * @typedef {{}} ColumnAnswers
 */
/**
 * Answers to `send`.
 * @typedef {{}} SentAnswers
 */
/** @template {string} P @typedef {P extends keyof Answers ? Answers[P] : any} Answer */
/** @template {string} P @typedef {P extends keyof ColumnAnswers ? ColumnAnswers[P] : any} ColumnAnswer */
/** @template {string} P @typedef {P extends keyof SentAnswers ? SentAnswers[P] : any} SentAnswer */

export {};
