/** Threads for an instance of the engine: workers that share its memory and wait in it for work. */

/** Pages of 64 KB, as the module was linked: see wasm_module in larq_engine/build_defs.bzl. */
const FIRST_PAGES = 256;
const MOST_PAGES = 32768;

const STACK_BYTES = 1 << 20;
const STACK_ALIGNMENT = 16;

/** Returns memory that workers can share. */
export const sharedMemory = () =>
  new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES, shared: true });

/**
 * Starts workers as threads of an instance beside the caller's, and returns when all of them are
 * ready. If one fails, others may have started: whoever made them ends them.
 * @param {number} count
 * @param {() => import("./runners.js").Thread} startHelper
 * @param {object} instance
 * @param {WebAssembly.Module} instance.module
 * @param {WebAssembly.Memory} instance.memory
 * @param {any} instance.functions
 * @param {(size: number, what: string) => number} instance.take Takes memory.
 */
export async function startThreads(count, startHelper, { module, memory, functions, take }) {
  const takeVariables = () => {
    const alignment = functions.__tls_align.value;
    const place = take(functions.__tls_size.value + alignment, "a thread's variables");
    return roundDown(place + alignment - 1, alignment);
  };
  functions.__wasm_init_tls(takeVariables());
  const start = async () => {
    const worker = functions.larq_engine_add_worker();
    const message = {
      ...{ module, memory, worker, threads: count + 1 },
      // The stack grows down from its end.
      stack: roundDown(take(STACK_BYTES, "a thread's stack") + STACK_BYTES, STACK_ALIGNMENT),
      tls: takeVariables(),
    };
    const helper = startHelper();
    await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ reason) =>
        reject(new Error(`expected ${count} more threads to start, but one ended (${reason})`));
      helper.onMessage(({ error }) => (error === undefined ? resolve(undefined) : fail(error)));
      helper.onFailure(fail);
      helper.post(message, []);
    });
    // It does not keep a program alive whose model nobody uses.
    helper.keepAlive(false);
  };
  await Promise.all(Array.from({ length: count }, start));
}

/** @param {number} place @param {number} alignment */
const roundDown = (place, alignment) => place - (place % alignment);
