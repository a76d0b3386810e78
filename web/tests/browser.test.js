/** The package's files in a browser, as they are, under a strict policy. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { bytesOf, caseOf, casesOf, FOLDER, MODELS } from "./cases.js";
import { launch, open, serve, STRICT } from "./chromium.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
let browser;
let server;
before(async () => {
  browser = await launch();
  server = await serve({ web: ROOT, cases: FOLDER }, { "Content-Security-Policy": STRICT });
});
after(async () => {
  await browser.close();
  server.close();
});

/** Returns a page that has done nothing yet. */
const blank = () => open(browser, server.origin);
const addressOf = (name) => `/cases/${caseOf(name).model}`;

test("results are native to the bit, and all comes from the page's server", async () => {
  const rows = casesOf(...MODELS).map((row, index) => ({ ...row, worker: index % 8 === 0 }));
  const { page, requests, complaints } = await blank();
  const wrong = await page.evaluate(async (rows) => {
    const { load } = await import("/web/dist/index.js");
    const arrays = { float32: Float32Array, int8: Int8Array, uint8: Uint8Array, int32: Int32Array };
    arrays.int64 = BigInt64Array;
    arrays.bool = Uint8Array;
    const bytesOf = async ({ data }) => (await fetch(`/cases/${data}`)).arrayBuffer();
    const dataOf = async (tensor) => new arrays[tensor.dtype](await bytesOf(tensor));
    const wrong = [];
    for (const { title, model: file, inputs, outputs, worker } of rows) {
      const model = await load(`/cases/${file}`, { worker });
      const results = await model.predict(await Promise.all(inputs.map(dataOf)));
      model.close();
      for (const output of outputs) {
        const result = outputs.length === 1 ? results : results[output.name];
        const expected = new Uint8Array(await bytesOf(output));
        const got = new Uint8Array(result.buffer);
        const isEqual =
          got.length === expected.length && got.every((byte, place) => byte === expected[place]);
        if (!isEqual) wrong.push(`${title}: ${output.name}`);
      }
    }
    return wrong;
  }, rows);
  assert.deepEqual(wrong, []);
  assert.deepEqual(complaints, []);
  assert.ok(requests.length > rows.length);
  const elsewhere = requests.filter((address) => !address.startsWith(`${server.origin}/`));
  assert.deepEqual(elsewhere, []);
  await page.close();
});

test("a policy without WebAssembly is an error that says so", async () => {
  const strict = await serve(
    { web: ROOT, cases: FOLDER },
    { "Content-Security-Policy": STRICT.replace(" 'wasm-unsafe-eval'", "") },
  );
  const { page } = await open(browser, strict.origin);
  const message = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    return load(address).catch(({ message }) => message);
  }, addressOf("open batch"));
  assert.match(message, /^larq-engine: '.*larq_engine.wasm': .*Content Security Policy/);
  await page.close();
  strict.close();
});

test("a server that does not know the type of the module serves it too", async () => {
  const plain = await serve({ web: ROOT, cases: FOLDER }, { "Content-Type": "text/javascript" });
  const { page } = await open(browser, `${plain.origin}/web/package.json`);
  const y = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    return [...(await (await load(address)).predict(Float32Array.of(1, 2)))];
  }, addressOf("open batch"));
  assert.deepEqual(y, [2.5, -0.25]);
  await page.close();
  plain.close();
});

test("a type that names a charset does not keep the module from being compiled", async () => {
  const { page } = await blank();
  const types = ["application/wasm; charset=utf-8", " Application/WASM "];
  for (const type of types) {
    await page.route("**/*.wasm", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { "Content-Type": type } });
    });
    const y = await page.evaluate(async (address) => {
      const { load } = await import("/web/dist/index.js");
      return [...(await (await load(address)).predict(Float32Array.of(1, 2)))];
    }, addressOf("open batch"));
    assert.deepEqual(y, [2.5, -0.25], type);
    await page.unroute("**/*.wasm");
    await page.reload();
  }
  await page.close();
});

test("a page's own worker computes in its thread", async () => {
  const { page, complaints } = await blank();
  const y = await page.evaluate(async (address) => {
    const worker = new Worker("/web/tests/own_worker.js", { type: "module" });
    worker.postMessage(address);
    const { data } = await new Promise((resolve) => worker.addEventListener("message", resolve));
    return [...data];
  }, addressOf("open batch"));
  assert.deepEqual(y, [2.5, -0.25]);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a page's service worker computes in its thread", async () => {
  const { page, complaints } = await blank();
  const y = await page.evaluate(async (address) => {
    const script = "/web/tests/own_service_worker.js";
    const found = await navigator.serviceWorker.register(script, { type: "module" });
    const worker = found.installing ?? found.waiting ?? found.active;
    const answer = new Promise((resolve) => {
      navigator.serviceWorker.addEventListener("message", ({ data }) => resolve(data));
    });
    worker.postMessage(address);
    return Array.from(await answer);
  }, addressOf("open batch"));
  assert.deepEqual(y, [2.5, -0.25]);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("errors and closing reject promises, and a worker that cannot start does", async () => {
  const { page } = await blank();
  const messages = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    const told = (promise) => promise.then(String, ({ message }) => message);
    const model = await load(address);
    const waiting = model.predict(Float32Array.of(1, 2));
    model.close();
    const { Worker } = globalThis;
    globalThis.Worker = class extends Worker {
      constructor() {
        super("/web/missing.js", { type: "module" });
      }
    };
    const unstarted = load(address);
    return Promise.all([
      told(model.predict(Float32Array.of(1, 2))),
      told(waiting),
      told(unstarted),
      told(load("/missing")),
    ]);
  }, addressOf("open batch"));
  assert.match(messages[0], /one that was closed, by close\(\)/);
  assert.match(messages[1], /expected the model to stay open until the result was there/);
  assert.match(messages[2], /it ended \(its script could not be loaded\)/);
  assert.match(messages[3], /^model '\/missing': expected the server to send the file, got st/);
  await page.close();
});

test("a file of another origin, which may be compressed, has no total", async () => {
  const content = bytesOf(caseOf("large_k_int16_overflow.float").model);
  const compressed = gzipSync(content);
  const files = createServer((request, response) => {
    const headers = { "Content-Encoding": "gzip", "Content-Length": compressed.length };
    response.writeHead(200, { "Access-Control-Allow-Origin": "*", ...headers }).end(compressed);
  });
  await new Promise((resolve) => files.listen(0, "127.0.0.1", resolve));
  const pages = await serve({ web: ROOT });
  const { page } = await open(browser, pages.origin);
  const last = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    let last;
    (await load(address, { onProgress: (progress) => (last = progress) })).close();
    return last;
  }, `http://127.0.0.1:${files.address().port}/model.tflite`);
  assert.deepEqual(last, { loaded: content.length, total: null });
  await page.close();
  pages.close();
  files.close();
  files.closeAllConnections();
});

test("a download tells its progress, and ends with its signal", async () => {
  const { page } = await blank();
  const [last, name] = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    let last;
    const model = await load(address, { onProgress: (progress) => (last = progress) });
    model.close();
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const { signal } = controller;
    const name = await load(address, { onProgress, signal }).catch(({ name }) => name);
    return [last, name];
  }, addressOf("large_k_int16_overflow.float"));
  assert.equal(last.total, null);
  assert.ok(last.loaded > 30_000);
  assert.equal(name, "AbortError");
  await page.close();
});
