// Type definitions of the answers of the API, by path; no code.

/** @typedef {import("./types.js").Numbers} Numbers */
/** @typedef {import("./types.js").Column} Column */
/** @typedef {import("./types.js").Parameters} Parameters */
/** @typedef {import("./claims.js").Claim} Claim */

/**
 * @typedef {Object} Differing
 * @property {"same" | "changed" | "only" | "follows"} state
 * @property {number} changed
 * @property {number} only
 * @property {number} missing
 * @property {number} follows
 */
/** @typedef {{kind: string, text: string, label: string}} Badge */
/**
 * @typedef {Object} Chip
 * @property {number} node number of the parameter or constant
 * @property {string} name
 * @property {"parameter" | "constant"} kind
 * @property {string} label
 * @property {number} x @property {number} y @property {number} w @property {number} h
 */
/**
 * @typedef {Object} Box
 * @property {number} id place in the tree of scopes
 * @property {number} end all nodes in it have places before this one
 * @property {number} parent place of the scope around it, 0 for the top
 * @property {string} path
 * @property {string} kind
 * @property {string} type
 * @property {string} label
 * @property {string} text
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {boolean} open
 * @property {number} count children
 * @property {boolean} dynamic
 * @property {number} enters
 * @property {number} leaves values that come from or go to places without a line
 * @property {number} hidden
 * @property {Chip[]} chips
 * @property {Differing["state"]} [state] in a comparison, with the next four
 * @property {number} [changed]
 * @property {number} [only]
 * @property {number} [missing]
 * @property {number} [follows]
 * @property {number | null} [partner] id in the other graph of a comparison
 * @property {Badge | null} [badge] in what it differs from its partner in another
 *   graph, or what a dump found
 * @property {number | null} [heat] how strongly it is coloured, 0 to 1
 * @property {boolean} [hatched] it holds what is not finite
 */
/**
 * @typedef {Object} Line
 * @property {number} source
 * @property {number} target
 * @property {number[]} points
 * @property {number} values
 * @property {boolean} control
 * @property {string} text the shape where a single value flows
 */
/** @typedef {{width: number, height: number, boxes: Box[], lines: Line[], open: number[]}} Picture */
/**
 * @typedef {Object} ChainLink
 * @property {string} operator
 * @property {string} recorded
 * @property {string} type
 * @property {"operator" | "weight" | "state" | "data"} carrier
 * @property {Frame | null} source
 * @property {Tensor} tensor
 * @property {boolean} late recorded after it was used
 * @property {import("./claims.js").Claim[]} claims
 */
/** @typedef {{id: string, label: string, step: number | null}} Saved */
/**
 * @typedef {{tag: string, other: string, verdict: string, shared: number, agrees_to: number | null,
 *   beyond: number | null, broken: number | null, onset: number | null, score: number,
 *   largest: number | null, typical: number | null, absolute: boolean, claim: Claim}} AlignedTag
 */
/**
 * @typedef {{run: string, baseline: string, tolerance: number, claims: Claim[], tags: AlignedTag[]}}
 *   Alignment of
 *   runs
 */
/** @typedef {{name: string, effect: number | null, chance: number | null, good: unknown[], bad: unknown[],
 *   recorded: number[]}} Setting */
/**
 * @typedef {{tag: string, kind: string, onset: number | null, shift: number | null, spreads: number | null,
 *   score: number, broken: number | null, runs: number, from_start: boolean,
 *   rise: number | null, fall: number | null, since: {step: number, good: number, bad: number} | null,
 *   at_end: {good: number, bad: number} | null}} Metric
 */
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
 *   arguments: [string, string][], operator: string, source: Frame | null, stack: Frame[],
 *   other_stacks: Frame[][]}} DumpOperator
 */
/**
 * A histogram of a tensor. Without a finite element, `elements` and `nans` count all and those that are NaN.
 * @typedef {{counts: Numbers, edges: Numbers, elements?: number, nans?: number}} Counts
 */
/**
 * A part of a tensor: rows and columns of two of its dimensions.
 * @typedef {{shape: number[], dtype: string, dims: string, rows: number, columns: number, top: number,
 *   left: number, window: number[], minimum: number, maximum: number, values: Numbers, imaginary?: Numbers,
 *   exact?: string[]}} Slice `exact`: texts of integers that a number cannot hold
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
 * @typedef {{watchpoint: number, condition: string, limits: Record<string, number>, rank: number,
 *   step: number, tensor: Tensor, findings: {name: string, hit: boolean, actual: number | null}[]}} Hit
 */
/**
 * Hits of one condition on the tensors of one operator, with the first hit.
 * @typedef {Hit & {kind: string, ranks: number[], steps: number[],
 *   slots: {direction: string, slot: string}[]}} CheckFinding
 */
/**
 * A pair of tensors of two dumps; measures are null if they could not be taken.
 * @typedef {{target: string, reference: string, matched_by: string, target_tensor: Slot, reference_tensor:
 *   Slot, codes: string[], messages: string, state: string, result: string,
 *   damage: Damage | null, parameter: string, [measure: string]: unknown}} Pair
 */
/**
 * A pair with its largest difference.
 * @typedef {Pair & {parameter: string, differing: number | null, count: number | null,
 *   largest: number[] | null, has_difference: boolean,
 *   request: {target: Position, reference: Position} | null}} ComparedPair
 */
/**
 * Centre, spread and range over runs by step; of `jobs`, `curves` reach a step and `counted` are in its mean.
 * @typedef {Record<"step" | "mean" | "deviation" | "median" | "lower" | "upper" | "low" | "high" | "curves" |
 *   "counted", Float64Array> &
 *   {runs: string[], jobs: number, claims: Claim[]}} GroupBand
 */
/**
 * Ranks × steps of a scalar. `not_finite` numbers the cells without a finite value.
 * @typedef {{ranks: number[], runs: string[], step: Float64Array, mean: Float32Array,
 *   not_finite: Uint32Array, claims: Claim[],
 *   strays: (import("./types.js").Stray & {row: number})[]}} RankGrid
 */
/**
 * A run compared with the baseline. `parted`: the step from which on it is beyond the tolerance.
 * @typedef {{run: string, step: Float64Array, difference: Float64Array, relative: Float64Array,
 *   parted: number | null, largest: number | null, claims: Claim[]}} ComparedSeries
 */
/** @typedef {{tolerance: number, series: ComparedSeries[]}} ComparedScalars */
/**
 * Layers × steps of a scalar, NaN without a value. `not_finite` numbers the cells without a finite one.
 * @typedef {{layers: number[], tags: string[], step: Float64Array, mean: Float32Array,
 *   not_finite: Uint32Array}} LayerGrid
 */
/**
 * Values of a scalar by run.
 * @typedef {{runs: string[], last: Column, first: Column, min: Column, max: Column}} RunsTable
 */
/**
 * Colours of a dump on a graph. `least` and `most` are there, and may be null, if a statistic colours it.
 * @typedef {{done: boolean, tensors: number, measured: number, dumped: number, found: number, by_order:
 *   number, by_module: number, renamed: number, ambiguous: number, broken_afterwards: string[],
 *   judged: number, unjudged: number, claims: Claim[], weights: number[],
 *   boxes: {id: number, symptom?: string, counts?: Record<string, number>, value?: number | string | null,
 *   share?: number | null}[], counts: Record<string, number>,
 *   fault?: {id: number, path: string} | null, first?: {id: number, path: string} | null,
 *   least?: number | null, most?: number | null}} Colouring
 */
/**
 * @typedef {Omit<Slice, "dtype" | "minimum" | "maximum"> & {type: string, slice: Record<string, number>,
 *   whole: Record<string, number>}} TensorSlice
 */

/**
 * @typedef {{divergence: Disagreement | null, faults: Fault[], claims: Claim[], damage: Damage[],
 *   coverage: {tensors: number, unread: number, silent: number, masks: number, open_masks: number,
 *   by_statistics: number, contradicted: number, unlisted: number, backward: boolean,
 *   judged: number}}} FirstFaults of a dump
 */
/** @typedef {{file: string, rank: number, module: string, name: string, graph: number, time: string,
 *   sequence: number | null, kind: string, size: number}} DumpLog */
/**
 * @typedef {DumpOperator & {inputs: Link[], outputs: Link[], tensors: Tensor[], done: boolean}} OperatorFacts
 */
/** @typedef {{rank: number, step: number, operator: string, recorded: string, type: string,
 *   [name: string]: unknown}} Overflow that the device reported */
/** @typedef {{all: number, measured: number, done: boolean, total: number, offset: number, rows: Tensor[],
 *   types: string[], dtypes: string[], damage: Damage[]}} TensorRows */
/** @typedef {{name: string, scope: boolean, operators: number, parameters: number, lost: number,
 *   recorded?: string, graph?: string, type?: string}} TreeEntry scope or operator of a dump */
/**
 * @typedef {{done: boolean, error: string, total: number, claims: Claim[], unjudged: number, hits: Hit[],
 *   findings: CheckFinding[], findings_total: number}}
 *   Hits
 */
/**
 * @typedef {{done: boolean, error: string, all: number, compared: number, total: number,
 *   counts: Record<string, number>, tolerances: Record<string, number>, claims: Claim[], offset: number,
 *   rows: Pair[], request: {target: Position, reference: Position, names: Record<string, string>}}} Compared
 */
/** @typedef {{dump: string, rank: number, step: number, graph: string | null}} Position in a dump */
/** @typedef {{total: number, hits: number[], shown: number, tree: FoundNode[], outer_total: number,
 *   outer: Outer[]}} SearchResult */
/**
 * A row of one of the tables of checkpoints: of a file, of two files, or of a series.
 * @typedef {{name: string, dtype?: string, shape?: number[], size?: number, known?: boolean,
 *   statistics?: Statistics | null, error?: Damage | null, state?: string, equal?: number,
 *   first?: {dtype: string, shape: number[]} | null, second?: {dtype: string, shape: number[]} | null,
 *   measures?: Record<string, number | null> | null, states?: string[], changes?: (number | string | null)[],
 *   weight?: boolean, non_finite?: (number | null)[], non_finite_elements?: number | null}} SavedRow
 */
/**
 * @typedef {{done: boolean, error: string, format?: string, total?: number, claims?: Claim[],
 *   damage?: Damage[], counts?: Record<string, number>}} SavedAnswer about checkpoints, without its rows
 */
/**
 * What differs between two groups of runs.
 * @typedef {{good: string[], bad: string[], unknown: string[], claims: Claim[],
 *   settings: Setting[], metrics:
 *   Metric[]}} Why
 */
/** @typedef {{name: string, inputs: number, parameters: Record<string, unknown>}} Stage of a data pipeline */
/** @typedef {{run: string, tag: string, step: Numbers, wall: Numbers, shape: number[], type: string,
 *   first: string}} TensorSteps */
/** @typedef {{step: Numbers, wall: Numbers, count: number, edges: Numbers, nan: Numbers,
 *   positive_infinity: Numbers, negative_infinity: Numbers, counts: Numbers,
 *   facts: Record<string, number>[]}} Distribution of a tensor over the steps */
/**
 * @template T
 * @typedef {{total: number, shown: T[]}} Shown the first entries of a list
 */
/**
 * @typedef {{id: number, path: string, label: string, kind: string, type: string, count: number}} GraphNode
 */
/**
 * A box of the drawing around a chain, whose operators have a `place` in it.
 * @typedef {Omit<Picture, "boxes"> & {boxes: (Box & {place: number | null, recorded: string})[]}}
 *   ChainPicture
 */
/** @typedef {Box & {recorded: string | null, graph: string | null, symptom: string, value: number | null,
 *   share: number | null}} DumpBox */
/** @typedef {Omit<Picture, "boxes"> & {done: boolean, operators: number, in_order: boolean,
 *   least: number | null,
 *   most: number | null, counts: Record<string, number>, boxes: DumpBox[]}} DumpPicture */
/** @typedef {Slot & {kind: string, state: string, before: number | null, now: number | null,
 *   ratio: number | null}} Trend of a weight or gradient */
/**
 * @typedef {GraphNode & {text: string, control: boolean}} Neighbour a node and the value on the line to it
 */
/**
 * @typedef {GraphNode & {found: boolean, inside: FoundNode[]}} FoundNode a node of a tree of search results
 */
/** @typedef {{node: number, label: string, kind: string, text: string}} Outer a parameter or constant */
/** @typedef {Outer & {attributes: [string, string][], users: Shown<GraphNode>, hits: number[]}} OuterFacts */
/**
 * @typedef {{source: GraphNode, target: GraphNode,
 *   values: Shown<Neighbour & {users: GraphNode[]}>}} FlowFacts of a line of a graph
 */
/**
 * Facts about a node. Those of an operator have `output`, those of a scope `operators` and `types`.
 * @typedef {GraphNode & {around: GraphNode[], inputs: Shown<Neighbour>, outputs: Shown<Neighbour>,
 *   outer: Shown<Outer>, operators?: number, types?: Record<string, number>, identical?: Shown<GraphNode>,
 *   parameters: number, bytes: number, flops: number, uncounted: number,
 *   stacks: Omit<Frame, "own">[][], output?: string,
 *   dynamic?: boolean, attributes?: [string, string][]}} NodeFacts
 */
/**
 * A node of two graphs: where it is, and what differs.
 * @typedef {{left: GraphNode | null, right: GraphNode | null, partner: number | null,
 *   state: Differing["state"], changed: number, only: number,
 *   follows: number, missing: number,
 *   around: {left: number[], right: number[]},
 *   differences: {what: string, name: string, left: string, right: string}[]}} NodePair
 */
/**
 * Profile of a data pipeline. `empty` counts the samples in which the queue after an operator was empty.
 * @typedef {{file: string | null, interval_ms: number | null, batch_ms: number | null,
 *   wait_ms: number | null, operators: {name: string, node: number | null, workers: number | null,
 *   samples: number, capacity: number | null, mean: number | null, empty: number | null,
 *   cpu: number | null, slowest: boolean}[], claims: Claim[]}} PipelineProfile
 */
/** @typedef {{weights: number, buffers: number, inputs: number}} Roles tensors of a graph, counted apart */
/** @typedef {Picture & {operators: number, parameters: number, constants: number, roles: Roles, view: string,
 *   name: string, nameless: number, dangling: number, unreadable: number, flat: number[]}} GraphPicture */
/**
 * @typedef {{graph: string, recorded: string, operator: string, updated: boolean, tensors: Tensor[]}} Dumped
 */
/** @typedef {{operators: Dumped[], claims: import("./claims.js").Claim[],
 *   worst: (GraphNode & {symptom: string})[], total: number, done: boolean}} DumpedNode */

/**
 * @typedef {Object} ReportCurve
 * @property {string} tag
 * @property {number} first step from which it is drawn
 * @property {number} last
 * @property {string} low
 * @property {string} high
 * @property {string[]} segments "x,y x,y" in a frame of 320 by 120
 * @property {number[]} broken x of points that are not finite
 * @property {number | null} mark x of the step of the fault
 * @property {string} newest
 * @property {number} points
 * @property {[number, number]} extent first and last step of all points
 * @property {string} run name of the rank, of one of several; else ""
 */
/**
 * @typedef {Object} ExplanationPart
 * @property {string} topic
 * @property {Claim[]} claims
 * @property {string} dump
 * @property {boolean} after whether its faults are at or after the first one of the tensors
 * @property {{page: string, query: Record<string, string | number | string[]>, name: string}[]} links `name`
 *   of what they show, "" if it needs none
 * @property {{file: string, line: number, code: string} | null} frame
 * @property {ReportCurve[]} curves
 */
/**
 * @typedef {Object} Explanation
 * @property {boolean} done
 * @property {string} error
 * @property {{key: string, done: number, total: number} | null} progress
 * @property {ExplanationPart[]} parts
 */
/**
 * What another distribution adds; `error` says why it is not used.
 * @typedef {{group: string, name: string, distribution: string, error: string, seconds: number}} Extension
 */
/**
 * Answers to `get`.
 * @typedef {{
 *   "v2/alert/list": {alerts: import("./alerts.js").Alert[], total: number, left_out: number,
 *     archived: number, now: number},
 *   "v2/dump/chain": {done: boolean, certain: boolean, chain:
 *   ChainLink[],
 *     picture: ChainPicture},
 *   "v2/dump/checkpoints": {checkpoints: {id: string, size: number, modified: number}[],
 *     series: {key: string, checkpoints: Saved[]}[]},
 *   "v2/dump/fault": FirstFaults,
 *   "v2/dump/list": {version: number, dumps: {id: string, run: string}[]},
 *   "v2/dump/log": {text: string, next: number | null},
 *   "v2/dump/logs": {logs: DumpLog[]},
 *   "v2/dump/operator": OperatorFacts,
 *   "v2/dump/overflows": {overflows: Overflow[], damage: Damage[]},
 *   "v2/dump/picture": DumpPicture,
 *   "v2/dump/summary": DumpSummary,
 *   "v2/dump/tensors": TensorRows,
 *   "v2/dump/trends": {trends: Trend[], done: boolean, [name: string]: unknown},
 *   "v2/dump/tree": {scope: string[], done: boolean, children: TreeEntry[], left_out: number, damage:
 *   Damage[]},
 *   "v2/graph/dump": Colouring,
 *   "v2/graph/dump/node": DumpedNode,
 *   "v2/graph/dump/outer": DumpedNode,
 *   "v2/graph/dump/place": {place: number | null, outer: number | null},
 *   "v2/graph/figure": import("./charts.js").Figure,
 *   "v2/graph/flow": FlowFacts,
 *   "v2/graph/inside": {inside: GraphNode[]},
 *   "v2/graph/node": NodeFacts,
 *   "v2/graph/outer": OuterFacts,
 *   "v2/graph/pipeline": PipelineProfile,
 *   "v2/graph/picture": GraphPicture,
 *   "v2/graph/search": SearchResult,
 *   "v2/graph/trace": {operators: number, boxes: number[], counts: number[]},
 *   "v2/graph/types": {types: Record<string, number>},
 *   "v2/extensions": {extensions: Extension[]},
 *   "v2/explanation/difference": {claims: import("./claims.js").Claim[]},
 *   "v2/graph/compare/differences": {claims: import("./claims.js").Claim[]},
 *   "v2/graph/compare/node": NodePair,
 *   "v2/graph/compare/pictures": {open: number[], other_open: number[], left: Picture, right: Picture},
 *   "v2/layout/list": {layouts: {run: string, name: string, tag: string}[]},
 *   "v2/answers/alignment": Alignment,
 *   "v2/answers/why": Why,
 *   "v2/lineage/table": {columns: {key: string, numeric: boolean, repeated: boolean}[], scalars: string[],
 *     rows: {run: string, values: Record<string, string | number | boolean>}[], objective: string | null,
 *     forks: {run: string, parent: string, step: number}[]},
 *   "v2/lineage/dataset": {run: string, stages: Stage[]},
 *   "v2/reports": {reports: {id: string, title: string, changed: number, blocks: number}[]},
 *   "v2/runs": import("./types.js").RunList,
 *   "v2/runs/trash": {runs: {run: string, stamp: string, deleted: number}[]},
 *   "v2/runs/columns": {tables: Record<string, RunsTable>},
 *   "v2/tags": {tags: import("./tags.js").Tag[]},
 *   "v2/tensor/slice": Omit<TensorSlice, "values" | "imaginary"> & {values: Column, imaginary?: Column},
 *   "v2/tensor/steps": {run: string, tag: string, step: Column, wall: Column, shape: number[], type: string,
 *     first: string},
 *   "v2/views": {views: {name: string, view: string, query: string}[]},
 * }} Answers
 */
/**
 * Answers to `columns`, whose columns are typed arrays.
 * @typedef {{
 *   "v2/scalar/band": GroupBand,
 *   "v2/scalar/compare": ComparedScalars,
 *   "v2/scalar/layers": LayerGrid,
 *   "v2/scalar/ranks": RankGrid,
 *   "v2/tensor/slice": TensorSlice,
 *   "v2/tensor/distribution": Distribution,
 *   "v2/tensor/steps": TensorSteps,
 * }} ColumnAnswers
 */
/**
 * Answers to `send`.
 * @typedef {{
 *   "v2/dump/check": {check: number},
 *   "v2/dump/compare": {comparison: number},
 *   "v2/dump/fault": {search: number},
 * }} SentAnswers
 */
/** @template {string} P @typedef {P extends keyof Answers ? Answers[P] : any} Answer */
/** @template {string} P @typedef {P extends keyof ColumnAnswers ? ColumnAnswers[P] : any} ColumnAnswer */
/** @template {string} P @typedef {P extends keyof SentAnswers ? SentAnswers[P] : any} SentAnswer */
/**
 * Requests an answer of a graph.
 * @typedef {<P extends string>(path: P, params: Parameters, signal?: AbortSignal) => Promise<Answer<P>>} Ask
 */

export {};
