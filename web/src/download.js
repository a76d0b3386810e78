/** Downloads files, and tells how far it is. */

/**
 * @typedef {object} Progress
 * @property {number} loaded Bytes that have come.
 * @property {number | null} total Bytes of the file; null if the server does not tell them, or it
 *   is of another origin than the page.
 */

/**
 * Returns a server's answer, which is a success.
 * @param {string | URL} address
 * @param {AbortSignal | undefined} signal
 */
export async function request(address, signal) {
  const response = await fetch(address, { signal });
  if (!response.ok) {
    throw new Error(
      `expected the server to send the file, got status ${response.status} ` +
        `${response.statusText}; check the address`,
    );
  }
  return response;
}

/**
 * Returns the bytes of a file on a server.
 * @param {string | URL} address
 * @param {AbortSignal | undefined} signal
 * @param {((progress: Progress) => void) | undefined} onProgress
 */
export async function download(address, signal, onProgress) {
  const response = await request(address, signal);
  if (!response.body || !onProgress) return new Uint8Array(await response.arrayBuffer());
  // The length of a compressed answer is not that of the file, and browsers do not tell whether
  // an answer of another origin was compressed.
  const isUnknown = response.type === "cors" || response.headers.get("Content-Encoding");
  const length = isUnknown ? null : response.headers.get("Content-Length");
  const total = length === null ? null : Number(length);
  /** @type {Uint8Array[]} */
  const parts = [];
  let loaded = 0;
  const reader = response.body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const part = /** @type {Uint8Array} */ (value);
    parts.push(part);
    loaded += part.length;
    onProgress({ loaded, total });
  }
  const bytes = new Uint8Array(loaded);
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.length;
  }
  return bytes;
}
