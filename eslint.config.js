import js from "@eslint/js";
import globals from "globals";

const STYLE = {
  "max-lines": ["error", 550],
  "max-len": ["error", { code: 110, ignoreUrls: true }],
  eqeqeq: "error",
  "no-undef": "error",
  "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_", caughtErrors: "all" }],
  "no-var": "error",
  "prefer-const": "error",
  "no-implicit-globals": "error",
  "no-eval": "error",
  "no-new-func": "error",
  "object-shorthand": "error",
  curly: ["error", "multi-line"],
};

export default [
  { ignores: ["**/vendor/**", "**/.venv*/**", "docs/**", "benchmarks/**", "tests/data/**"] },
  js.configs.recommended,
  {
    files: ["web/mindinsight/web/static/js/**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    rules: STYLE,
  },
  {
    files: ["tests/js/**/*.js", "eslint.config.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.node },
    rules: STYLE,
  },
];
