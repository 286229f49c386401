// Translated texts. Keys are the same in every language; plural forms are written "one | other".

/**
 * Fetch the texts of the current language.
 * @param {{assets: string, lang: string}} boot
 * @returns {Promise<Record<string, string>>}
 */
export async function loadTexts(boot) {
  const answer = await fetch(`${boot.assets}/locales/${boot.lang}.json`);
  return answer.json();
}

/** Chinese sets a space beside Latin letters and digits, not between its own characters. */
const SPACE_IN_CHINESE = /(?<=\p{Script=Han}) (?=\p{Script=Han})/gu;

/** Values of a text that are counts: beside {n} they are written as {n} is, unlike steps and ranks. */
const COUNTS = new Set(
  (
    "n count total all shown steps runs run baseline good bad goods bads others rest inside outside lost " +
    "nans tensors compared found reach failed layers i row least most fewest values elements"
  ).split(" "),
);

/** Return whether a value of a text is a count. @param {string} name @param {unknown} value */
export function isCount(name, value) {
  return COUNTS.has(name) && Number.isInteger(value);
}

/**
 * Return the translate function: t("runs.left_out", {n: 5}) replaces "{n}", and "{n} run | {n} runs" picks
 * the plural form by n. Lists are joined. The counts of a text with {n} have separators of thousands. An
 * unknown key is returned unchanged.
 * @param {Record<string, string>} texts
 * @param {string} lang
 * @returns {import("./types.js").Translate}
 */
export function createTranslate(texts, lang) {
  const numbers = new Intl.NumberFormat(lang === "zh" ? "zh-CN" : "en", { maximumFractionDigits: 20 });
  return (key, vars = {}) => {
    const forms = (texts[key] ?? key).split(" | ");
    const form = forms.length > 1 && vars.n !== 1 ? forms[1] : forms[0];
    const text = form.replace(/\{(\w+)\}/g, (match, name) => {
      const value = vars[name];
      if (value === undefined || value === null) return match;
      if (Array.isArray(value)) return value.join(lang === "zh" ? "、" : ", ");
      const grouped = isCount(name, value) && form.includes("{n}");
      return grouped ? numbers.format(/** @type {number} */ (value)) : String(value);
    });
    return lang === "zh" ? text.replace(SPACE_IN_CHINESE, "") : text.replaceAll("….", "…");
  };
}

/** Store the language in a cookie and reload the page. @param {string} lang */
export function chooseLanguage(lang) {
  document.cookie = `mindinsight_lang=${lang}; path=${cookiePath()}; max-age=31536000; samesite=lax`;
  location.reload();
}

/**
 * Return the language that somebody chose, else the browser's first that there is. For pages that no server
 * renders.
 * @param {string} otherwise
 */
export function chosenLanguage(otherwise) {
  const chosen = /(?:^|; )mindinsight_lang=(\w+)/.exec(document.cookie)?.[1] ?? "";
  const short = [chosen, ...navigator.languages].map((name) => name.slice(0, 2).toLowerCase());
  return short.find((name) => name === "en" || name === "zh") ?? otherwise;
}

/** Return the folder of this page, the path of our cookies on a shared host. */
export function cookiePath() {
  return location.pathname.replace(/[^/]*$/, "");
}
