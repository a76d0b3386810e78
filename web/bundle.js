/**
 * Writes `dist`, which the package ships: a file for each script that starts something, with all
 * that it imports. A browser asks for what a script imports when it has the script, and each such
 * step takes as long as the way to the server and back.
 */

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build } from "rolldown";

// Scripts name workers by their addresses.
const SCRIPTS = {
  browser: ["index", "worker", "helper"],
  node: ["node", "worker_node", "helper_node"],
};

const place = (name) => fileURLToPath(new URL(name, import.meta.url));
await rm(place("dist"), { recursive: true, force: true });
for (const [platform, names] of Object.entries(SCRIPTS)) {
  for (const name of names) {
    await build({
      input: place(`src/${name}.js`),
      platform,
      output: {
        file: place(`dist/${name}.js`),
        comments: { annotation: true, jsdoc: false, legal: false },
        // Bundlers and `larq-engine export-web` find an import at the beginning of a line.
        minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
      },
      logLevel: "warn",
    });
  }
}
