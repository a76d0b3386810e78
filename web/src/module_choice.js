/** Chooses the module that this browser runs, and compiles it once for all models of a page. */

/**
 * The smallest module with an instruction of SIMD128: a function that returns a vector's first
 * byte.
 */
const WITH_SIMD = new Uint8Array([
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic number and version
  ...[1, 5, 1, 96, 0, 1, 127], // type 0: () -> i32
  ...[3, 2, 1, 0], // function 0 has type 0
  ...[10, 11, 1, 9, 0, 65, 0, 253, 15, 253, 22, 0, 11], // the lane 0 of a splat of 0
]);

/** @type {Map<string, Promise<WebAssembly.Module>>} */
const compiled = new Map();

/**
 * Returns the engine's module.
 * @param {boolean} hasThreads
 * @param {(address: URL) => Promise<WebAssembly.Module>} compile
 */
export function engineModule(hasThreads, compile) {
  const address = addressFor(hasThreads);
  const known = compiled.get(address.href);
  if (known) return known;
  const made = compile(address).catch((error) => {
    // The next model tries again: a network may come back.
    compiled.delete(address.href);
    throw new Error(`larq-engine: '${address.href}': ${error.message}`, { cause: error });
  });
  compiled.set(address.href, made);
  return made;
}

/**
 * Returns the address of the module that this browser runs fastest.
 * @param {boolean} hasThreads
 */
function addressFor(hasThreads) {
  // Bundlers look for this form.
  if (WebAssembly.validate(WITH_SIMD)) {
    return hasThreads
      ? new URL("../wasm/larq_engine_threads.wasm", import.meta.url)
      : new URL("../wasm/larq_engine.wasm", import.meta.url);
  }
  if (hasThreads) {
    throw new Error("threads: expected 1 where WebAssembly has no SIMD, got more; leave it at 1");
  }
  return new URL("../wasm/larq_engine_plain.wasm", import.meta.url);
}
