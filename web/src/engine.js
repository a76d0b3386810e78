/** Calls the engine's C functions for models (larq_engine_model.h) in an instance of the module. */

import { sharedMemory, startThreads } from "./threads.js";
import { systemOf } from "./wasi.js";

const ERROR_BYTES = 1 << 12;
const FIRST_JSON_BYTES = 1 << 16;

/** The places of LarqEngineTensor's fields, which all have four bytes. */
const FIELDS = [
  "name",
  "tensor",
  "type",
  "rank",
  "dims",
  "openDims",
  "bytes",
  "data",
  "isConstant",
  "scales",
  "scale",
  "zeroPoint",
  "scaleDim",
];

/**
 * @typedef {object} Tensor
 * @property {string} name
 * @property {number} tensor The number in the model's graph.
 * @property {number} type The number of the element's type.
 * @property {number[]} dims The sizes that are allocated now.
 * @property {number[]} openDims The sizes as the file declares them, -1 for open ones.
 * @property {number} bytes
 * @property {number} data The place of the data in the memory.
 * @property {number[]} scales
 * @property {number[]} zeroPoints
 */

/**
 * @typedef {object} Opening What a model is opened with.
 * @property {WebAssembly.Module} module
 * @property {Uint8Array} content The bytes of a .tflite file.
 * @property {string | undefined} signature
 * @property {number} threads More than one needs a module that was built for threads.
 * @property {() => import("./runners.js").Thread} startHelper
 */

/** A model in an instance of its own, whose memory is free when nothing refers to it any more. */
export class Engine {
  /** @type {any} */
  #functions;
  /** @type {any} The memory, once the instance exists. */
  #storage;
  /** @type {import("./runners.js").Thread[]} */
  #helpers = [];
  /** @type {string | undefined} Why a thread has ended. */
  #failure;
  #model = 0;
  #error = 0;
  #struct = 0;

  /**
   * Opens a model, without allocating tensors.
   * @param {Opening} opening
   */
  static async open({ module, content, signature, threads, startHelper }) {
    const engine = new Engine();
    const isShared = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
    const shared = isShared ? sharedMemory() : undefined;
    const { exports } = await WebAssembly.instantiate(
      module,
      systemOf(() => engine.#storage, threads, shared),
    );
    engine.#functions = exports;
    engine.#storage = shared ?? /** @type {WebAssembly.Memory} */ (exports.memory);
    engine.#call("_initialize");
    engine.#error = engine.#take(ERROR_BYTES, "errors");
    engine.#struct = engine.#take(4 * FIELDS.length, "a tensor's description");
    try {
      if (shared && threads > 1) {
        const onEnd = (/** @type {string} */ reason) => (engine.#failure ??= reason);
        const take = engine.#take.bind(engine);
        const instance = { module, memory: shared, functions: exports, take, onEnd };
        await startThreads(threads - 1, () => engine.#own(startHelper()), instance);
      }
      engine.#open(content, signature, { num_threads: `${threads}` });
    } catch (error) {
      engine.end();
      throw error;
    }
    return engine;
  }

  /**
   * @param {Uint8Array} content
   * @param {string | undefined} signature
   * @param {Record<string, string>} options
   */
  #open(content, signature, options) {
    // The engine reads the file's constants where they are, so the file stays.
    const place = this.#take(content.length, "the model's file");
    this.#bytes().set(content, place);
    const keys = this.#texts(Object.keys(options));
    const values = this.#texts(Object.values(options));
    this.#model = this.#call(
      "larq_engine_model_open",
      ...[place, content.length, this.#text(signature), keys, values],
      ...[Object.keys(options).length, this.#error, ERROR_BYTES],
    );
    if (!this.#model) throw new Error(this.#textAt(this.#error));
  }

  /** @param {import("./runners.js").Thread} helper */
  #own(helper) {
    this.#helpers.push(helper);
    return helper;
  }

  /** Ends the threads. The model cannot run after that. */
  end() {
    for (const helper of this.#helpers) helper.end();
  }

  /** Returns the inputs. */
  inputs() {
    return this.#describeAll("input");
  }

  /** Returns the outputs. */
  outputs() {
    return this.#describeAll("output");
  }

  /**
   * Gives an input other sizes.
   * @param {number} input
   * @param {number[]} sizes
   */
  resize(input, sizes) {
    const place = this.#take(4 * sizes.length, "the sizes of an input");
    new Int32Array(this.#memory(), place, sizes.length).set(sizes);
    try {
      this.#try("resize", input, place, sizes.length);
    } finally {
      this.#call("free", place);
    }
  }

  /** Plans memory for the inputs' sizes. */
  allocate() {
    this.#try("allocate");
  }

  run() {
    this.#try("run");
  }

  /**
   * Copies data into a tensor.
   * @param {Tensor} tensor
   * @param {ArrayBufferView} array
   */
  write(tensor, array) {
    if (array.byteLength !== tensor.bytes) {
      throw new Error(
        `tensor '${tensor.name}': expected ${tensor.bytes} bytes, got ${array.byteLength}; give ` +
          "data of the sizes that are allocated",
      );
    }
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.#bytes().set(bytes, tensor.data);
  }

  /**
   * Copies data out of a tensor.
   * @param {Tensor} tensor
   */
  read(tensor) {
    return this.#bytes().slice(tensor.data, tensor.data + tensor.bytes).buffer;
  }

  /** Returns the names and numbers of the tensors of each signature. */
  signatures() {
    return this.#json("signatures").signatures;
  }

  /** Returns the tensors and operators. */
  graph() {
    return this.#json("graph");
  }

  startProfile() {
    this.#call("larq_engine_model_profile_start", this.#model);
  }

  /** Returns the times of the runs since `startProfile`. */
  readProfile() {
    return this.#json("profile_read").steps;
  }

  #memory() {
    return /** @type {ArrayBuffer} */ (this.#storage.buffer);
  }

  #bytes() {
    return new Uint8Array(this.#memory());
  }

  /**
   * @param {string} name
   * @param {...number} args
   */
  #call(name, ...args) {
    if (this.#failure) throw new Trap(new Error(`a thread ended: ${this.#failure}`));
    try {
      return this.#functions[name](...args);
    } catch (error) {
      throw new Trap(error);
    }
  }

  /**
   * Calls a function that returns 0, or 1 with a reason.
   * @param {string} name
   * @param {...number} args
   */
  #try(name, ...args) {
    if (this.#call(`larq_engine_model_${name}`, this.#model, ...args, this.#error, ERROR_BYTES)) {
      throw new Error(this.#textAt(this.#error));
    }
  }

  /**
   * Takes memory for good, or until it is given to `free`.
   * @param {number} size
   * @param {string} what
   */
  #take(size, what) {
    const place = this.#call("malloc", size) >>> 0;
    if (!place) {
      throw new Error(
        `expected ${size} bytes of memory for ${what}, got none: a module has at most 2 GB, and ` +
          "the system may have less; use a smaller model or batch, or close other models",
      );
    }
    return place;
  }

  /** @param {string | undefined} text */
  #text(text) {
    if (text === undefined) return 0;
    const bytes = new TextEncoder().encode(`${text}\0`);
    const place = this.#take(bytes.length, "a text");
    this.#bytes().set(bytes, place);
    return place;
  }

  /** @param {string[]} texts */
  #texts(texts) {
    const places = texts.map((text) => this.#text(text));
    const place = this.#take(4 * places.length, "texts");
    new Uint32Array(this.#memory(), place, places.length).set(places);
    return place;
  }

  /** @param {number} place */
  #textAt(place) {
    const bytes = this.#bytes();
    return new TextDecoder().decode(bytes.slice(place, bytes.indexOf(0, place)));
  }

  /** @param {string} name */
  #json(name) {
    for (let size = FIRST_JSON_BYTES; ;) {
      const place = this.#take(size, "a description of the model");
      try {
        const needed = this.#call(`larq_engine_model_${name}`, this.#model, place, size) >>> 0;
        if (needed < size) return JSON.parse(this.#textAt(place));
        size = needed + 1;
      } finally {
        this.#call("free", place);
      }
    }
  }

  /**
   * Returns numbers in the memory; none at address 0.
   * @param {Int32ArrayConstructor | Float32ArrayConstructor} Type
   * @param {number} place
   * @param {number} count
   */
  #numbers(Type, place, count) {
    return place ? Array.from(new Type(this.#memory(), place, count)) : [];
  }

  /** @param {"input" | "output"} side */
  #describeAll(side) {
    const count = this.#call(`larq_engine_model_${side}s`, this.#model);
    return Array.from({ length: count }, (_, number) => this.#describe(side, number));
  }

  /**
   * @param {"input" | "output"} side
   * @param {number} number
   * @returns {Tensor}
   */
  #describe(side, number) {
    this.#call(`larq_engine_model_${side}`, this.#struct, this.#model, number);
    const fields = new Uint32Array(this.#memory(), this.#struct, FIELDS.length);
    const found = Object.fromEntries(FIELDS.map((field, index) => [field, fields[index]]));
    const dims = this.#numbers(Int32Array, found.dims, found.rank);
    return {
      name: this.#textAt(found.name),
      tensor: found.tensor,
      type: found.type,
      dims,
      openDims: found.openDims ? this.#numbers(Int32Array, found.openDims, found.rank) : dims,
      bytes: found.bytes,
      data: found.data,
      scales: this.#numbers(Float32Array, found.scale, found.scales),
      zeroPoints: this.#numbers(Int32Array, found.zeroPoint, found.scales),
    };
  }
}

/** An end of the engine inside of a call, after which nothing is known of its memory. */
export class Trap extends Error {
  /** @param {unknown} cause */
  constructor(cause) {
    const reason = cause instanceof Error ? cause.message : "an exception of its own";
    super(
      `expected the engine to return, but it stopped (${reason}); the model is closed: load it ` +
        "again, and please report what led to this",
      { cause },
    );
  }
}
