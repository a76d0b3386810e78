/** Prints the sizes of files that are compressed as servers do: `node brotli.mjs FILE...`. */

import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib"; // at its best level unless told otherwise

const sizes = process.argv.slice(2).map((file) => brotliCompressSync(readFileSync(file)).length);
console.log(JSON.stringify(sizes));
