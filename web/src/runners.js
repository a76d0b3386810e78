/** Runs a model in a worker of its own, or in the caller's thread, behind one interface. */

import { Server } from "./server.js";

/**
 * @typedef {object} Runner
 * @property {(action: string, args: any[], transfer: ArrayBuffer[]) => Promise<any>} call Returns
 *   the result of an action. Calls wait for each other.
 * @property {(reason: Error) => void} close Ends the model; calls that wait are rejected.
 */

/**
 * @typedef {object} Thread A worker, of browsers or of Node.
 * @property {(message: any, transfer: ArrayBuffer[]) => void} post
 * @property {(handle: (message: any) => void) => void} onMessage
 * @property {(handle: (reason: string) => void) => void} onFailure
 * @property {() => void} end
 * @property {(isBusy: boolean) => void} keepAlive Tells whether the program waits for the worker.
 */

/** An error after which the model cannot be used. */
export class FatalError extends Error {}

/** Runs a model in a worker. */
export class WorkerRunner {
  #thread;
  #id = 0;
  /** @type {Map<number, { resolve: (x: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  /** @type {Error | undefined} */
  #closed;

  /** @param {Thread} thread */
  constructor(thread) {
    this.#thread = thread;
    thread.keepAlive(false);
    thread.onMessage((message) => this.#settle(message));
    thread.onFailure((reason) =>
      this.close(
        new FatalError(
          `expected the model's worker to answer, but it ended (${reason}); the model is closed: ` +
            "load it again",
        ),
      ),
    );
  }

  /**
   * @param {string} action
   * @param {any[]} args
   * @param {ArrayBuffer[]} transfer
   */
  call(action, args, transfer) {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      const id = ++this.#id;
      // This throws if the arguments cannot be copied, and then no answer will come.
      this.#thread.post({ id, action, args }, transfer);
      this.#waiting.set(id, { resolve, reject });
      this.#thread.keepAlive(true);
    });
  }

  /** @param {Error} reason */
  close(reason) {
    this.#closed ??= reason;
    this.#thread.end();
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  /** @param {any} answer */
  #settle({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    // An answer may have been under way when the model was closed.
    if (!waiting) return;
    this.#waiting.delete(id);
    if (!this.#waiting.size) this.#thread.keepAlive(false);
    if (error) waiting.reject(errorOf(error));
    else waiting.resolve(result);
  }
}

/** Runs a model in the thread of the caller. */
export class LocalRunner {
  #startHelper;
  #server;
  /** @type {Promise<any>} */
  #last = Promise.resolve();
  /** @type {Error | undefined} */
  #closed;

  /** @param {() => Thread} startHelper */
  constructor(startHelper) {
    this.#startHelper = startHelper;
    this.#server = new Server(startHelper);
  }

  /**
   * @param {string} action
   * @param {any[]} args
   */
  call(action, args) {
    const answer = this.#last.then(async () => {
      if (this.#closed) throw this.#closed;
      const { result, error } = await this.#server.answer(action, args);
      if (this.#closed) throw this.#closed;
      if (error) throw errorOf(error);
      return result;
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** @param {Error} reason */
  close(reason) {
    this.#closed = reason;
    this.#last = this.#last.then(() => {
      this.#server.end();
      this.#server = new Server(this.#startHelper);
    });
  }
}

/** @param {{ message: string, isFatal: boolean }} error */
const errorOf = ({ message, isFatal }) => new (isFatal ? FatalError : Error)(message);
