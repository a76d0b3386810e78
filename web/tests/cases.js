/** Reads the models and native results that tests/web/make_cases.py has written. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

const VARIABLE = "LARQ_ENGINE_WEB_CASES";

/** The folder with the files of all cases. */
export const FOLDER = process.env[VARIABLE];
if (!FOLDER) {
  throw new Error(
    `${VARIABLE}: expected the folder that python -m tests.web.make_cases has written, got none`,
  );
}

const ARRAYS = {
  float32: Float32Array,
  float16: Uint16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  int16: Int16Array,
  int8: Int8Array,
  float64: Float64Array,
};

/** Returns the bytes of a file of the folder. */
export const bytesOf = (file) => new Uint8Array(readFileSync(join(FOLDER, file)));

/** Returns a tensor's data as the typed array of its type. */
export const dataOf = ({ dtype, data }) => new ARRAYS[dtype](bytesOf(data).buffer);

const { seed, cases } = JSON.parse(readFileSync(join(FOLDER, "cases.json"), "utf8"));

/** Returns the cases of some groups; there must be some. */
export function casesOf(...groups) {
  const found = cases.filter(({ group }) => groups.includes(group));
  if (!found.length) throw new Error(`expected cases of ${groups.join(", ")}, got none`);
  return found.map((row) => ({ ...row, title: `${row.name} (${row.group}, seed ${seed})` }));
}

/** Returns the case of a name. */
export function caseOf(name) {
  const found = cases.find((row) => row.name === name);
  if (!found) throw new Error(`expected a case '${name}', got none`);
  return found;
}

/** The groups that hold whole models. */
export const MODELS = [...new Set(cases.map(({ group }) => group))].filter(
  (group) => group !== "damaged",
);
