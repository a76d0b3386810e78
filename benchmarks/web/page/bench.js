/** Runs and times the contenders' models in this page; Python calls the functions of `bench`. */

import { measureLimits } from "./limits.js";

/**
 * @typedef {object} Loaded A model that an engine has opened.
 * @property {(data: any) => Promise<{ data: any, shape: number[] }[]>} run From a typed array to
 *   one for each output.
 * @property {() => Promise<string[]>} [kernels] The names of the kernels that it chose.
 */

/** @typedef {(address: string) => Promise<Loaded>} Open */

/** @type {Map<string, Promise<Open>>} The engines that were started, by their modules' names. */
const engines = new Map();

/** @type {Map<string, { model: Loaded, input?: any }>} */
const models = new Map();

const TYPES = { float32: Float32Array, int32: Int32Array, int8: Int8Array };

/**
 * Starts an engine, of which a page has one, also for several contenders.
 * @param {string} engine
 * @param {number} threads
 */
function start(engine, threads) {
  if (!engines.has(engine)) {
    engines.set(
      engine,
      import(`./engines/${engine}.js`).then((module) => module.start(threads)),
    );
  }
  return /** @type {Promise<Open>} */ (engines.get(engine));
}

/** @param {string} address */
async function fetchBytes(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`'${address}': expected a file, got status ${response.status}`);
  return response.arrayBuffer();
}

/** @param {{ data: any, shape: number[] }} tensor */
function asText({ data, shape }) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const type = Object.entries(TYPES).find(([, array]) => data instanceof array);
  if (!type) throw new Error(`expected one of ${Object.keys(TYPES)}, got ${data.constructor.name}`);
  return { type: type[0], shape, base64: btoa(text) };
}

/** @param {string} key */
const find = (key) => /** @type {{ model: Loaded, input?: any }} */ (models.get(key));

globalThis.bench = {
  measureLimits,

  /** @param {string} engine @param {number} threads */
  async start(engine, threads) {
    await start(engine, threads);
  },

  /**
   * Opens a model, and returns the names of its kernels if the engine tells them.
   * @param {string} engine
   * @param {number} threads
   * @param {string} key What the model is called from now on.
   * @param {string} address
   */
  async load(engine, threads, key, address) {
    const open = await start(engine, threads);
    const model = await open(address);
    models.set(key, { model });
    return (await model.kernels?.()) ?? [];
  },

  /**
   * Runs a model, and keeps the input for `time`.
   * @param {string} key
   * @param {string} address Where the input is.
   * @param {keyof typeof TYPES} type
   */
  async run(key, address, type) {
    const loaded = find(key);
    loaded.input = new TYPES[type](await fetchBytes(address));
    return (await loaded.model.run(loaded.input)).map(asText);
  },

  /**
   * Returns the nanoseconds of single runs.
   * @param {string} key
   * @param {number} seconds
   */
  async time(key, seconds) {
    const { model, input } = find(key);
    await model.run(input);
    const times = [];
    const end = performance.now() + seconds * 1e3;
    do {
      const begun = performance.now();
      await model.run(input);
      times.push((performance.now() - begun) * 1e6);
    } while (performance.now() < end);
    return times;
  },

  /**
   * Returns the milliseconds from now, when nothing is loaded, to the first answer.
   * @param {string} engine
   * @param {number} threads
   * @param {string} model
   * @param {string} input
   */
  async firstAnswer(engine, threads, model, input) {
    const data = new Float32Array(await fetchBytes(input));
    const begun = performance.now();
    const open = await start(engine, threads);
    const loaded = await open(model);
    await loaded.run(data);
    return performance.now() - begun;
  },
};
