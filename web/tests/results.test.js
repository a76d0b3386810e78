/** Results are the native engine's, to the bit. */

import assert from "node:assert/strict";
import test from "node:test";

import { loader } from "../src/loading.js";
import * as system from "../src/node_system.js";
import { bytesOf, casesOf, dataOf, MODELS } from "./cases.js";

const load = loader({ ...system, cores: () => 3 });

const bytes = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

async function compare(row, model) {
  const expected = row.outputs.map(dataOf);
  const results = await model.predict(row.inputs.map(dataOf));
  const outputs =
    row.outputs.length === 1 ? [results] : row.outputs.map(({ name }) => results[name]);
  outputs.forEach((output, number) => {
    const { name } = row.outputs[number];
    assert.equal(output.constructor, expected[number].constructor, name);
    assert.equal(output.length, expected[number].length, name);
    if (!bytes(output).equals(bytes(expected[number]))) {
      const place = output.findIndex((value, index) => !Object.is(value, expected[number][index]));
      assert.fail(`${name}: expected ${expected[number][place]} at ${place}, got ${output[place]}`);
    }
  });
}

const ways = [
  { title: "here", options: { worker: false }, groups: MODELS },
  { title: "in a worker", options: {}, groups: ["interop", "interfaces"] },
  { title: "in three threads", options: { threads: 3 }, groups: MODELS },
  { title: "without SIMD", options: { worker: false }, groups: MODELS, validate: () => false },
];
for (const { title, options, groups, validate = WebAssembly.validate } of ways) {
  for (const row of casesOf(...groups)) {
    test(`${row.title}, ${title}`, async (context) => {
      context.mock.method(WebAssembly, "validate", validate);
      assert.equal(row.refusal, "");
      const model = await load(bytesOf(row.model), options);
      try {
        for (const side of ["inputs", "outputs"]) {
          const wanted = row[side].map(({ data, ...info }) => info);
          assert.deepEqual(model[side], wanted);
        }
        await compare(row, model);
      } finally {
        model.close();
      }
    });
  }
}
