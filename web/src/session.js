/** Runs an open model: gives it sizes, samples in batches, and reads the results. */

import { dtypeOfName } from "./dtypes.js";
import { Engine, Trap } from "./engine.js";
import { readProfile } from "./profile.js";
import { countSamples } from "./samples.js";
import { describe, dtypeOfInput, haveBatch, product } from "./tensors.js";

/** @typedef {import("./tensors.js").Description} Description */
/** @typedef {ArrayBufferView & { length: number }} Numbers A typed array. */

/** A size that the file leaves open is doubled so often, up to 1,024, until the model takes it. */
const DOUBLINGS = 10;

/**
 * The most bytes of activations in one run of an enlarged batch, so that many samples do not fill
 * the memory.
 */
const MAX_ACTIVATION_BYTES = 64 << 20;

/** A model that is open, in the thread that computes. */
export class Session {
  #engine;
  #names;
  /** @type {import("./engine.js").Tensor[]} The inputs as they are allocated. */
  #inputs;
  /** @type {import("./engine.js").Tensor[]} The outputs as they are allocated. */
  #outputs;
  /** @type {number[][]} The sizes that are allocated. */
  #sizes;
  /** @type {Set<number>} Batches that the model was seen to take. */
  #tried = new Set();
  #isFlexible;
  #activationBytes = 0;

  /**
   * Opens a model and allocates its tensors for the sizes that the file declares.
   * @param {import("./engine.js").Opening} opening
   */
  static async open(opening) {
    const first = await Engine.open(opening);
    try {
      first.allocate();
      return new Session(first, opening.signature);
    } catch (error) {
      first.end();
      if (error instanceof Trap) throw error;
      const larger = await openLarger(first.inputs(), opening);
      if (!larger) throw error;
      try {
        return new Session(larger, opening.signature);
      } catch (failure) {
        larger.end();
        throw failure;
      }
    }
  }

  /**
   * @param {Engine} engine
   * @param {string | undefined} signature
   */
  constructor(engine, signature) {
    this.#engine = engine;
    const signatures = engine.signatures();
    const keys = Object.keys(signatures);
    const key = signature ?? (keys.length === 1 ? keys[0] : undefined);
    this.#names = key === undefined ? undefined : signatures[key];
    this.#inputs = engine.inputs();
    this.#outputs = engine.outputs();
    this.inputs = describe(this.#inputs, this.#names?.inputs);
    this.outputs = describe(this.#outputs, this.#names?.outputs);
    this.#sizes = this.inputs.map(({ sizes }) => sizes);
    this.#isFlexible = this.inputs.every(({ info }) => info.shape[0] === -1);
  }

  /** Ends the model's threads. */
  end() {
    this.#engine.end();
  }

  /**
   * Gives the inputs other sizes, which are then the declared ones.
   * @param {(number[] | undefined)[]} sizes Those of each input; undefined leaves an input's own.
   */
  resize(sizes) {
    this.#allocate(sizes.map((shape, number) => shape ?? this.inputs[number].sizes));
    this.#tried.clear();
    this.#activationBytes = 0;
    this.inputs = describe(this.#inputs, this.#names?.inputs);
    this.outputs = describe(this.#outputs, this.#names?.outputs);
    return { inputs: this.inputs, outputs: this.outputs };
  }

  /**
   * Runs the model on samples, in as many runs as its batch needs.
   * @param {Numbers[]} arrays One for each input, of its type.
   */
  predict(arrays) {
    const samples = countSamples(arrays, this.inputs);
    /** @type {ArrayBuffer[][]} */
    const pieces = [];
    if (!haveBatch(this.inputs)) {
      pieces.push(this.#run(arrays, this.#declaredSizes()));
    } else {
      this.#runBatches(arrays, samples, pieces);
    }
    return this.outputs.map(({ info }, number) => {
      const { array } = /** @type {any} */ (dtypeOfName(info.dtype));
      return new array(join(pieces.map((piece) => piece[number])));
    });
  }

  /**
   * Times the operators in some runs of one batch.
   * @param {Numbers[] | undefined} data Zeros by default.
   * @param {number} runs
   */
  profile(data, runs) {
    const arrays = data ?? this.inputs.map(zeros);
    const samples = countSamples(arrays, this.inputs);
    const sizes = haveBatch(this.inputs) ? this.#batchSizes(samples) : this.#declaredSizes();
    // The first run of a shape touches memory that the others find in place.
    this.#run(arrays, sizes);
    return readProfile(this.#engine, runs);
  }

  #declaredSizes() {
    return this.inputs.map(({ sizes }) => sizes);
  }

  /** @param {number} batch */
  #batchSizes(batch) {
    return this.inputs.map(({ sizes }) => [batch, ...sizes.slice(1)]);
  }

  /**
   * @param {ArrayBufferView[]} arrays
   * @param {number} samples
   * @param {ArrayBuffer[][]} pieces The outputs of each run are added to it.
   */
  #runBatches(arrays, samples, pieces) {
    const batch = this.inputs[0].sizes[0];
    let start = 0;
    if (samples !== batch && this.#isFlexible) {
      const step = this.#samplesAtOnce(arrays, samples);
      while (start < samples) {
        const count = Math.min(step, samples - start);
        const outputs = this.#tryBatch(cut(arrays, samples, start, count), count, batch);
        if (!outputs) break;
        pieces.push(outputs);
        start += count;
      }
    }
    if ((samples - start) % batch) {
      throw new Error(
        `inputs: expected a multiple of ${batch} samples, the batch that the model fixes, got ` +
          `${samples}; fill up the last batch, or use a model with an open batch`,
      );
    }
    for (; start < samples; start += batch) {
      pieces.push(this.#run(cut(arrays, samples, start, batch), this.#batchSizes(batch)));
    }
  }

  /**
   * Runs a batch; returns undefined if the model turns out to need its declared batch: a file may
   * leave the batch open although a constant in its graph fixes it.
   * @param {ArrayBufferView[]} arrays
   * @param {number} count
   * @param {number} declared
   */
  #tryBatch(arrays, count, declared) {
    const sizes = this.#batchSizes(count);
    if (count === declared || this.#tried.has(count)) return this.#run(arrays, sizes);
    try {
      const outputs = this.#run(arrays, sizes);
      if (this.#outputs.every(({ dims }) => dims[0] === count)) {
        this.#tried.add(count);
        return outputs;
      }
    } catch (error) {
      if (error instanceof Trap) throw error;
    }
    this.#isFlexible = false;
    return undefined;
  }

  /**
   * Estimates by the activations of the file's batch how many samples one run may take.
   * @param {ArrayBufferView[]} arrays
   * @param {number} samples
   */
  #samplesAtOnce(arrays, samples) {
    if (!this.#activationBytes) this.#activationBytes = activationBytes(this.#engine);
    const batch = this.inputs[0].sizes[0];
    const sample = arrays.reduce((all, { byteLength }) => all + byteLength, 0) / samples;
    const perSample = Math.max(this.#activationBytes / batch, sample);
    return Math.max(1, Math.floor(MAX_ACTIVATION_BYTES / perSample));
  }

  /**
   * @param {ArrayBufferView[]} arrays
   * @param {number[][]} sizes
   */
  #run(arrays, sizes) {
    this.#allocate(sizes);
    this.#inputs.forEach((input, number) => this.#engine.write(input, arrays[number]));
    this.#engine.run();
    return this.#outputs.map((output) => this.#engine.read(output));
  }

  /** @param {number[][]} sizes */
  #allocate(sizes) {
    if (isEqual(sizes, this.#sizes)) return;
    const before = this.#sizes;
    try {
      this.#resizeTo(sizes);
    } catch (error) {
      if (!(error instanceof Trap)) this.#resizeTo(before);
      throw error;
    }
  }

  /** @param {number[][]} sizes */
  #resizeTo(sizes) {
    // Sizes of a change that fails are those of no plan.
    this.#sizes = [];
    sizes.forEach((shape, input) => this.#engine.resize(input, shape));
    this.#engine.allocate();
    this.#inputs = this.#engine.inputs();
    this.#outputs = this.#engine.outputs();
    this.#sizes = sizes;
  }
}

/**
 * Opens with larger sizes where the file leaves more than the batch open: such a size is 1 at
 * first, and a window may not fit an image of 1x1. Returns undefined if none helps.
 * @param {import("./engine.js").Tensor[]} inputs
 * @param {import("./engine.js").Opening} opening
 */
async function openLarger(inputs, opening) {
  const isOpen = inputs.map(({ openDims }) => openDims.slice(1).includes(-1));
  if (!isOpen.includes(true)) return undefined;
  const openAt = (/** @type {number} */ size, /** @type {number} */ threads) =>
    openWith({ ...opening, threads }, (engine) => {
      inputs.forEach(({ openDims }, input) => {
        if (!isOpen[input]) return;
        const sizes = openDims.map((open, axis) => (open !== -1 ? open : axis ? size : 1));
        engine.resize(input, sizes);
      });
      engine.allocate();
    });
  for (let size = 2; size <= 1 << DOUBLINGS; size *= 2) {
    // Threads start once, for the size that the model takes.
    const engine = await openAt(size, 1);
    if (!engine) continue;
    if (opening.threads === 1) return engine;
    engine.end();
    return openAt(size, opening.threads);
  }
  return undefined;
}

/**
 * Opens a model and prepares it; returns undefined if that is refused.
 * @param {import("./engine.js").Opening} opening
 * @param {(engine: Engine) => void} prepare
 */
async function openWith(opening, prepare) {
  const engine = await Engine.open(opening);
  try {
    prepare(engine);
    return engine;
  } catch (error) {
    engine.end();
    if (error instanceof Trap) throw error;
    return undefined;
  }
}

/**
 * Returns the bytes of all tensors that depend on the inputs.
 * @param {Engine} engine
 */
function activationBytes(engine) {
  const { tensors, operators } = engine.graph();
  const numbers = new Set(engine.inputs().map(({ tensor }) => tensor));
  for (const { inputs, outputs } of operators) {
    if (inputs.some((/** @type {number} */ n) => numbers.has(n))) {
      outputs.forEach((/** @type {number} */ n) => numbers.add(n));
    }
  }
  // No type has more than 8 bytes, and most have 4 or fewer; the result is an estimate.
  return [...numbers].reduce((all, n) => all + 4 * product(tensors[n]?.shape ?? []), 0);
}

/**
 * Returns data for a profile: times depend on shapes only, and 0 is a legal index wherever one is
 * read.
 * @param {Description} input
 * @returns {Numbers}
 */
function zeros(input) {
  const { array } = dtypeOfInput(input);
  return new array(product(input.sizes));
}

/**
 * Returns a part of each input's samples.
 * @param {ArrayBufferView[]} arrays
 * @param {number} samples
 * @param {number} start
 * @param {number} count
 */
function cut(arrays, samples, start, count) {
  return arrays.map((array) => {
    const bytes = array.byteLength / samples;
    return new Uint8Array(array.buffer, array.byteOffset + start * bytes, count * bytes);
  });
}

/** @param {ArrayBuffer[]} parts */
function join(parts) {
  if (parts.length === 1) return parts[0];
  const joined = new Uint8Array(parts.reduce((all, { byteLength }) => all + byteLength, 0));
  let place = 0;
  for (const part of parts) {
    joined.set(new Uint8Array(part), place);
    place += part.byteLength;
  }
  return joined.buffer;
}

/**
 * @param {number[][]} left
 * @param {number[][]} right
 */
const isEqual = (left, right) => JSON.stringify(left) === JSON.stringify(right);
