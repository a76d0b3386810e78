/** A model as users see it. */

import { parseData, parseShapes } from "./arguments.js";
import { checkOptions } from "./options.js";
import { FatalError } from "./runners.js";

/** @typedef {import("./tensors.js").Description} Description */

/** @param {Description[]} descriptions */
const infosOf = (descriptions) => descriptions.map(({ info }) => info);

/** A model that is open until `close`. */
export class Model {
  #runner;
  /** @type {Description[]} */
  #inputs;
  /** @type {Description[]} */
  #outputs;
  /** @type {string | undefined} What closed the model. */
  #closedBy;

  /**
   * @param {import("./runners.js").Runner} runner It has opened the model.
   * @param {{ inputs: Description[], outputs: Description[] }} described
   */
  constructor(runner, { inputs, outputs }) {
    this.#runner = runner;
    this.#inputs = inputs;
    this.#outputs = outputs;
  }

  /** Returns the names, types and shapes of the inputs. */
  get inputs() {
    return infosOf(this.#inputs);
  }

  /** Returns the names, types and shapes of the outputs. */
  get outputs() {
    return infosOf(this.#outputs);
  }

  /**
   * Runs the model on any number of samples.
   * @param {unknown} x
   */
  async predict(x) {
    this.#checkOpen("predict");
    const arrays = parseData(x, this.#inputs);
    /** @type {ArrayLike<number | bigint>[]} */
    const results = await this.#call("predict", [arrays], arrays);
    if (results.length === 1) return results[0];
    return Object.fromEntries(this.#outputs.map(({ info }, n) => [info.name, results[n]]));
  }

  /**
   * Gives the inputs other shapes, such as another image size.
   * @param {unknown} shapes
   */
  async resize(shapes) {
    this.#checkOpen("resize");
    const described = await this.#call("resize", [parseShapes(shapes, this.#inputs)], []);
    this.#inputs = described.inputs;
    this.#outputs = described.outputs;
  }

  /**
   * Times the model's operators.
   * @param {{ inputs?: unknown, runs?: number }} [options]
   */
  async profile(options = {}) {
    this.#checkOpen("profile");
    checkOptions("profile", options, ["inputs", "runs"]);
    const { inputs, runs = 10 } = options;
    if (!Number.isInteger(runs) || runs < 1) {
      throw new Error(`runs: expected a positive integer, got ${runs}`);
    }
    const arrays = inputs === undefined ? undefined : parseData(inputs, this.#inputs);
    return this.#call("profile", [arrays, runs], arrays ?? []);
  }

  /** Lets go of the memory. Calls that wait for results are rejected. */
  close() {
    if (this.#closedBy) return;
    this.#closedBy = "close()";
    this.#runner.close(
      new Error(
        "expected the model to stay open until the result was there, got close(); await the " +
          "results before closing the model",
      ),
    );
  }

  /** @param {string} what */
  #checkOpen(what) {
    if (this.#closedBy) {
      throw new Error(
        `${what}: expected an open model, got one that was closed, by ${this.#closedBy}; load it ` +
          "again",
      );
    }
  }

  /**
   * @param {string} action
   * @param {any[]} args
   * @param {{ buffer: ArrayBuffer }[]} arrays
   */
  async #call(action, args, arrays) {
    const buffers = arrays.map(({ buffer }) => buffer);
    try {
      return await this.#runner.call(action, args, buffers);
    } catch (error) {
      if (error instanceof FatalError && !this.#closedBy) {
        this.#closedBy = `an error: ${error.message}`;
        this.#runner.close(error);
      }
      const reason = /** @type {Error} */ (error);
      throw new Error(`${action}: ${reason.message}`, { cause: reason });
    }
  }
}
