/** Calls wait for each other; a model that is closed or has failed says so. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { Worker } from "node:worker_threads";

import { loader } from "../src/loading.js";
import { load } from "../src/node.js";
import * as system from "../src/node_system.js";
import { WorkerRunner } from "../src/runners.js";
import { bytesOf, caseOf, dataOf } from "./cases.js";

const { model: file, inputs, outputs } = caseOf("relu_3x3.float");
const content = bytesOf(file);
const [x, y] = [dataOf(inputs[0]), dataOf(outputs[0])];
const sum = bytesOf(caseOf("open batch").model);

for (const worker of [true, false]) {
  const where = worker ? "in a worker" : "here";

  test(`calls wait for each other, ${where}`, async () => {
    const model = await load(sum, { worker });
    const order = [];
    const results = Array.from({ length: 20 }, async (_, index) => {
      const result = await model.predict(Float32Array.of(index, 0));
      order.push(index);
      return result[0];
    });
    const expected = [...Array(20).keys()];
    assert.deepEqual(
      await Promise.all(results),
      expected.map((value) => value + 1.5),
    );
    assert.deepEqual(order, expected);
    model.close();
  });

  test(`closing rejects what waits, ${where}`, async () => {
    const model = await load(content, { worker });
    const waiting = [model.predict(x), model.predict(x), model.profile()];
    model.close();
    for (const [index, result] of waiting.entries()) {
      await assert.rejects(result, {
        name: "Error",
        message:
          `${index < 2 ? "predict" : "profile"}: expected the model to stay open until the ` +
          "result was there, got close(); await the results before closing the model",
      });
    }
    model.close();
    const closed = /: expected an open model, got one that was closed, by close\(\); load/;
    await assert.rejects(model.predict(x), { message: closed });
    await assert.rejects(model.resize([]), { message: closed });
    await assert.rejects(model.profile(), { message: closed });
  });

  test(`an error leaves the model usable, ${where}`, async () => {
    const model = await load(bytesOf(caseOf("batch of 2").model), { worker });
    await assert.rejects(model.predict(new Float32Array(2)), { message: /a multiple of 2/ });
    assert.deepEqual(
      await model.predict(Float32Array.of(1, 2, 3, 4)),
      Float32Array.of(2.5, -0.25, 4.5, 1.75),
    );
    model.close();
  });
}

test("two models run at the same time", async () => {
  const models = await Promise.all([load(content), load(content)]);
  for (const result of await Promise.all(models.map((model) => model.predict(x)))) {
    assert.deepEqual(result, y);
  }
  for (const model of models) model.close();
});

test("a trap closes the model", async (context) => {
  const { instantiate } = WebAssembly;
  context.mock.method(WebAssembly, "instantiate", async (module, imports) => {
    const { exports } = await instantiate(module, imports);
    const larq_engine_model_run = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    return { exports: { ...exports, larq_engine_model_run } };
  });
  const model = await load(sum, { worker: false });
  const stopped = /expected the engine to return, but it stopped \(unreachable\); the mo/;
  await assert.rejects(model.predict(new Float32Array(2)), { message: stopped });
  await assert.rejects(model.predict(new Float32Array(2)), {
    message: /^predict: expected an open model, got one that was closed, by an error: expected the/,
  });
});

/** Returns a function that loads models in a worker of this script. */
const loadIn = (script) =>
  loader({
    ...system,
    startModel() {
      const worker = new Worker(script, { eval: true });
      return {
        post: (message, transfer) => worker.postMessage(message, transfer),
        onMessage: (handle) => worker.on("message", handle),
        onFailure(handle) {
          worker.on("error", ({ message }) => handle(message));
          worker.on("exit", (status) => handle(`status ${status}`));
        },
        end: () => worker.terminate(),
        keepAlive() {},
      };
    },
  });

test("a worker that throws rejects what waits", async () => {
  await assert.rejects(loadIn("throw new Error('no script')")(sum), {
    message: /^model \(\d+ bytes\): expected the model's worker to answer, but it ended \(no sc/,
  });
  await assert.rejects(loadIn("process.exit(3)")(sum), { message: /it ended \(status 3\)/ });
});

test("a worker that throws later closes the model", async () => {
  const opens = "const described = { inputs: [], outputs: [] };";
  const script = `${opens} const { parentPort } = require("node:worker_threads");
    parentPort.on("message", ({ id, action }) => {
      if (action !== "open") throw new Error("out of memory");
      parentPort.postMessage({ id, result: described });
    });`;
  const model = await loadIn(script)(sum);
  await assert.rejects(model.predict([]), { message: /it ended \(out of memory\)/ });
  await assert.rejects(model.predict([]), { message: /one that was closed, by an error/ });
});

test("a worker that ends while nobody waits closes the model", async () => {
  let end;
  const ending = loader({
    ...system,
    startModel() {
      const thread = system.startModel();
      end = () => new Promise((resolve) => (thread.onFailure(resolve), thread.end()));
      return thread;
    },
  });
  const model = await ending(sum);
  await end();
  await assert.rejects(model.predict(Float32Array.of(1, 2)), {
    message: /^predict: expected the model's worker to answer, but it ended \(status \d+\); the/,
  });
  await assert.rejects(model.predict(Float32Array.of(1, 2)), {
    message: /^predict: expected an open model, got one that was closed, by an error: expected /,
  });
});

test("a call that cannot be sent does not keep its runner waiting", async () => {
  let isBusy = false;
  const runner = new WorkerRunner({
    post: (message) => structuredClone(message),
    onMessage() {},
    onFailure() {},
    end() {},
    keepAlive(value) {
      isBusy = value;
    },
  });
  await assert.rejects(runner.call("predict", [() => {}], []), { name: "DataCloneError" });
  assert.equal(isBusy, false);
});

test("a program ends although it leaves a model open, and waits for results", () => {
  const program = `
    import { load } from ${JSON.stringify(new URL("../src/node.js", import.meta.url))};
    const model = await load(Uint8Array.from(${JSON.stringify([...sum])}));
    model.predict(Float32Array.of(1, 2)).then((y) => console.log(y.join()));`;
  const flags = ["--input-type=module", "--eval", program];
  assert.equal(execFileSync(process.execPath, flags, { encoding: "utf8" }), "2.5,-0.25\n");
});
