/** Models come from files, servers and memory; what cannot be loaded says so. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";

import { load } from "../src/node.js";
import { bytesOf, caseOf } from "./cases.js";

const content = bytesOf(caseOf("relu_3x3.float").model);
const folder = mkdtempSync(join(tmpdir(), "larq-engine-"));
const path = join(folder, "model.tflite");
writeFileSync(path, content);
after(() => rmSync(folder, { recursive: true }));

/** The server sends the model in two parts, the second when it is told to. */
let server;
let release;
before(async () => {
  server = createServer((request, response) => {
    if (request.url === "/missing") return response.writeHead(404).end();
    if (request.url === "/unknown") {
      return response.writeHead(200).end("\n<!DOCTYPE html><title>Start</title>");
    }
    const told = request.url !== "/without-length";
    response.writeHead(200, told ? { "Content-Length": content.length } : {});
    response.write(content.subarray(0, 100));
    const finish = () => response.end(content.subarray(100));
    if (request.url === "/slow") release = finish;
    else finish();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(() => server.close());
const address = (name) => `http://127.0.0.1:${server.address().port}/${name}`;

test("a model comes from everywhere", async () => {
  const whole = new Uint8Array(content.length + 7);
  whole.set(content, 5);
  const sources = [
    path,
    pathToFileURL(path),
    pathToFileURL(path).href,
    address("model"),
    new URL(address("model")),
    content,
    content.buffer.slice(content.byteOffset, content.byteOffset + content.length),
    whole.subarray(5, 5 + content.length),
    new DataView(whole.buffer, 5, content.length),
  ];
  for (const source of sources) {
    const model = await load(source, { worker: false });
    assert.equal(model.inputs.length, 1);
    model.close();
  }
  assert.equal(content.length, bytesOf(caseOf("relu_3x3.float").model).length);
});

test("progress is told", async () => {
  for (const [source, total] of [
    [address("model"), content.length],
    [address("without-length"), null],
    [path, content.length],
  ]) {
    const told = [];
    const onProgress = (progress) => told.push(progress);
    (await load(source, { worker: false, onProgress })).close();
    assert.deepEqual(told.at(-1), { loaded: content.length, total });
    assert.ok(told.every(({ loaded }, index) => !index || loaded > told[index - 1].loaded));
  }
});

test("a signal ends a download", async () => {
  const controller = new AbortController();
  const reason = new Error("another page");
  const onProgress = () => controller.abort(reason);
  const loading = load(address("slow"), { signal: controller.signal, onProgress });
  await assert.rejects(loading, (error) => error === reason);
  release();
  const aborted = load(content, { signal: AbortSignal.abort(reason) });
  await assert.rejects(aborted, (error) => error === reason);
});

test("a signal ends the opening of a model", async () => {
  const controller = new AbortController();
  const loading = load(content, { signal: controller.signal });
  // The module is compiled by now; the worker has yet to start.
  setImmediate(() => controller.abort());
  await assert.rejects(loading, { name: "AbortError" });
});

test("what cannot be loaded says so", async () => {
  await assert.rejects(load(address("missing")), {
    message:
      `model '${address("missing")}': expected the server to send the file, got status 404 Not ` +
      "Found; check the address",
  });
  await assert.rejects(load(address("unknown")), {
    message:
      `model '${address("unknown")}': expected a .tflite file, got a web page, which some servers ` +
      "send for an address that they do not know; check the address",
  });
  const missing = join(folder, "missing.tflite");
  await assert.rejects(load(missing), {
    message: new RegExp(`^model '${missing}': ENOENT: no such file`),
  });
  for (const [model, kind] of [
    [5, "5"],
    [null, "null"],
    [undefined, "undefined"],
    [{}, "object"],
  ]) {
    await assert.rejects(load(model), {
      name: "TypeError",
      message:
        `model: expected the address of a .tflite file, or its bytes, got ${kind}; of a File or ` +
        "Response pass await file.arrayBuffer()",
    });
  }
  await assert.rejects(load(content, { thread: 2 }), {
    message:
      "load: expected options out of threads, worker, signature, onProgress, signal, got thread; " +
      "correct the names",
  });
  for (const [signature, kind] of [
    [5, "number"],
    [() => {}, "function"],
    [null, "object"],
  ]) {
    await assert.rejects(load(content, { signature }), {
      name: "TypeError",
      message: `signature: expected a string, got ${kind}; leave it out for the main graph`,
    });
  }
  writeFileSync(join(folder, "text"), "text");
  await assert.rejects(load(join(folder, "text")), {
    message: new RegExp(`^model '${folder}/text' \\(4 bytes\\): expected `),
  });
});
