/** What the package needs of a browser. */

import { download, request } from "./download.js";

/** Starts a worker. */
export function startThread() {
  // Bundlers look for this form.
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return {
    post: (/** @type {any} */ message, /** @type {ArrayBuffer[]} */ transfer) =>
      worker.postMessage(message, transfer),
    onMessage(/** @type {(message: any) => void} */ handle) {
      worker.addEventListener("message", ({ data }) => handle(data));
    },
    onFailure(/** @type {(reason: string) => void} */ handle) {
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
  // Streaming needs the type that some servers do not send.
  const type = response.headers.get("Content-Type") ?? "";
  if (WebAssembly.compileStreaming && type.startsWith("application/wasm")) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

export { download as readModel };
