/** Does for the package what browsers do in their own way. */

import { download, request } from "./download.js";

/**
 * Starts a worker.
 * @returns {import("./runners.js").Thread}
 */
export function startThread() {
  // Bundlers look for this form.
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return {
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
  };
}

/**
 * Compiles a module while it is downloaded.
 * @param {URL} address
 */
export async function compile(address) {
  const response = await request(address, undefined);
  // Streaming needs this type, which some servers do not send, and refuses it with a charset.
  const type = (response.headers.get("Content-Type") ?? "").trim().toLowerCase();
  if (WebAssembly.compileStreaming && type === "application/wasm") {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

export { download as readModel };
