/** Damaged files are refused with the native engine's words, or compute what it computes. */

import assert from "node:assert/strict";
import test from "node:test";

import { load } from "../src/node.js";
import { bytesOf, casesOf, dataOf } from "./cases.js";

const damaged = casesOf("damaged");

test("files of both sorts are tried", () => {
  const refused = damaged.filter(({ refusal }) => refusal);
  assert.ok(refused.length > 20 && refused.length < damaged.length, `${refused.length} refused`);
});

for (const row of damaged) {
  test(row.title, async () => {
    const content = bytesOf(row.model);
    if (row.refusal && !row.refuses_data) {
      const message = `model (${content.length} bytes): ${row.refusal}`;
      await assert.rejects(load(content, { worker: false }), { name: "Error", message });
      return;
    }
    const model = await load(content, { worker: false });
    const results = model.predict(row.inputs.map(dataOf));
    if (row.refuses_data) {
      await assert.rejects(results, { name: "Error", message: `predict: ${row.refusal}` });
    } else {
      const found = await results;
      const outputs = row.outputs.length === 1 ? [found] : Object.values(found);
      assert.deepEqual(outputs, row.outputs.map(dataOf));
    }
    model.close();
  });
}
