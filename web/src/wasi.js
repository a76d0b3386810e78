/**
 * Answers what the module asks of the system, which is a clock, sleep for threads and little else.
 * The engine opens no files, and messages come back as text.
 */

const SUCCESS = 0;

/**
 * Returns the imports of an instance.
 * @param {() => WebAssembly.Memory} memory Returns the instance's memory, once it exists.
 * @param {number} threads
 * @param {WebAssembly.Memory} [shared] The memory of an instance with threads.
 */
export function systemOf(memory, threads, shared) {
  const view = () => new DataView(memory().buffer);
  return {
    env: {
      ...(shared && { memory: shared }),
      emscripten_notify_memory_growth() {},
      // The C library for threads asks for these; it starts no threads by itself.
      __emscripten_init_main_thread_js() {},
      emscripten_num_logical_cores: () => threads,
    },
    // Only threads sleep, and wake others.
    larq_engine: {
      /** @param {number} address @param {number} old @param {number} milliseconds */
      sleep(address, old, milliseconds) {
        Atomics.wait(new Int32Array(memory().buffer), address >>> 2, old, milliseconds);
      },
      /** @param {number} address */
      wake(address) {
        Atomics.notify(new Int32Array(memory().buffer), address >>> 2);
      },
    },
    wasi_snapshot_preview1: {
      /** @param {number} _clock @param {bigint} _precision @param {number} time */
      clock_time_get(_clock, _precision, time) {
        view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
        return SUCCESS;
      },
      /** @param {number} status */
      proc_exit(status) {
        throw new Error(`the engine ended with status ${status}`);
      },
      /** @param {number} count @param {number} bytes */
      environ_sizes_get(count, bytes) {
        view().setUint32(count, 0, true);
        view().setUint32(bytes, 0, true);
        return SUCCESS;
      },
      environ_get: () => SUCCESS,
    },
  };
}
