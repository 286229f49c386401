// Model card: parts of the network in order, repeated layers once, with parameters, bytes and operations.

import { claimElement } from "../../core/claims.js";
import { bytes } from "../../core/format.js";
import { h, replace } from "../../core/dom.js";
import { latest } from "../../core/latest.js";
import { profileCard, profileMarks } from "./pipeline_profile.js";

/** @typedef {import("../../core/answers.js").Ask} Ask */
/** @typedef {import("../../core/types.js").Failure} Failure */
/** @typedef {import("../../core/types.js").App} App */
/**
 * @typedef {Object} Part
 * @property {number} id
 * @property {string} label
 * @property {string} path
 * @property {string} kind
 * @property {number} parameters
 * @property {number} bytes
 * @property {number} flops
 * @property {number} uncounted operators whose operations are unknown
 * @property {Part[]} [inside]
 */

const PREFIXES = ["", "k", "M", "G", "T", "P"];

/** Format a number with three digits and a prefix: 12.6 M. @param {number} value @param {string} [unit] */
export function scaled(value, unit = "") {
  let power = 0;
  while (value >= 999.5 && power < PREFIXES.length - 1) {
    value /= 1000;
    power++;
  }
  const digits = !power || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${PREFIXES[power]}${unit}`.trim();
}

/**
 * Format operations: "–" without any, "?" if all are unknown, "≥ 12.3 k" if some are.
 * @param {{flops: number, uncounted: number}} costs
 * @param {string} [unit]
 */
export function operations({ flops, uncounted }, unit = "") {
  if (!flops) return uncounted ? "?" : "–";
  return `${uncounted ? "≥ " : ""}${scaled(flops, unit)}`;
}

/** Return the network in one line: wte → 24 × Block {attention, mlp} → head. @param {Part[]} parts */
export function sentence(parts) {
  return parts
    .map(({ label, kind, inside = [] }) => {
      const named = inside.filter((part) => part.kind !== "operator").map((part) => part.label);
      return kind === "repeat" && named.length ? `${label} {${named.join(", ")}}` : label;
    })
    .join(" → ");
}

/** Card about the whole network, or about the whole data pipeline with its profile. */
export class ModelCard {
  /**
   * @param {App} app
   * @param {{ask: Ask, run: () => string | null, painted: () => void,
   *   goTo: (id: number) => void, failed: (error: Failure) => unknown}} actions `run` is the run whose data
   *   pipeline is shown, null if a graph is shown
   */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    this.element = h("div", {
      class: "graph-card scroll",
      role: "region",
      "aria-label": app.t("graph.card"),
      tabindex: "0",
    });
    this.requests = latest(this.element);
    /** Of the data pipeline that is shown. @type {import("../../core/answers.js").PipelineProfile | null} */
    this.profile = null;
  }

  /** Load the card of another graph. */
  reset() {
    const { ask, run, failed, painted } = this.actions;
    const of = run();
    this.profile = null;
    /** Request the card, and the profile of a data pipeline. @param {AbortSignal} signal */
    const both = (signal) =>
      Promise.all([
        ask("v2/graph/card", {}, signal),
        of === null ? null : this.app.api.get("v2/graph/pipeline", { run: of }, { signal }),
      ]);
    return this.requests.ask(
      both,
      ([card, profile]) => {
        this.profile = profile;
        replace(this.element, profile ? this.#pipeline(profile) : this.#content(card));
        if (profile) painted();
      },
      failed,
    );
  }

  /** Return the marks of a box of the data pipeline, null without a profile. @param {{id: number}} box */
  marks(box) {
    return profileMarks(this.app, this.profile, box);
  }

  /**
   * Create the content about a data pipeline.
   * @param {import("../../core/answers.js").PipelineProfile} profile
   */
  #pipeline(profile) {
    return [
      h("h2", null, this.app.t("graph.view.dataset")),
      profileCard(this.app, profile, this.actions.goTo),
    ];
  }

  /**
   * Create the content of the card.
   * @param {{network: Part & {kind: string}, parts: Part[], claims: import("../../core/claims.js").Claim[]}}
   *   card
   */
  #content({ network, parts, claims }) {
    const { t } = this.app;
    const total = Math.max(1, network.parameters);
    const facts = [
      network.parameters ? t("graph.card.parameters", { n: scaled(network.parameters) }) : "",
      network.bytes ? bytes(network.bytes) : "",
      network.flops ? operations(network, "FLOP") : "",
    ].filter(Boolean);
    return [
      h("h2", null, network.label || t("graph.card")),
      h("p", { class: "graph-sentence" }, sentence(parts)),
      claims.map((claim) => claimElement(this.app, claim, { class: "small" })),
      facts.length > 0 && h("p", { class: "graph-totals" }, facts.join(" · ")),
      parts.length > 0 &&
        h(
          "table",
          null,
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["part", "params", "bytes", "flops"].map((name) =>
                h("th", { scope: "col", title: t(`graph.card.${name}.what`) }, t(`graph.card.${name}`)),
              ),
            ),
          ),
          h("tbody", null, this.#rows(parts, total, 0)),
        ),
      h("p", { class: "muted small" }, t("graph.card.note")),
    ];
  }

  /**
   * Create the table rows of parts and the parts inside them.
   * @param {Part[]} parts
   * @param {number} total parameters
   * @param {number} depth
   * @returns {HTMLElement[]}
   */
  #rows(parts, total, depth) {
    return parts.flatMap((part) => [
      h(
        "tr",
        null,
        h(
          "th",
          { scope: "row", style: { "padding-left": `${depth * 14}px` } },
          h("i", { class: `graph-key ${part.kind}` }),
          h(
            "button",
            { type: "button", class: "link", title: part.path, onclick: () => this.actions.goTo(part.id) },
            part.label,
          ),
        ),
        h(
          "td",
          null,
          part.parameters ? scaled(part.parameters) : "–",
          h("i", {
            class: "share",
            style: { width: `${((100 * part.parameters) / total).toFixed(1)}%` },
          }),
        ),
        h("td", null, part.bytes ? bytes(part.bytes) : "–"),
        h("td", null, operations(part)),
      ),
      ...this.#rows(part.inside ?? [], total, depth + 1),
    ]);
  }
}
