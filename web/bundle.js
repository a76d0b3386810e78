/**
 * Writes `dist`, which the package ships: a file for each script that starts something, with all that
 * it imports. A browser asks for what a script imports when it has the script, and each such step takes
 * as long as the way to the server and back.
 */

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build } from "rolldown";

// A script names others by their addresses: workers, and what computes a model without a worker.
const SCRIPTS = [
  ["browser", "index"],
  ["browser", "worker"],
  ["browser", "helper"],
  ["node", "node"],
  ["node", "worker_node"],
  ["node", "helper_node"],
  ["neutral", "server"],
];

const place = (name) => fileURLToPath(new URL(name, import.meta.url));
await rm(place("dist"), { recursive: true, force: true });
for (const [platform, name] of SCRIPTS) {
  await build({
    input: place(`src/${name}.js`),
    platform,
    plugins: [
      {
        name: "imports that wait",
        resolveDynamicImport: (address) => ({ id: address, external: true }),
      },
    ],
    output: {
      file: place(`dist/${name}.js`),
      comments: { annotation: true, jsdoc: false, legal: false },
      // Bundlers and `larq-engine export-web` find an import at the beginning of a line.
      minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
    },
    logLevel: "warn",
  });
}
