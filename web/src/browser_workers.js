/**
 * Starts workers in browsers. The one that computes a model is started elsewhere: it needs this file,
 * and older bundlers do not end with a worker whose files name it.
 */

/** Starts a worker that helps to compute a model. */
export const startHelper = () =>
  threadOf(new Worker(new URL("./helper.js", import.meta.url), { type: "module" }));

/**
 * @param {Worker} worker
 * @returns {import("./runners.js").Thread}
 */
export const threadOf = (worker) => ({
  post: (message, transfer) => worker.postMessage(message, transfer),
  onMessage(handle) {
    worker.addEventListener("message", ({ data }) => handle(data));
  },
  onFailure(handle) {
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      handle(event.message || whyNotLoaded());
    });
    worker.addEventListener("messageerror", () => handle("a message could not be read"));
  },
  end: () => worker.terminate(),
  keepAlive() {},
});

const whyNotLoaded = () =>
  globalThis.crossOriginIsolated
    ? "its script could not be loaded: on a page that is cross-origin isolated it needs the header " +
      "Cross-Origin-Embedder-Policy: require-corp, as the page does"
    : "its script could not be loaded";
