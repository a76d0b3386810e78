/** Makes rows of the engine's times of operators. */

/**
 * Runs the model, whose inputs are set, so often, and returns a row for each step.
 * @param {import("./engine.js").Engine} engine
 * @param {number} runs
 */
export function readProfile(engine, runs) {
  engine.startProfile();
  for (let run = 0; run < runs; ++run) engine.run();
  return engine.readProfile().map((/** @type {any} */ step) => ({
    name: step.op,
    layer: step.layer,
    kernel: step.kernel,
    node: step.node,
    calls: step.calls,
    // Steps of a branch that the data did not take have no calls.
    ms: step.total_ns / Math.max(step.calls, 1) / 1e6,
    products: step.macs + step.absorbed_macs,
  }));
}
