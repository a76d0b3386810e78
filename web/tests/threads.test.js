/** Threads: what they may be asked for, and how they end. Results are in results.test.js. */

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { help } from "../src/help.js";
import { loader } from "../src/loading.js";
import { load } from "../src/node.js";
import * as system from "../src/node_system.js";
import { sharedMemory } from "../src/threads.js";
import { systemOf } from "../src/wasi.js";
import { bytesOf, caseOf, dataOf, FOLDER } from "./cases.js";
import { ISOLATED, launch, open, serve, STRICT } from "./chromium.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { model: file, inputs, outputs } = caseOf("relu_3x3.float");
const content = bytesOf(file);
const [x, y] = [dataOf(inputs[0]), dataOf(outputs[0])];

/** Node, on a machine that has the cores for all threads that are asked for here. */
const SYSTEM = { ...system, cores: () => 4 };

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("a number of threads that makes no sense is refused", async () => {
  for (const threads of [0, -1, 1.5, 65, "2", null]) {
    await assert.rejects(load(content, { threads }), {
      message: `threads: expected 1 to 64, got ${threads}`,
    });
  }
});

test("a browser without SIMD has no threads", async (context) => {
  context.mock.method(WebAssembly, "validate", () => false);
  await assert.rejects(load(content, { threads: 2 }), {
    message: "threads: expected 1 where WebAssembly has no SIMD, got more; leave it at 1",
  });
});

test("threads run again and again, and end with the model", async () => {
  const { load, ended } = watch();
  const model = await load(content, { threads: 4, worker: false });
  assert.equal(ended.length, 3);
  for (let run = 0; run < 50; ++run) assert.deepEqual(await model.predict(x), y);
  model.close();
  await Promise.all(ended);
});

test("a browser that does not tell its cores has one thread", async (context) => {
  const { cores } = await import("../src/browser.js");
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  context.after(() => {
    if (before) Object.defineProperty(globalThis, "navigator", before);
    else delete globalThis.navigator;
  });
  for (const [told, expected] of [
    [undefined, 1],
    [6, 6],
  ]) {
    const value = { hardwareConcurrency: told };
    Object.defineProperty(globalThis, "navigator", { value, configurable: true });
    assert.equal(cores(), expected);
  }
});

test("memory is shared with a lower limit where the browser shares no more", (context) => {
  const { Memory } = WebAssembly;
  let most = 8192;
  context.mock.method(WebAssembly, "Memory", function Memory_(limits) {
    if (limits.maximum > most) throw new RangeError("Out of memory");
    return new Memory(limits);
  });
  assert.ok(sharedMemory().buffer instanceof SharedArrayBuffer);
  most = 1000;
  assert.throws(() => sharedMemory(), { message: /^threads: expected memory that they can share/ });
});

test("threads start once for a model whose sizes are tried", async () => {
  const { load, ended } = watch();
  const { model: file, inputs } = caseOf("open image of no size");
  const model = await load(bytesOf(file), { threads: 3, worker: false });
  await model.predict(dataOf(inputs[0]));
  model.close();
  assert.ok(ended.length <= 4, `${ended.length}`); // for the sizes of the file, and for larger ones
});

test("the modules ask for what they are given, and for nothing else", async () => {
  const wanted = new Set();
  for (const kind of ["", "_plain", "_threads"]) {
    const bytes = readFileSync(join(ROOT, "wasm", `larq_engine${kind}.wasm`));
    const imports = WebAssembly.Module.imports(await WebAssembly.compile(bytes));
    for (const { module, name } of imports) wanted.add(`${module}.${name}`);
  }
  const memory = sharedMemory();
  const given = Object.entries(systemOf(() => memory, 2, memory)).flatMap(([module, functions]) =>
    Object.keys(functions).map((name) => `${module}.${name}`),
  );
  assert.deepEqual([...wanted].sort(), given.sort());
});

test("no more threads start than there are cores", async () => {
  const { load, ended } = watch();
  (await load(content, { threads: 9, worker: false })).close();
  assert.equal(ended.length, 3);
});

/**
 * Returns a function that loads models, and for each thread that it starts the promise of its end.
 */
function watch() {
  const ended = [];
  const load = loader({
    ...SYSTEM,
    startHelper() {
      const helper = system.startHelper();
      ended.push(new Promise((resolve) => helper.onFailure(resolve)));
      return helper;
    },
  });
  return { load, ended };
}

/** Replaces functions of the instances that are made here; threads have others. */
function replace(context, functionsOf) {
  const { instantiate } = WebAssembly;
  context.mock.method(WebAssembly, "instantiate", async (module, imports) => {
    const { exports } = await instantiate(module, imports);
    return { exports: { ...exports, ...functionsOf(exports) } };
  });
}

test("threads end if the model cannot be opened", async () => {
  const { load, ended } = watch();
  const opening = load(content.slice(0, 200), { threads: 3, worker: false });
  await assert.rejects(opening, { message: /^model \(200 bytes\): / });
  assert.equal(ended.length, 2);
  await Promise.all(ended);
});

test("threads end if there is no memory for another", async (context) => {
  const { load, ended } = watch();
  const isStack = (size) => size === 1 << 20;
  replace(context, ({ malloc }) => ({
    malloc: (size) => (isStack(size) && ended.length === 2 ? 0 : malloc(size)),
  }));
  await assert.rejects(load(content, { threads: 4, worker: false }), {
    message: /: expected 1048576 bytes of memory for a thread's stack, got none: /,
  });
  assert.equal(ended.length, 2);
  await Promise.all(ended);
});

test("threads end if one of them cannot start", async () => {
  const ended = [];
  const failing = loader({
    ...SYSTEM,
    startHelper() {
      const helper = system.startHelper();
      ended.push(new Promise((resolve) => helper.onFailure(resolve)));
      if (ended.length === 2) helper.end();
      return helper;
    },
  });
  await assert.rejects(failing(content, { threads: 4, worker: false }), {
    message: /: expected 3 more threads to start, but one ended \(status \d\)$/,
  });
  assert.equal(ended.length, 3);
  await Promise.all(ended);
});

test("threads end if a model of larger sizes fails", async (context) => {
  const { load, ended } = watch();
  let allocations = 0;
  replace(context, () => ({
    // The sizes that the file declares are refused, and others are not.
    larq_engine_model_allocate: () => (++allocations === 1 ? 1 : 0),
    larq_engine_model_signatures() {
      throw new WebAssembly.RuntimeError("unreachable");
    },
  }));
  const opening = load(bytesOf(caseOf("open image").model), { threads: 2, worker: false });
  await assert.rejects(opening, { message: /it stopped \(unreachable\)/ });
  assert.ok(ended.length > 1, "another engine has been opened");
  await Promise.all(ended);
});

test("a thread that ends before it is ready is an error", async () => {
  const failing = loader({
    ...SYSTEM,
    startHelper: () => ({
      post() {},
      onMessage() {},
      onFailure: (handle) => queueMicrotask(() => handle("no script")),
      end() {},
      keepAlive() {},
    }),
  });
  await assert.rejects(failing(content, { threads: 2, worker: false }), {
    message: /expected 1 more threads to start, but one ended \(no script\)$/,
  });
});

/**
 * Returns a function that loads models whose second thread has a stack of so many bytes, below which
 * there is no memory.
 */
const loadWithStack = (stack) =>
  loader({
    ...SYSTEM,
    startHelper() {
      const helper = system.startHelper();
      const post = (message, transfer) => helper.post({ ...message, stack }, transfer);
      return { ...helper, post };
    },
  });

test("a thread that stops inside of a job closes the model", async () => {
  const model = await loadWithStack(320)(content, { threads: 2, worker: false });
  await assert.rejects(
    async () => {
      for (let run = 0; run < 1000; ++run) assert.deepEqual(await model.predict(x), y);
    },
    { message: /^predict: expected the engine to return, but it stopped \(/ },
  );
  await assert.rejects(model.predict(x), { message: /^predict: expected an open model, got one/ });
});

test("a thread that stops outside of a job closes the model", async () => {
  const model = await loadWithStack(16)(content, { threads: 2, worker: false });
  await new Promise((resolve) => setTimeout(resolve, 500)); // the news comes with a later event
  await assert.rejects(model.predict(x), {
    message: /it stopped \(a thread ended: .*(out of bounds|unreachable)/,
  });
});

test("memory that grows under threads has the same results", async () => {
  const { model: file, inputs } = caseOf("open image");
  const [{ shape }] = inputs;
  const larger = [1, 1400, 1400, shape[3]];
  const image = Float32Array.from(
    { length: larger.reduce((all, size) => all * size, 1) },
    (_, place) => Math.sin(place),
  );
  const results = [];
  for (const threads of [1, 3]) {
    const model = await loader(SYSTEM)(bytesOf(file), { threads, worker: false });
    await model.predict(dataOf(inputs[0]));
    await model.resize([larger]);
    results.push(await model.predict(image));
    model.close();
  }
  assert.ok(image.byteLength + results[0].byteLength > 16 << 20, "memory had to grow");
  assert.deepEqual(results[0], results[1]);
});

test("a thread that stops tells those that wait for it in the memory", async (context) => {
  const told = [];
  const larq_engine_serve = () => {
    told.push("serve");
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const larq_engine_thread_trapped = () => told.push("trapped");
  const globals = { __stack_pointer: {}, __wasm_init_tls() {} };
  context.mock.method(WebAssembly, "instantiate", async () => ({
    exports: { ...globals, larq_engine_serve, larq_engine_thread_trapped },
  }));
  const helping = help({}, () => told.push("ready"));
  await assert.rejects(helping, { message: "unreachable" });
  assert.deepEqual(told, ["ready", "serve", "trapped"]);
});

test("a page that is isolated has threads, and gets the native results", async () => {
  const server = await serve(
    { web: ROOT, cases: FOLDER },
    { "Content-Security-Policy": STRICT, ...ISOLATED },
  );
  const { page, complaints } = await open(browser, server.origin);
  const results = await page.evaluate(
    async ([address, values]) => {
      const { load } = await import("/web/dist/index.js");
      Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 });
      const model = await load(address, { threads: 2 });
      const input = Float32Array.from(values);
      const results = [];
      for (let run = 0; run < 20; ++run) results.push([...(await model.predict(input))]);
      const waiting = model.predict(input);
      model.close();
      results.push(await waiting.catch(({ message }) => message));
      const here = load(address, { threads: 2, worker: false });
      results.push(await here.catch(({ message }) => message));
      return results;
    },
    [`/cases/${file}`, [...x]],
  );
  const [closed, here] = results.splice(-2);
  assert.equal(results.length, 20);
  for (const result of results) assert.deepEqual(result, [...y]);
  assert.match(closed, /expected the model to stay open until the result was there/);
  assert.match(here, /^threads: expected 1 with worker: false, got 2: a page's own thread/);
  assert.deepEqual(complaints, []);
  await page.close();
  server.close();
});

test("a thread of a page that fails before it is ready is an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "larq-engine-"));
  for (const name of ["dist", "wasm"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const helper = join(folder, "dist", "helper.js");
  const fails = "WebAssembly.instantiate = async () => { throw new RangeError('no memory'); };\n";
  writeFileSync(helper, fails + readFileSync(helper, "utf8"));
  const server = await serve({ web: folder, cases: FOLDER }, ISOLATED);
  const { page } = await open(browser, server.origin);
  const message = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 });
    return load(address, { threads: 2 }).catch(({ message }) => message);
  }, `/cases/${file}`);
  assert.match(
    message,
    /expected 1 more threads to start, but one ended \(RangeError: no memory\)$/,
  );
  await page.close();
  server.close();
  rmSync(folder, { recursive: true });
});

test("an isolated page is told which header its scripts lack", async () => {
  const server = await serve({ web: ROOT, cases: FOLDER }, ISOLATED, {});
  const { page } = await open(browser, server.origin);
  const message = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    return load(address).catch(({ message }) => message);
  }, `/cases/${file}`);
  assert.match(message, /cross-origin isolated it needs the header Cross-Origin-Embedder-Policy: /);
  await page.close();
  server.close();
});

test("a page that is not isolated is told which headers it lacks", async () => {
  const server = await serve({ web: ROOT, cases: FOLDER });
  const { page } = await open(browser, server.origin);
  const message = await page.evaluate(async (address) => {
    const { load } = await import("/web/dist/index.js");
    return load(address, { threads: 2 }).catch(({ message }) => message);
  }, `/cases/${file}`);
  assert.match(message, /^threads: expected 1 on a page that is not cross-origin isolated, got 2;/);
  await page.close();
  server.close();
});
