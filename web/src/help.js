/** Makes a worker a thread of an engine. */

import { systemOf } from "./wasi.js";

/**
 * Computes what the engine gives this worker, for as long as the worker lives.
 * @param {any} message What `startThreads` sent.
 * @param {(answer: { error?: string }) => void} post Tells that the thread is ready, or why not: a
 *   browser does not tell a worker's owner of promises that are rejected.
 */
export async function help(message, post) {
  let functions;
  try {
    functions = await threadOf(message);
  } catch (error) {
    return post({ error: String(error) });
  }
  post({});
  try {
    functions.larq_engine_serve(message.worker);
  } catch (error) {
    // The engine's other threads may wait in the memory for this one, and hear of no messages.
    functions.larq_engine_thread_trapped();
    throw error;
  }
}

/**
 * Returns the functions of an instance that runs as a thread of another.
 * @param {any} message
 */
async function threadOf({ module, memory, threads, stack, tls }) {
  const system = systemOf(() => memory, threads, memory);
  const instance = await WebAssembly.instantiate(
    /** @type {WebAssembly.Module} */ (module),
    system,
  );
  const functions = /** @type {any} */ (instance.exports);
  functions.__stack_pointer.value = stack;
  functions.__wasm_init_tls(tls);
  return functions;
}
