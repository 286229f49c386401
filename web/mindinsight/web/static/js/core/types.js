// Type definitions shared by the modules; no code.

/**
 * What a request or a script threw. `key` and `vars` give the translated message of an error of the server.
 * @typedef {{name?: string, message?: string, status?: number, code?: string, key?: string,
 *   vars?: Record<string, unknown>}} Failure
 */
/** @typedef {Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | Uint32Array | Uint16Array |
 *   Uint8Array} Numbers a column of an answer */
/** @typedef {string | number | boolean | null | undefined} Parameter of a request */
/** @typedef {Record<string, Parameter | readonly Parameter[]>} Parameters */

/**
 * An axis of a Plotly layout. Of Plotly's objects only those properties are listed that scripts read.
 * @typedef {{type?: string, range?: [number, number], tickvals?: number[], ticktext?: string[],
 *   gridcolor?: string, [name: string]: unknown}} PlotlyAxis
 */
/**
 * @typedef {{type?: string, xref?: string, yref?: string, x0: number, x1: number, y0: number, y1: number,
 *   opacity?: number, line: {width?: number, color?: string, dash?: string}, [name: string]: unknown}}
 *   PlotlyShape
 */
/**
 * @typedef {{x: number, y: number, text: string, xanchor: "left" | "right", yanchor: "top" | "bottom",
 *   font: {color?: string, size: number}, [name: string]: unknown}} PlotlyAnnotation
 */
/**
 * @typedef {{margin?: {l: number, r: number, t: number, b: number}, xaxis?: PlotlyAxis, yaxis?: PlotlyAxis,
 *   font?: {family: string, size: number, color: string}, shapes?: PlotlyShape[],
 *   annotations?: PlotlyAnnotation[],
 *   [name: string]: unknown}} PlotlyLayout
 */
/**
 * A trace of a Plotly figure.
 * @typedef {{type?: string, mode?: string, x?: ArrayLike<unknown>, y?: ArrayLike<unknown>, name?: string,
 *   meta?: unknown, fill?: string, line?: {width?: number, color?: string, dash?: string},
 *   [name: string]: unknown}} Trace
 */
/**
 * @typedef {{points: {x: number, y: number, customdata: unknown, data: Trace, [name: string]: unknown}[],
 *   event: MouseEvent, [name: string]: unknown}} PlotlyEvent
 */
/**
 * What Plotly keeps of an axis that it has drawn; the last four convert between values and places.
 * @typedef {import("./sketch/axis.js").Axis & {range?: unknown[], autorange?: boolean, fixedrange?: boolean,
 *   r2c: (value: unknown) => number, r2l: (value: unknown) => number,
 *   l2r: (value: number) => unknown}} DrawnAxis
 */
/**
 * @typedef {{width: number, height: number, dragmode: string | false, xaxis: DrawnAxis, yaxis: DrawnAxis,
 *   _has?: (kind: string) => boolean}} DrawnLayout
 */
/**
 * An element that Plotly has drawn in.
 * @typedef {HTMLElement & {on: (name: string, callback: (event: PlotlyEvent) => void) => void,
 *   _fullLayout?: DrawnLayout}} Plot
 */
/**
 * @typedef {Object} Plotly the library
 * @property {(element: Element, data: Trace[], layout: PlotlyLayout, config: object) => Promise<unknown>}
 *   react
 * @property {(element: Element, changes: object) => unknown} relayout
 * @property {(element: Element) => void} purge
 * @property {(figure: object, options: object) => Promise<unknown>} downloadImage
 */

/**
 * @typedef {Object} Run
 * @property {string} id "./a/b"
 * @property {string} name with the directory if another run has the same name
 * @property {string} [given] the name alone
 * @property {string} job id of the job directory; equal to id when there are no ranks
 * @property {number|null} rank
 * @property {number} created Unix seconds
 * @property {number} updated Unix seconds of the newest write
 * @property {number} first_event Unix seconds
 * @property {number} last_event Unix seconds
 * @property {boolean} events whether it has event files, and not only dumps, graphs or profiles
 * @property {boolean} finished the writer closed its files
 * @property {boolean} [left] whether it is a rank without an end, and its job was finished long after it
 * @property {string} failure the exception that ended the training, or ""
 * @property {number|null} torn_since Unix seconds from which on an unfinished record is one for good
 * @property {number} size bytes
 * @property {number} read bytes read so far
 * @property {number} total bytes there are to read
 * @property {number} damage number of damaged stretches
 * @property {Record<string, number>} kinds how many tags of each kind
 * @property {boolean} lineage
 * @property {boolean} pipeline whether the graph of a data pipeline was recorded
 * @property {string[]} dumps
 * @property {import("./claims.js").Claim[]} clock that recorded times go back, or []
 * @property {import("./claims.js").Claim[]} divergence that a loss is non-finite to its end, or []
 * @property {import("./claims.js").Claim[]} fault_dumps that a flight recorder has dumped steps, or []
 * @property {boolean} hidden
 * @property {boolean} archived
 * @property {string} directory its name on disk, which `name` is without a name that a person gave
 * @property {string} group given by a person, or ""
 * @property {boolean} pinned the baseline
 * @property {string} note
 * @property {string[]} labels
 * @property {number} slot of its job in the palette, counted round; it never changes
 * @property {string} chosen colour chosen by a person, or ""
 * @property {number} step newest step of any scalar, -1 when there is none
 * @property {Record<string, unknown>} hyper hyper-parameters and user data
 * @property {Record<string, unknown>} metrics
 */

/**
 * a base directory; without a name it is the only one
 * @typedef {Object} Base
 * @property {string} name
 * @property {string} path
 * @property {string} watch
 * @property {boolean} missing
 */

/**
 * @typedef {Object} RunList
 * @property {number} version
 * @property {string} base
 * @property {Base[]} bases
 * @property {boolean} base_missing
 * @property {number} left_out runs beyond the limit
 * @property {boolean} [deletable] whether the server moves runs to the trash
 * @property {Record<string, string>} defaults settings with which pages open, as queries
 * @property {string} watch "events", "polling" or "both"
 * @property {number} scanned Unix seconds
 * @property {number} now the server's clock, Unix seconds
 * @property {{path: string, reason: string}[]} errors directories that could not be looked into
 * @property {Run[]} runs
 */

/**
 * @typedef {Object} Change
 * @property {number} version
 * @property {Record<string, string[]>} runs
 * @property {boolean} list
 * @property {boolean} [everything] what changed is not known, look at all there is
 */
/** @typedef {{update?: (change: Change) => void, unmount: () => void}} View */
/** @typedef {{mount: (root: HTMLElement, app: App) => View | Promise<View>, alone?: boolean}} ViewModule */
/** @typedef {(key: string, vars?: Record<string, unknown>) => string} Translate */
/** @typedef {{dtype: string, bdata: string}} Column */

/**
 * What the server says of a view: what a run must hold for it, the path of its icon, whether it has an
 * overview tile and a link in the navigation, and whether these are there only for runs with such data.
 * `group` is its group in the menu of all pages, "" where it has no place in the menu.
 * @typedef {{name: string, needs: string[], icon: string, tile: boolean, navigation: boolean,
 *   rare: boolean, group: string}} ViewEntry
 */

/**
 * @typedef {Object} Boot
 * @property {string} view
 * @property {string} lang
 * @property {ViewEntry[]} views
 * @property {string} version
 * @property {string} assets
 * @property {string} plotly
 */

/**
 * @typedef {Object} Tile
 * @property {HTMLElement} element
 * @property {(run: Run) => Promise<void>} refresh
 * @property {() => void} relink
 * @property {(run: Run) => {title: string, why: string} | null} missing what is said where the run has none
 */
/**
 * What a kind gives: `has` whether the run holds any; `load` fetches and answers with what fills the box and
 * the line of figures.
 * @typedef {Object} TileKind
 * @property {string} kind
 * @property {string} title
 * @property {string} view
 * @property {string} [icon] another than the view's
 * @property {Record<string, string>} [params]
 * @property {(box: HTMLElement, run: Run) => void} [begin] fills the box before anything is loaded
 * @property {boolean} [wide] as wide as the page
 * @property {(run: Run) => boolean} has
 * @property {(app: App, run: Run, signal: AbortSignal) => Promise<(box: HTMLElement, figures: HTMLElement) =>
 *   void>} load
 */

/**
 * @typedef {Object} Stray
 * @property {"not_finite" | "silent" | "lasting" | "spikes"} kind
 * @property {number} step at which it begins
 * @property {number | null} last_step of a lasting difference that ended
 * @property {number | null} relative difference as a share of the median of the ranks
 * @property {number} count of spikes, or of values that are not finite
 * @property {number | null} period of spikes in steps
 * @property {number | null} [other] row of the curve that this one differs from; which is wrong is unknown
 * @property {import("./claims.js").Claim} claim
 */

/**
 * What a page may ask of the router.
 * @typedef {Object} Router
 * @property {() => string} current name of the view that is shown
 * @property {(name: string) => boolean} knows whether there is a view of this name
 * @property {(href: string) => void} go
 * @property {(callback: (view: string) => void) => () => void} on a view is about to be shown
 */

/**
 * @typedef {Object} App
 * @property {import("./alerts.js").Alerts} alerts
 * @property {Boot} boot
 * @property {typeof import("./api.js")} api
 * @property {typeof import("./dom.js")} dom
 * @property {typeof import("./format.js")} format
 * @property {Translate} t
 * @property {import("./url.js").Url} url
 * @property {import("./theme.js").Theme} theme
 * @property {import("./live.js").Live} live
 * @property {import("./selection.js").Selection} selection
 * @property {import("./charts.js").Charts} charts
 * @property {Router} router
 */

export {};
