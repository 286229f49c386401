// Names of runs in addresses, and names that look alike: invisible characters are shown as escapes, letters
// of look-alike scripts are named.

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

/** Part of a character class. @param {...string} names */
function scripts(...names) {
  return names.map((name) => `\\p{Script=${name}}`).join("");
}

/** A character as its escape: \u200b, \u{e0001}. @param {string} character */
function escaped(character) {
  const code = /** @type {number} */ (character.codePointAt(0)).toString(16).padStart(4, "0");
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

/**
 * A text in which characters that cannot be seen, or that turn what is around them, are escapes.
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

/** Id of the run or job that an address names: "a", or "./a" as in the API; "." is the directory itself. */
export const idOf = (/** @type {string} */ name) =>
  name === "." || name.startsWith("./") ? `./${name.slice(2)}` : `./${name}`;

/** @typedef {{inverted: boolean, ids: Set<string>}} Choice of runs; `inverted`: all but these */

/**
 * "a,b" are these runs, "!a" all but these, "-" none. "./" in front of an id is left out.
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

/** The choice as an address has it. @param {Choice} choice */
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
 * The characters of a name that look like others: letters of another script within a Latin word, Cyrillic
 * words that all look Latin, other forms of ASCII, marks apart from their letter.
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

/** A character with its number: "а U+0430". @param {string} character */
export function numbered(character) {
  const code = /** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0");
  return `${/\p{M}/u.test(character) ? "◌" : ""}${character} U+${code}`;
}

/**
 * A text of at most so many characters, its middle left out: what tells names apart is at their ends.
 * @param {string} text
 * @param {number} most
 */
export function middleCut(text, most) {
  if (text.length <= most) return text;
  const letters = [...text.slice(0, most), ...text.slice(-most)]; // code points: no half of a pair
  const head = Math.ceil((most - 1) / 2);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}

const WORTH = 10; // characters of a common beginning that are worth leaving out
const LAST_WORD = /(?:[^/_\-.:\s]|(?<=\d)\.|(?<=\de)-)*$/; // with the whole of a number: 0.1, 1e-4

/**
 * What all names of a list begin with, up to the end of a word; "" where that is little, or for one name.
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
  const words = first.slice(0, end).replace(LAST_WORD, "");
  return words.length < WORTH ? "" : words;
}
