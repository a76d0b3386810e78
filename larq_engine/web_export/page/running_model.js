/** A model with its facts on the page: it is loaded, and each run is timed. */

import { load } from "../engine/dist/index.js";
import { outputsOf } from "./answers.js";
import { Facts } from "./facts.js";
import { size, time } from "./text.js";

/** A model that is loaded when it is first needed. */
export class RunningModel {
  facts = new Facts();
  #address;
  #loading;
  #loadTime = 0;
  #hasAnswered = false;

  /**
   * @param {string} address
   * @param {number} bytes The size of the file.
   */
  constructor(address, bytes) {
    this.#address = address;
    this.facts.set("Model", size(bytes));
  }

  /**
   * Returns the model, which is loaded at the first call.
   * @param {(text: string) => void} [say] Hears how far it is.
   */
  load(say = () => {}) {
    const start = performance.now();
    this.#loading ??= load(this.#address, {
      onProgress: ({ loaded }) => say(`Loading the model: ${size(loaded)}`),
    }).then(
      (model) => {
        this.#loadTime = performance.now() - start;
        this.facts.set("Ready after", time(this.#loadTime));
        return model;
      },
      (error) => {
        this.#loading = undefined; // the next call tries again
        throw error;
      },
    );
    return this.#loading;
  }

  /**
   * Runs the model, and returns its outputs.
   * @param {any} x What `predict` takes.
   * @param {number[][]} [shapes] The shapes that the inputs get first.
   */
  async run(x, shapes) {
    const model = await this.load();
    const start = performance.now();
    if (shapes) await model.resize(shapes);
    const result = await model.predict(x);
    const taken = performance.now() - start;
    if (!this.#hasAnswered) this.facts.set("First answer after", time(this.#loadTime + taken));
    this.#hasAnswered = true;
    this.facts.set("Last answer", time(taken));
    return outputsOf(result, model.outputs);
  }
}
