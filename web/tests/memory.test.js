/** Memory is bounded: it is an error to need more, and use does not add to it. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { Engine } from "../src/engine.js";
import { load } from "../src/node.js";
import { bytesOf, caseOf } from "./cases.js";

/**
 * Returns the memories of the instances that are made from now on, as weak references, and how
 * many pieces of memory JavaScript has taken and not given back.
 */
function watch(context) {
  const seen = { memories: [], pieces: 0 };
  const { instantiate } = WebAssembly;
  // A mock of Node's would keep all instances, as results of its calls.
  WebAssembly.instantiate = async (module, imports) => {
    const { exports } = await instantiate(module, imports);
    seen.memories.push(new WeakRef(exports.memory));
    const malloc = (size) => {
      ++seen.pieces;
      return exports.malloc(size);
    };
    const free = (place) => {
      --seen.pieces;
      exports.free(place);
    };
    return { exports: { ...exports, malloc, free } };
  };
  context.after(() => {
    WebAssembly.instantiate = instantiate;
  });
  return seen;
}

test("2,000 predictions take no more memory", async (context) => {
  const seen = watch(context);
  const model = await load(bytesOf(caseOf("open batch").model), { worker: false });
  const use = async (run) => {
    await model.predict(new Float32Array(2 * ((run % 3) + 1)));
    if (run % 50 === 0) await model.profile({ runs: 1 });
  };
  for (let run = 0; run < 100; ++run) await use(run);
  const size = () => seen.memories[0].deref().buffer.byteLength;
  const before = [size(), seen.pieces];
  for (let run = 0; run < 2000; ++run) await use(run);
  assert.deepEqual([size(), seen.pieces], before);
});

test("models that were closed are freed", async (context) => {
  const { memories } = watch(context);
  const content = bytesOf(caseOf("open batch").model);
  const models = [];
  for (let open = 0; open < 200; ++open) {
    const model = await load(content, { worker: false });
    await model.predict(Float32Array.of(1, 2));
    model.close();
    models.push(model);
  }
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  const left = memories.filter((memory) => memory.deref()).length;
  assert.equal(memories.length, models.length);
  assert.ok(left < 5, `${left} of ${memories.length} memories are left`);
});

for (const worker of [true, false]) {
  test(`too much memory is an error, ${worker ? "in a worker" : "here"}`, async () => {
    const model = await load(bytesOf(caseOf("open image").model), { worker });
    for (const size of [14_000, 30_000, 2 ** 30]) {
      await assert.rejects(model.resize([[1, size, size, 2]]), {
        name: "Error",
        message: /^resize: .*(memory|bytes)/,
      });
    }
    await model.resize([[1, 3, 3, 2]]);
    assert.deepEqual(await model.predict(new Float32Array(18).fill(1)), Float32Array.of(18));
    model.close();
  });
}

test("a file that is larger than the memory is an error", async () => {
  const wasm = new URL("../wasm/larq_engine.wasm", import.meta.url);
  const module = await WebAssembly.compile(await readFile(wasm));
  await assert.rejects(Engine.open({ module, content: { length: 2 ** 31 }, threads: 1 }), {
    message: /^expected 2147483648 bytes of memory for the model's file, got none: a module has at/,
  });
});

test("data of another length than the tensor's are not written", async () => {
  const wasm = new URL("../wasm/larq_engine.wasm", import.meta.url);
  const module = await WebAssembly.compile(await readFile(wasm));
  const content = bytesOf(caseOf("batch of 2").model);
  const engine = await Engine.open({ module, content, threads: 1 });
  engine.allocate();
  const [x] = engine.inputs();
  for (const length of [3, 5]) {
    assert.throws(() => engine.write(x, new Float32Array(length)), {
      message: /^tensor 'x': expected 16 bytes, got (12|20); give data of the sizes that are alloc/,
    });
  }
});
