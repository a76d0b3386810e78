/** Starts workers in browsers. */

/** Starts a worker that computes a model. */
export const startModel = () =>
  // Bundlers look for this form.
  threadOf(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));

/** Starts a worker that helps to compute a model. */
export const startHelper = () =>
  threadOf(new Worker(new URL("./helper.js", import.meta.url), { type: "module" }));

/**
 * @param {Worker} worker
 * @returns {import("./runners.js").Thread}
 */
const threadOf = (worker) => ({
  post: (message, transfer) => worker.postMessage(message, transfer),
  onMessage(handle) {
    worker.addEventListener("message", ({ data }) => handle(data));
  },
  onFailure(handle) {
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      handle(event.message || "its script could not be loaded");
    });
    worker.addEventListener("messageerror", () => handle("a message could not be read"));
  },
  end: () => worker.terminate(),
  keepAlive() {},
});
