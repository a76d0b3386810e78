/** Loads models; browsers and Node differ in the system that is handed over. */

import { Model } from "./model.js";
import { engineModule } from "./module_choice.js";
import { checkOptions } from "./options.js";
import { LocalRunner, WorkerRunner } from "./runners.js";

/**
 * @typedef {object} System
 * @property {() => import("./runners.js").Thread} startModel
 * @property {() => import("./runners.js").Thread} startHelper
 * @property {() => number} cores
 * @property {() => boolean} mayWait
 * @property {(address: URL) => Promise<WebAssembly.Module>} compile
 * @property {(place: string | URL, signal: AbortSignal | undefined,
 *   onProgress: ((progress: import("./download.js").Progress) => void) | undefined) =>
 *   Promise<Uint8Array>} readModel
 */

/**
 * @typedef {object} Options
 * @property {number} [threads]
 * @property {boolean} [worker]
 * @property {string} [signature]
 * @property {(progress: import("./download.js").Progress) => void} [onProgress]
 * @property {AbortSignal} [signal]
 */

/**
 * Returns a function that loads models.
 * @param {System} system
 */
export function loader(system) {
  /**
   * Returns the bytes of a file.
   * @param {string | URL} address
   * @param {string} name
   * @param {AbortSignal | undefined} signal
   * @param {((progress: import("./download.js").Progress) => void) | undefined} onProgress
   */
  async function read(address, name, signal, onProgress) {
    const content = await named(name, signal, system.readModel(address, signal, onProgress));
    checkIsNoPage(name, content);
    return content;
  }

  /**
   * @param {unknown} model
   * @param {Options} [options]
   */
  return async function load(model, options = {}) {
    checkOptions("load", options, OPTIONS);
    const { threads: asked = 1, worker = true, signature, onProgress, signal } = options;
    checkSignature(signature);
    const threads = countThreads(asked, system.cores(), worker || system.mayWait());
    signal?.throwIfAborted();
    const name = isAddress(model) ? `model '${model}'` : "model";
    const given = isAddress(model) ? undefined : copyOf(model);
    // The module and the worker's scripts come while the model does. A failure of the module is told
    // once, below.
    const compiling = engineModule(threads > 1, system.compile);
    compiling.catch(() => {});
    const runner = worker
      ? new WorkerRunner(system.startModel())
      : new LocalRunner(system.startHelper);
    try {
      const address = /** @type {string | URL} */ (model);
      const content = given ?? (await read(address, name, signal, onProgress));
      const module = await unlessAborted(compiling, signal);
      const title = `${name} (${content.length} bytes)`;
      const args = [{ module, content, signature, threads }];
      const opening = runner.call("open", args, [/** @type {ArrayBuffer} */ (content.buffer)]);
      return new Model(runner, await named(title, signal, unlessAborted(opening, signal)));
    } catch (error) {
      runner.close(/** @type {Error} */ (error));
      throw error;
    }
  };
}

const OPTIONS = ["threads", "worker", "signature", "onProgress", "signal"];

/** @param {string | undefined} signature */
function checkSignature(signature) {
  if (signature !== undefined && typeof signature !== "string") {
    throw new TypeError(
      `signature: expected a string, got ${typeof signature}; leave it out for the main graph`,
    );
  }
}

const MOST_THREADS = 64;

/**
 * Returns how many threads shall compute.
 * @param {number} threads
 * @param {number} cores
 * @param {boolean} mayWait Tells whether the thread that runs the model may wait for others.
 */
function countThreads(threads, cores, mayWait) {
  if (!Number.isInteger(threads) || threads < 1 || threads > MOST_THREADS) {
    throw new Error(`threads: expected 1 to ${MOST_THREADS}, got ${threads}`);
  }
  // Node has no such property, and its threads always share memory.
  if (threads > 1 && globalThis.crossOriginIsolated === false) {
    throw new Error(
      `threads: expected 1 on a page that is not cross-origin isolated, got ${threads}; serve the ` +
        "page and its scripts with the headers Cross-Origin-Opener-Policy: same-origin and " +
        "Cross-Origin-Embedder-Policy: require-corp",
    );
  }
  if (threads > 1 && !mayWait) {
    throw new Error(
      `threads: expected 1 with worker: false, got ${threads}: a page's own thread may not wait ` +
        "for others; leave worker at true",
    );
  }
  // Others would only wait for each other.
  return Math.min(threads, cores);
}

/**
 * Refuses a web page, which some servers send for an address that they do not know.
 * @param {string} name
 * @param {Uint8Array} content
 */
function checkIsNoPage(name, content) {
  const text = new TextDecoder().decode(content.subarray(0, 100));
  if (!/^\s*<(!doctype|html)/i.test(text)) return;
  throw new Error(
    `${name}: expected a .tflite file, got a web page, which some servers send for an address ` +
      "that they do not know; check the address",
  );
}

/**
 * @param {unknown} model
 * @returns {model is string | URL}
 */
const isAddress = (model) => typeof model === "string" || model instanceof URL;

/**
 * Returns a copy of bytes, which goes to the worker.
 * @param {unknown} model
 */
function copyOf(model) {
  if (ArrayBuffer.isView(model)) {
    return new Uint8Array(new Uint8Array(model.buffer, model.byteOffset, model.byteLength));
  }
  if (model instanceof ArrayBuffer) return new Uint8Array(model.slice(0));
  const kind = model === null || typeof model !== "object" ? String(model) : typeof model;
  throw new TypeError(
    `model: expected the address of a .tflite file, or its bytes, got ${kind}; of a File or ` +
      "Response pass await file.arrayBuffer()",
  );
}

/**
 * Puts the model's name before errors, but for those of the signal.
 * @template T
 * @param {string} name
 * @param {AbortSignal | undefined} signal
 * @param {Promise<T>} promise
 */
async function named(name, signal, promise) {
  try {
    return await promise;
  } catch (error) {
    signal?.throwIfAborted();
    const reason = /** @type {Error} */ (error);
    throw new Error(`${name}: ${reason.message}`, { cause: reason });
  }
}

/**
 * Returns the promise's result, or rejects as soon as the signal is aborted.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 */
function unlessAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
