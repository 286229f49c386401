// Names of runs in addresses, and names that look alike: invisible characters are shown as escapes, and
// letters of look-alike scripts are reported.

// Control, format and other default-ignorable characters, and separators of lines and paragraphs; not the
// blanks of a text on several lines.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const INVISIBLES = new RegExp(INVISIBLE, "gu");
const BLANK = /[\t\n\r]/;
// They shape what is beside them: emoji, and scripts whose letters join.
const JOINERS = /\u200c|\u200d|\ufe0e|\ufe0f/;
const JOINING = scripts(
  "Arabic",
  "Syriac",
  "Mongolian",
  "Devanagari",
  "Bengali",
  "Tamil",
  "Telugu",
  "Sinhala",
);
const SHAPED = new RegExp(`[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f${JOINING}]`, "u");

/** Return the part of a character class that matches these Unicode scripts. @param {...string} names */
function scripts(...names) {
  return names.map((name) => `\\p{Script=${name}}`).join("");
}

/** Return a character as an escape: \u200b, \u{e0001}. @param {string} character */
function escaped(character) {
  const code = /** @type {number} */ (character.codePointAt(0)).toString(16).padStart(4, "0");
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

/**
 * Return a text with invisible and direction-changing characters replaced by escapes.
 * @param {string} text
 */
export function visible(text) {
  if (!INVISIBLE.test(text)) return text;
  return text.replace(INVISIBLES, (character, /** @type {number} */ at) => {
    if (BLANK.test(character)) return character;
    const before = [...text.slice(Math.max(at - 2, 0), at)].pop() ?? "";
    return JOINERS.test(character) && SHAPED.test(before) ? character : escaped(character);
  });
}

/**
 * Return the id of the run or job that an address names: "a" and "./a" are both "./a"; "." is the base
 * directory.
 */
export const idOf = (/** @type {string} */ name) =>
  name === "." || name.startsWith("./") ? `./${name.slice(2)}` : `./${name}`;

/** @typedef {{inverted: boolean, ids: Set<string>}} Choice of runs; `inverted`: all but these */

/**
 * Parse a choice of runs: "a,b" are these, "!a" all but these, "-" none. Return null for null.
 * @param {string | null} text
 * @returns {Choice | null}
 */
export function parseChoice(text) {
  if (text === null) return null;
  const inverted = text.startsWith("!");
  const names = (inverted ? text.slice(1) : text).split(",").filter((name) => name && name !== "-");
  return {
    inverted,
    ids: new Set(names.map((name) => idOf(decodeURIComponent(name)))),
  };
}

/** Return a choice of runs as the text that `parseChoice` reads. @param {Choice} choice */
export function writeChoice(choice) {
  const names = [...choice.ids].map((id) => id.slice(2).replaceAll("%", "%25").replaceAll(",", "%2C") || ".");
  return (choice.inverted ? "!" : "") + (names.join(",") || (choice.inverted ? "" : "-"));
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const OTHERS = new RegExp(`[${scripts("Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu")}]`, "u");
const FORMS = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u2160-\u217f\u{1d400}-\u{1d7ff}]/u;
const CYRILLIC_AS_LATIN = /^[аеорсухіјѕһԁԛԝАВЕЅІЈКМНОРСТУХԌԚԜ]+$/;

/**
 * Return the distinct characters of a name that look like other ones: letters of another script within a
 * Latin word, Cyrillic words that look Latin, compatibility forms of ASCII, decomposed accents.
 * @param {string} name
 * @returns {string[]} none twice
 */
export function lookAlikes(name) {
  /** @type {Set<string>} */
  const characters = new Set();
  for (const character of name) {
    if (FORMS.test(character)) characters.add(character);
  }
  for (const [word] of name.matchAll(WORD)) {
    const lookAlike = CYRILLIC_AS_LATIN.test(word);
    for (const character of word) {
      const foreign = OTHERS.test(character) && (lookAlike || LATIN.test(word));
      if (foreign || (/\p{M}/u.test(character) && word.normalize("NFC") !== word)) characters.add(character);
    }
  }
  return [...characters];
}

/** Return a character with its code point: "а U+0430". @param {string} character */
export function numbered(character) {
  const code = /** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
  return `${/\p{M}/u.test(character) ? "◌" : ""}${character} U+${code}`;
}

/**
 * Shorten a text in the middle, because names usually differ at their ends.
 * @param {string} text
 * @param {number} most
 */
export function middleCut(text, most) {
  if (text.length <= most) return text;
  const letters = [...text.slice(0, most), ...text.slice(-most)]; // code points: no half of a pair
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

/**
 * Return the beginning that the paths among names of runs share. A name that a person gave in place of a path
 * shares none, and does not keep the others long.
 * @param {Iterable<string>} names
 */
export function sharedPath(names) {
  const every = [...names];
  const paths = every.filter((name) => name.includes("/"));
  return commonStart(paths.length > 1 ? paths : every);
}

const WORTH = 10; // characters of a common beginning that are worth leaving out
const LAST_PART = /[^/_\-.:\s]+[_\-.:\s]$/; // the word in front of a number: rank_
const LAST_WORD = /(?:[^/_\-.:\s]|(?<=\d)\.|(?<=\de)-)*$/; // with the whole of a number: 0.1, 1e-4

/**
 * Return the beginning that all names share, up to a word's end, and to one word less if only a number would
 * remain of a name. Return "" for one name, or if it has fewer than ten characters.
 * @param {Iterable<string>} names
 */
export function commonStart(names) {
  const [first, ...others] = new Set(names);
  if (!others.length) return "";
  let end = first.length;
  for (const name of others) {
    let at = 0;
    while (at < end && name[at] === first[at]) at++;
    end = at;
    if (end < WORTH) return "";
  }
  let words = first.slice(0, end).replace(LAST_WORD, "");
  const bare = [first, ...others].some((name) => /^\d+$/.test(name.slice(words.length)));
  if (bare) words = words.replace(LAST_PART, "");
  return words.length < WORTH ? "" : words;
}
