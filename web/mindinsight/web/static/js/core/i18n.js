// Translation of texts. Keys are the same in every language; plural forms are "one | other".

/**
 * @param {{assets: string, lang: string}} boot
 * @returns {Promise<Record<string, string>>}
 */
export async function loadTexts(boot) {
  const answer = await fetch(`${boot.assets}/locales/${boot.lang}.json`);
  return answer.json();
}

/** Chinese sets a space beside Latin letters and digits, not between its own characters. */
const SPACE_IN_CHINESE = /(?<=\p{Script=Han}) (?=\p{Script=Han})/gu;

/**
 * t("runs.left_out", {n: 5}): "{n}" is replaced; "{n} run | {n} runs" chooses by n.
 * @param {Record<string, string>} texts @param {string} lang
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
      return Number.isInteger(value) && name === "n" ? numbers.format(value) : String(value);
    });
    return lang === "zh" ? text.replace(SPACE_IN_CHINESE, "") : text;
  };
}

/** Keep the language for the next page and draw this one in it. @param {string} lang */
export function chooseLanguage(lang) {
  document.cookie = `mindinsight_lang=${lang}; path=${cookiePath()}; max-age=31536000; samesite=lax`;
  location.reload();
}

/** The folder of this page: where our cookies belong when we share a host with others. */
export function cookiePath() {
  return location.pathname.replace(/[^/]*$/, "");
}
