// Colours and weights of a terminal's text; all other control sequences are left out.

const ESCAPE = "\\u001b";
/** Sequences that style, name windows, or do anything else, and other control characters but the tab. */
const SEQUENCE = new RegExp(
  `${ESCAPE}(?:\\[([\\d;:]*)([@-~])|\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)|[@-Z\\\\^_])` +
    "|[\\u0000-\\u0008\\u000b-\\u001f\\u007f]",
  "g",
);
/** @typedef {{colour: number | null, bold: boolean, dim: boolean}} Style */
const BRIGHT = 8;

/**
 * Return the pieces of a text with their CSS classes: ansi-1 to ansi-15 for colours, ansi-bold, ansi-dim.
 * @param {string} text
 * @returns {[string, string][]}
 */
export function styledPieces(text) {
  /** @type {[string, string][]} */
  const pieces = [];
  /** @type {Style} */
  let state = { colour: null, bold: false, dim: false };
  let done = 0;
  const take = (/** @type {number} */ end) => {
    if (end > done) pieces.push([text.slice(done, end), classes(state)]);
  };
  for (const match of text.matchAll(SEQUENCE)) {
    take(match.index);
    done = match.index + match[0].length;
    if (match[2] === "m") state = restyled(state, match[1]);
  }
  take(text.length);
  return pieces;
}

/** @param {Style} state */
function classes({ colour, bold, dim }) {
  return [colour !== null && `ansi-${colour}`, bold && "ansi-bold", dim && "ansi-dim"]
    .filter(Boolean)
    .join(" ");
}

/**
 * Return the style after a sequence. Of 256 colours, the first 16 are known; others are as the text around.
 * @param {Style} state
 * @param {string} parameters
 */
function restyled(state, parameters) {
  const codes = parameters.split(/[;:]/).map(Number);
  let { colour, bold, dim } = state;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) [colour, bold, dim] = [null, false, false];
    else if (code === 1) bold = true;
    else if (code === 2) dim = true;
    else if (code === 22) [bold, dim] = [false, false];
    else if (code === 39) colour = null;
    else if (code >= 30 && code <= 37) colour = code - 30;
    else if (code >= 90 && code <= 97) colour = code - 90 + BRIGHT;
    else if (code === 38 || code === 48) {
      const isTable = codes[i + 1] === 5;
      if (code === 38) colour = isTable && codes[i + 2] < 2 * BRIGHT ? codes[i + 2] : null;
      i += isTable ? 2 : 4;
    }
  }
  return { colour, bold, dim };
}
