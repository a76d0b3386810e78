/** Does what a model is asked for, in the thread that computes. */

import { Trap } from "./engine.js";
import { Session } from "./session.js";

/** Answers requests for one model, one after the other. */
export class Server {
  /** @type {Session | undefined} */
  #session;
  #startHelper;

  /** @param {() => import("./runners.js").Thread} startHelper Starts a worker for a thread. */
  constructor(startHelper) {
    this.#startHelper = startHelper;
  }

  /** Ends the model's threads; a worker's threads end with it. */
  end() {
    this.#session?.end();
  }

  /**
   * Returns the result of an action, or an error as plain values, which pass between threads.
   * @param {string} action
   * @param {any[]} args
   */
  async answer(action, args) {
    try {
      return { result: await this.#perform(action, args) };
    } catch (error) {
      // After a trap nothing is known of the memory; nothing else uses the instance.
      if (error instanceof Trap) {
        this.end();
        this.#session = undefined;
      }
      const message = error instanceof Error ? error.message : String(error);
      return { error: { message, isFatal: error instanceof Trap } };
    }
  }

  /**
   * @param {string} action
   * @param {any[]} args
   * @returns {Promise<any>}
   */
  async #perform(action, args) {
    if (action === "open") {
      const session = await Session.open({ ...args[0], startHelper: this.#startHelper });
      this.#session = session;
      return { inputs: session.inputs, outputs: session.outputs };
    }
    return /** @type {any} */ (this.#session)[action](...args);
  }
}
