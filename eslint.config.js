import js from "@eslint/js";
import globals from "globals";

const STYLE = {
  "max-lines": ["error", 300],
  "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
  "max-len": ["error", { code: 110, ignoreUrls: true }],
  eqeqeq: "error",
  "no-undef": "error",
  "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_", caughtErrors: "all" }],
  "no-shadow": "error",
  "no-var": "error",
  "prefer-const": "error",
  "no-implicit-globals": "error",
  "no-eval": "error",
  "no-new-func": "error",
  "object-shorthand": "error",
  curly: ["error", "multi-line"],
};

export default [
  {
    ignores: [
      "**/vendor/**",
      "web/mindinsight/web/static/bundle/**",
      "**/.venv*/**",
      "docs/**",
      "build/**",
      "demo/**",
      "benchmarks/**",
      "tests/data/**",
    ],
  },
  js.configs.recommended,
  {
    files: ["web/mindinsight/web/static/js/**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    rules: STYLE,
  },
  {
    files: ["tests/js/**/*.js", "eslint.config.js", "web/bundle.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.node },
    rules: { ...STYLE, "max-lines": ["error", 400] },
  },
];
