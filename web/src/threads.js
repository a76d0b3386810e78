/** Threads for an instance of the engine: workers that share its memory and wait in it for work. */

/** Pages of 64 KB, as the module was linked: see wasm_module in larq_engine/build_defs.bzl. */
const FIRST_PAGES = 256;
const MOST_PAGES = 32768;

/** Safari on phones refuses to share as many; a model that needs fewer runs with fewer. */
const LEAST_MOST_PAGES = 4096;

const STACK_BYTES = 1 << 20;
const STACK_ALIGNMENT = 16;

/** Returns memory that workers can share, which may grow as far as the browser lets it. */
export function sharedMemory() {
  for (let maximum = MOST_PAGES; maximum >= LEAST_MOST_PAGES; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum, shared: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  throw new Error(
    "threads: expected memory that they can share, got none from the browser; close other models " +
      "and pages, or leave threads at 1",
  );
}

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
 * @param {(reason: string) => void} instance.onEnd Hears why a thread that was ready has ended.
 */
export async function startThreads(count, startHelper, { module, memory, functions, take, onEnd }) {
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
    helper.onFailure(onEnd);
    // It does not keep a program alive whose model nobody uses.
    helper.keepAlive(false);
  };
  await Promise.all(Array.from({ length: count }, start));
}

/** @param {number} place @param {number} alignment */
const roundDown = (place, alignment) => place - (place % alignment);
