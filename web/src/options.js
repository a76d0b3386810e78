/** Checks the names of options. */

/**
 * Throws if an option is not known, so that a misspelt one is not taken for one left out.
 * @param {string} caller The function that has the options.
 * @param {unknown} options
 * @param {string[]} known
 */
export function checkOptions(caller, options, known) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${caller}: expected an object of options, got ${options}`);
  }
  const unknown = Object.keys(options).filter((option) => !known.includes(option));
  if (unknown.length) {
    throw new Error(
      `${caller}: expected options out of ${known.join(", ")}, got ${unknown.join(", ")}; ` +
        "correct the names",
    );
  }
}
