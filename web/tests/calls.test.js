/** Calls of users get what the native package gives, or its errors. */

import assert from "node:assert/strict";
import test from "node:test";

import { load } from "../src/node.js";
import { bytesOf, caseOf } from "./cases.js";

const open = (name, options) => load(bytesOf(caseOf(name).model), { worker: false, ...options });

test("an open batch takes any number of samples", async () => {
  const model = await open("open batch");
  for (const samples of [1, 3, 2, 17]) {
    const x = Float32Array.from({ length: 2 * samples }, (_, index) => index);
    const expected = x.map((value, index) => value + [1.5, -2.25][index % 2]);
    assert.deepEqual(await model.predict(x), expected);
  }
  assert.deepEqual(model.inputs[0].shape, [-1, 2]);
});

test("more samples than the memory of one run are cut into runs", async (context) => {
  const { instantiate } = WebAssembly;
  let runs = 0;
  context.mock.method(WebAssembly, "instantiate", async (module, imports) => {
    const { exports } = await instantiate(module, imports);
    const larq_engine_model_run = (...args) => {
      ++runs;
      return exports.larq_engine_model_run(...args);
    };
    return { exports: { ...exports, larq_engine_model_run } };
  });
  const model = await open("open batch");
  const x = Float32Array.from({ length: 2 * 5_000_000 }, (_, index) => index % 1000);
  const y = await model.predict(x);
  // Each sample has 16 bytes of activations, and a run takes 64 MiB of them.
  assert.equal(runs, 2);
  assert.equal(y.length, x.length);
  assert.equal(y.at(-1), 999 - 2.25);
  assert.equal(y.at(-2), 998 + 1.5);
});

test("a fixed batch takes multiples of it", async () => {
  const model = await open("batch of 2");
  assert.deepEqual(
    await model.predict(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8)),
    Float32Array.of(2.5, -0.25, 4.5, 1.75, 6.5, 3.75, 8.5, 5.75),
  );
  await assert.rejects(model.predict(new Float32Array(6)), {
    message:
      "predict: inputs: expected a multiple of 2 samples, the batch that the model fixes, got 3; " +
      "fill up the last batch, or use a model with an open batch",
  });
});

test("several inputs come as a list or by name, and outputs by name", async () => {
  const model = await open("two of each");
  assert.deepEqual(
    model.inputs.map(({ name }) => name),
    ["left", "right"],
  );
  const [left, right] = [Float32Array.of(1, 2, 3), Float32Array.of(4, 5, 6)];
  const expected = { total: Float32Array.of(5, 7, 9), product: Float32Array.of(4, 10, 18) };
  assert.deepEqual(await model.predict([left, right]), expected);
  assert.deepEqual(await model.predict({ right, left }), expected);
});

test("a signature is chosen by its key", async () => {
  const model = await open("two of each", { signature: "signature_0" });
  assert.deepEqual(
    model.outputs.map(({ name }) => name),
    ["total", "product"],
  );
  await assert.rejects(open("two of each", { signature: "serve" }), {
    message: /expected a signature of the model \(.*signature_0.*\), got 'serve'$/,
  });
});

test("a quantized input says its scale, and takes numbers of its own type", async () => {
  const model = await open("quantized");
  const { scale, zeroPoint } = model.inputs[0];
  assert.deepEqual({ scale, zeroPoint }, { scale: 0.5, zeroPoint: 3 });
  assert.deepEqual(await model.predict(Int8Array.of(3, 5, -1, 127)), Float32Array.of(0, 1, -2, 62));
  await assert.rejects(model.predict(new Float32Array(4)), {
    name: "TypeError",
    message:
      "input 'x' (#0): expected int8, got float32, which cannot be cast without loss; convert it " +
      "on purpose: Int8Array.from(x)",
  });
});

test("integers that a float holds are converted", async () => {
  const model = await open("open batch");
  for (const type of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array]) {
    assert.deepEqual(await model.predict(type.of(1, 2)), Float32Array.of(2.5, -0.25));
  }
  for (const type of [Float64Array, Int32Array, Uint32Array, BigInt64Array]) {
    await assert.rejects(model.predict(new type(2)), { name: "TypeError" });
  }
});

test("wrong data are refused by name", async () => {
  const one = await open("open batch");
  const two = await open("two of each");
  const x = new Float32Array(3);
  const wrong = [
    [
      one,
      x,
      /^predict: input 'x' \(#0\): expected shape \(N, 2\), so 2 for each of N samples, got 3 num/,
    ],
    [one, new Float32Array(0), /got 0 numbers/],
    [one, [1, 2], /^inputs: expected 1 array\(s\), for 'x' \(#0\), got 2; a list holds one array/],
    [one, [[1, 2]], /^input 'x' \(#0\): expected a typed array, got Array; make one of float32/],
    [one, null, /^predict: expected a typed array, .*, got null$/],
    [one, 5, /^predict: expected a typed array, .*, got number$/],
    [one, new DataView(new ArrayBuffer(8)), /, got DataView$/],
    [one, new ArrayBuffer(8), /, got ArrayBuffer$/],
    [one, { y: x }, /^inputs: expected the names \['x'\], got \['y'\]; see model.inputs$/],
    [two, x, /^inputs: expected 2 array\(s\), for 'left' \(#0\), 'right' \(#1\), got 1;/],
    [two, [x, new Float32Array(6)], /expected the same number of samples for each, got left: 1/],
    [two, { left: x }, /^inputs: expected the names \['left', 'right'\], got \['left'\];/],
    [two, { left: x, right: x, toString: x }, /got \['left', 'right', 'toString'\]/],
  ];
  for (const [model, data, message] of wrong)
    await assert.rejects(model.predict(data), { message });
});

test("data may change as soon as predict has returned", async () => {
  const model = await open("open batch", { worker: true });
  const x = Float32Array.of(1, 2);
  const y = model.predict(x);
  x.fill(100);
  assert.deepEqual(await y, Float32Array.of(2.5, -0.25));
  model.close();
});

test("a part of a larger buffer is an array like others", async () => {
  const model = await open("open batch");
  const x = new Float32Array(Float32Array.of(9, 1, 2, 9).buffer, 4, 2);
  assert.deepEqual(await model.predict(x), Float32Array.of(2.5, -0.25));
});

test("an image's size that the file leaves open can be changed", async () => {
  const model = await open("open image");
  assert.deepEqual(model.inputs[0].shape, [-1, -1, -1, 2]);
  await model.resize([[1, 4, 5, 2]]);
  assert.deepEqual(await model.predict(new Float32Array(40).fill(1)), new Float32Array(6).fill(18));
  await model.resize({ x: [1, 3, 3, 2] });
  assert.deepEqual(await model.predict(new Float32Array(18).fill(1)), Float32Array.of(18));
  await assert.rejects(model.resize({ x: [1, 2, 2, 2] }), { message: /^resize: / });
  // The shapes are then as before.
  assert.deepEqual(await model.predict(new Float32Array(18).fill(1)), Float32Array.of(18));
});

test("data are compared with the sizes that calls before have given", async () => {
  for (const worker of [true, false]) {
    const model = await open("open image", { worker });
    await model.resize([[1, 3, 3, 2]]);
    const enlarged = model.resize([[1, 4, 5, 2]]);
    const tooFew = model.predict(new Float32Array(18));
    const right = model.predict(new Float32Array(40).fill(1));
    const profile = model.profile({ runs: 1 });
    await assert.rejects(tooFew, {
      message:
        "predict: input 'x' (#0): expected shape (N, 4, 5, 2), so 40 for each of N samples, got " +
        "18 numbers; give data of that shape, or let the model take this one with model.resize",
    });
    assert.deepEqual(await right, new Float32Array(6).fill(18));
    assert.ok((await profile).length > 0);
    await enlarged;
    const reduced = model.resize([[1, 3, 3, 2]]);
    await assert.rejects(model.predict(new Float32Array(40)), { message: /, got 40 numbers; / });
    await reduced;
    model.close();
  }
});

test("an input that a resize leaves out keeps the size that a call before gave", async () => {
  const model = await open("open image");
  await Promise.all([model.resize([[1, 4, 5, 2]]), model.resize({})]);
  assert.deepEqual(await model.predict(new Float32Array(40).fill(1)), new Float32Array(6).fill(18));
  model.close();
});

test("wrong shapes are refused by name", async () => {
  const model = await open("open image");
  const wrong = [
    [{ y: [1, 3, 3, 2] }, /^resize: expected names out of \['x'\], got \['y'\]; see model.inputs$/],
    [[], /^resize: expected 1 shape\(s\), one for each input, got 0;/],
    [[[1, 3, 3]], /^resize: input 'x' \(#0\): expected 4 positive 32-bit sizes.*\[1,3,3\]$/],
    [[[1, 3, 0, 2]], /expected 4 positive 32-bit sizes/],
    [[[1, 3, 2 ** 31, 2]], /expected 4 positive 32-bit sizes/],
    [[[1, 3, 1.5, 2]], /expected 4 positive 32-bit sizes/],
    [7, /^resize: expected a list of shapes, or an object from input name to shape, got number;/],
  ];
  for (const [shapes, message] of wrong) await assert.rejects(model.resize(shapes), { message });
});

test("a profile has a row for each step", async () => {
  const model = await load(bytesOf(caseOf("relu_3x3.float").model), { worker: false });
  const rows = await model.profile({ runs: 3 });
  assert.ok(rows.length > 0);
  assert.ok(rows.some(({ name }) => name.includes("LceB")));
  for (const row of rows) {
    assert.equal(row.calls, 3);
    assert.ok(row.ms >= 0);
    assert.equal(typeof row.layer, "string");
  }
  assert.ok(rows.some(({ products }) => products > 0));
  await assert.rejects(model.profile({ runs: 0 }), {
    message: "runs: expected a positive integer, got 0",
  });
  await assert.rejects(model.profile({ run: 3 }), {
    message: "profile: expected options out of inputs, runs, got run; correct the names",
  });
  await assert.rejects(model.profile(null), {
    message: "profile: expected an object of options, got null",
  });
});
