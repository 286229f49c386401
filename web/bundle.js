// Bundles the pages' scripts: a few modules for each view in place of a hundred. `make bundle` runs it.
//
// Pages load the bundle as long as it was made of the scripts as they are, and the scripts themselves as soon
// as one was edited: `sources.json` has the digest of what it was made of (http/static_files.py checks it).

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rollup } from "@rollup/wasm-node";
import { minify } from "terser";

const STATIC = path.join(path.dirname(fileURLToPath(import.meta.url)), "mindinsight/web/static");
const SCRIPTS = path.join(STATIC, "js");
const OUTPUT = path.join(STATIC, "bundle");
const SMALLEST = 10_000; // bytes of a module below which it is joined with another
/** Chunks of modules that several views load, by the paths of their modules; the first that fits counts. */
const CHUNKS = /** @type {[string, RegExp][]} */ ([
  ["core", /\/js\/(core|frame|components(?!\/(dump|graph|histogram|landscape)\/)|views\/runs)\//],
  ["core", /\/js\/views\/scalar\/(tile|telling)\.js/],
  ["curves", /\/js\/views\/(scalar[./]|job\.js)/],
]);

/** Modules that are loaded by their path: the application, each view, and each view's tile. */
function entries() {
  /** @type {Record<string, string>} */
  const found = { app: path.join(SCRIPTS, "app.js") };
  for (const name of readdirSync(path.join(SCRIPTS, "views"))) {
    const view = name.replace(/\.js$/, "");
    const tile = path.join(SCRIPTS, "views", name, "tile.js");
    if (view !== name) found[`views/${view}`] = path.join(SCRIPTS, "views", name);
    else if (existsSync(tile)) found[`views/${name}/tile`] = tile;
  }
  return found;
}

/** SHA-256 of the names and contents of all scripts, as `scripts_digest` of http/static_files.py has it. */
function digest() {
  const whole = createHash("sha256");
  const names = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    .map((name) => name.split(path.sep).join("/"));
  for (const name of names.sort()) {
    whole.update(`${name}\0`);
    whole.update(readFileSync(path.join(SCRIPTS, name)));
  }
  return whole.digest("hex");
}

const bundle = await rollup({
  input: entries(),
  treeshake: false, // a module is there for what it does, too
  logLevel: "warn",
});
/** Minify a chunk; names that other modules import stay. */
const minifier = {
  name: "minify",
  /** @param {string} code */
  renderChunk: async (code) => ({ code: String((await minify(code, { module: true })).code), map: null }),
};

rmSync(OUTPUT, { recursive: true, force: true });
await bundle.write({
  plugins: [minifier],
  dir: OUTPUT,
  format: "es",
  entryFileNames: "[name].js",
  chunkFileNames: "core/[name].js", // beside what imports views by their path
  hoistTransitiveImports: false,
  minifyInternalExports: false,
  manualChunks: (id) => CHUNKS.find(([, paths]) => paths.test(id))?.[0],
  onlyExplicitManualChunks: true,
  experimentalMinChunkSize: SMALLEST,
});
await bundle.close();
writeFileSync(path.join(OUTPUT, "sources.json"), JSON.stringify({ digest: digest() }));
