import path from "node:path";
import js from "@eslint/js";
import globals from "globals";

/** Folders of scripts; each imports only from those after it, and a view never from another view. */
const LAYERS = ["views", "frame", "components", "core"];
/** Views that are another one, of other data. */
const SAME_VIEW = { system: "scalar" };

/** Whether the script `from` may not import `to`; both are paths in the folder of scripts. */
function crosses(from, to) {
  const [layer, view] = from.replace(/\.js$/, "").split("/");
  const [below, other] = to.replace(/\.js$/, "").split("/");
  if (!LAYERS.includes(layer)) return false; // the application
  if (layer === "views" && below === "views") return (SAME_VIEW[view] ?? view) !== other;
  return LAYERS.indexOf(below) < LAYERS.indexOf(layer);
}

/** Imports, also those of types in comments, follow the layers. */
const layers = {
  meta: { type: "problem", schema: [] },
  create(context) {
    const scripts = path.join(import.meta.dirname, "web/mindinsight/web/static/js");
    const file = path.relative(scripts, context.filename).split(path.sep).join("/");
    const check = (node, target) => {
      const imported = path.posix.join(path.posix.dirname(file), target);
      if (target.startsWith(".") && crosses(file, imported)) {
        context.report({ loc: node.loc, message: `${file} may not import ${imported}` });
      }
    };
    const declared = (node) =>
      node.source?.type !== "TemplateLiteral" && check(node, String(node.source?.value));
    return {
      ImportDeclaration: declared,
      ImportExpression: declared,
      ExportNamedDeclaration: (node) => node.source && declared(node),
      ExportAllDeclaration: declared,
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          for (const [, target] of comment.value.matchAll(/import\("([^"]+)"\)/g)) check(comment, target);
        }
      },
    };
  },
};

/** Types in comments name what a value is: `any` switches the checks of everything it touches off. */
const noAny = {
  meta: { type: "problem", schema: [] },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== "Block" || !/[{<|(:>[] ?any\b|\bany\[\]/.test(comment.value)) continue;
        context.report({ loc: comment.loc, message: "a type is `any`: name the type, or use `unknown`" });
      }
    },
  }),
};

const STYLE = {
  "max-lines": ["error", { max: 300, skipComments: true }],
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
    plugins: { mindinsight: { rules: { layers, "no-any": noAny } } },
    rules: { ...STYLE, "mindinsight/layers": "error", "mindinsight/no-any": "error" },
  },
  {
    files: ["web/mindinsight/web/static/js/core/answers.js"], // `any` for answers that are not listed there
    rules: { "mindinsight/no-any": "off" },
  },
  {
    files: ["tests/pages/gallery.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    rules: STYLE,
  },
  {
    files: ["tests/js/**/*.js", "eslint.config.js", "web/bundle.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.node },
    rules: { ...STYLE, "max-lines": ["error", 400] },
  },
];
