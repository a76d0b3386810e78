/** Writes numbers for people. */

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${digits(bytes / 1e3)} kB` : `${digits(bytes / 1e6)} MB`;
}

/** @param {number} ms Milliseconds. */
export function time(ms) {
  if (ms < 1) return `${digits(ms * 1e3)} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1e3)} s`;
}

/**
 * Returns a number with three digits.
 * @param {number} value
 */
export const digits = (value) =>
  Math.abs(value) >= 999.5 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
