/** Makes a worker a thread of an engine. */

import { systemOf } from "./wasi.js";

/**
 * Computes what the engine gives this worker, for as long as the worker lives.
 * @param {any} message What `startThreads` sent.
 * @param {() => void} ready
 */
export async function help({ module, memory, worker, stack, tls }, ready) {
  const system = systemOf(() => memory, memory);
  const instance = await WebAssembly.instantiate(
    /** @type {WebAssembly.Module} */ (module),
    system,
  );
  const functions = /** @type {any} */ (instance.exports);
  functions.__stack_pointer.value = stack;
  functions.__wasm_init_tls(tls);
  ready();
  functions.larq_engine_serve(worker);
}
