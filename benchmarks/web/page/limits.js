/**
 * The most binary products a second that a core can do with vectors of WebAssembly: loops of nothing
 * but the instructions that count bits, with all operands in registers or the first cache.
 */

const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const LOCAL_TEE = 0x22;
const I32_CONST = 0x41;
const I32_ADD = 0x6a;
const I32_SUB = 0x6b;
const I32_AND = 0x71;
const [LOOP, BR_IF, END, EMPTY] = [0x03, 0x0d, 0x0b, 0x40];
const [I32, V128, FUNCTION] = [0x7f, 0x7b, 0x60];

/** Instructions of vectors, which begin with the byte 0xfd. */
const LOAD = [0xfd, 0x00];
const STORE = [0xfd, 0x0b];
const SWIZZLE = [0xfd, 0x0e];
const XOR = [0xfd, 0x51];
const POPCNT = [0xfd, 0x62];
const ADD_BYTES = [0xfd, 0x6e];
const EXTADD_PAIRWISE = [0xfd, 0x7d]; // of unsigned bytes
const SHIFT_DOWN = [0xfd, 0x8d, 0x01]; // of 16-bit lanes
const ADD_LANES = [0xfd, 0x8e, 0x01]; // likewise

const VECTOR_BYTES = 16;
const VECTOR_BITS = 128;
const ALIGNMENT = 4; // 2 ** 4 bytes

/** The operands are read anew in each step, from 2 KB that stay in the first cache. */
const OPERAND_BYTES = 2048;
const RESULTS = 4096; // where sums are stored, or the compiler would leave the loop out

/** @param {number} value */
function unsigned(value) {
  const bytes = [];
  for (; value > 127; value >>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

/** @param {number} value */
function signed(value) {
  const bytes = [];
  for (; value > 63; value >>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

/** @param {number[][]} items */
const list = (...items) => [...unsigned(items.length), ...items.flat()];

/** @param {number} id @param {number[]} content */
const section = (id, content) => [id, ...unsigned(content.length), ...content];

const STEPS = 0; // the function's parameter
const PLACE = 1; // the place of the step's operands
const FIRST_VECTOR = 2; // locals from here on are vectors

const get = (/** @type {number} */ local) => [LOCAL_GET, ...unsigned(local)];
const set = (/** @type {number} */ local) => [LOCAL_SET, ...unsigned(local)];
const tee = (/** @type {number} */ local) => [LOCAL_TEE, ...unsigned(local)];
const load = (/** @type {number} */ offset) => [...LOAD, ALIGNMENT, ...unsigned(offset)];
const constant = (/** @type {number} */ value) => [I32_CONST, ...signed(value)];

/** @param {number} vector */
const operand = (vector) => [...get(PLACE), ...load(vector * VECTOR_BYTES)];

/** @param {number[][]} terms @param {number[]} add */
function sum(terms, add) {
  const [first, ...rest] = terms;
  return [...first, ...rest.flatMap((term) => [...term, ...add])];
}

/**
 * Returns a module whose function `run` repeats a body.
 * @param {number} constants The number of vectors that the body finds in its first locals.
 * @param {number} sums The number of vectors that it adds to, in the locals after them.
 * @param {number} others The number of locals that it uses besides.
 * @param {number} operands The number of vectors that it reads.
 * @param {number[]} body
 */
function moduleOf(constants, sums, others, operands, body) {
  const vectors = constants + sums + others;
  const locals = list([...unsigned(1), I32], [...unsigned(vectors), V128]);
  const given = Array.from({ length: constants }, (_, n) => [
    ...[...constant(n * VECTOR_BYTES), ...load(0)],
    ...set(FIRST_VECTOR + n),
  ]);
  const stored = Array.from({ length: sums }, (_, n) => [
    ...[...constant(RESULTS + n * VECTOR_BYTES), ...get(FIRST_VECTOR + constants + n)],
    ...[...STORE, ALIGNMENT, 0],
  ]);
  const next = [
    ...[...get(PLACE), ...constant(operands * VECTOR_BYTES), I32_ADD],
    ...[...constant(OPERAND_BYTES - 1), I32_AND, ...set(PLACE)],
  ];
  const count = [...get(STEPS), ...constant(1), I32_SUB, ...tee(STEPS), BR_IF, 0];
  const loop = [LOOP, EMPTY, ...body, ...next, ...count, END];
  const code = [...locals, ...given.flat(), ...loop, ...stored.flat(), END];
  const name = (/** @type {string} */ text) => list(...[...text].map((c) => [c.charCodeAt(0)]));
  return new Uint8Array([
    ...[0, 97, 115, 109, 1, 0, 0, 0], // magic number and version
    ...section(1, list([FUNCTION, ...list([I32]), ...list()])),
    ...section(3, list([0])),
    ...section(5, list([0, 1])), // a page of memory
    ...section(7, list([...name("memory"), 2, 0], [...name("run"), 0, 0])),
    ...section(10, list([...unsigned(code.length), ...code])),
  ]);
}

const PIXELS = 2; // that read the same filters
const COUNTS = 8; // bit counts that are added as bytes before they are widened

/** Counts the bits of differences, adds them as bytes, and widens and adds their sum. */
function popcntLoop() {
  const add = (/** @type {number} */ pixel) => {
    const counts = Array.from({ length: COUNTS }, (_, n) => [
      ...[...operand(n), ...get(FIRST_VECTOR + pixel), ...XOR],
      ...POPCNT,
    ]);
    const total = FIRST_VECTOR + PIXELS + pixel;
    return [
      ...[...get(total), ...sum(counts, ADD_BYTES), ...EXTADD_PAIRWISE],
      ...[...ADD_LANES, ...set(total)],
    ];
  };
  return {
    name: "popcnt",
    products: PIXELS * COUNTS * VECTOR_BITS,
    code: moduleOf(PIXELS, PIXELS, 0, COUNTS, [...add(0), ...add(1)]),
  };
}

const LOOK_UPS = 3; // lookups that are added before their sum goes into others
const FILTERS = 4; // vectors of filters in a step: they hide each other's latencies

/**
 * Looks up the bit counts of nibbles for two pixels at once, as rows of kernels for vectors without
 * a fast popcnt do. A byte of a table has two counts, so a lookup has 16 x 4 x 2 products.
 */
function lookUpLoop() {
  const filters = FIRST_VECTOR + LOOK_UPS + 2 * FILTERS;
  const counts = filters + 1;
  const add = (/** @type {number} */ vector) => {
    const found = Array.from({ length: LOOK_UPS }, (_, n) => [
      ...[...get(FIRST_VECTOR + n), ...get(filters), ...SWIZZLE],
    ]);
    const lanes = FIRST_VECTOR + LOOK_UPS + 2 * vector;
    const shifted = lanes + 1;
    return [
      ...[...operand(vector), ...set(filters), ...sum(found, ADD_BYTES), ...set(counts)],
      ...[...get(lanes), ...get(counts), ...ADD_BYTES, ...set(lanes)],
      ...[...get(shifted), ...get(counts), ...constant(4), ...SHIFT_DOWN, ...ADD_BYTES],
      ...set(shifted),
    ];
  };
  const body = Array.from({ length: FILTERS }, (_, vector) => add(vector)).flat();
  return {
    name: "simd128",
    products: FILTERS * LOOK_UPS * VECTOR_BITS,
    code: moduleOf(LOOK_UPS, 2 * FILTERS, 2, FILTERS, body),
  };
}

const CALL_STEPS = 20_000; // a millisecond or less, as V8 optimizes no call that is under way
const WARM_UP_MS = 300;
const SAMPLE_MS = 10;
const SAMPLES = 5; // of which the fastest counts

/** @type {Promise<{ name: string, products: number, run: (steps: number) => void }[]> | undefined} */
let loops;

const open = async ({ name, products, code }) => {
  const { instance } = await WebAssembly.instantiate(code);
  const { memory, run } = /** @type {any} */ (instance.exports);
  // Nibbles in each byte, as lookups have; for popcnt any bits will do.
  new Uint8Array(memory.buffer, 0, OPERAND_BYTES).forEach((_, n, bytes) => {
    bytes[n] = (n * 7) & 15;
  });
  rate({ products, run }, WARM_UP_MS);
  return { name, products, run };
};

/** Returns the products a nanosecond of one loop. */
function rate({ products, run }, milliseconds) {
  const begun = performance.now();
  let calls = 0;
  let taken = 0;
  for (; taken < milliseconds; taken = performance.now() - begun) {
    run(CALL_STEPS);
    ++calls;
  }
  return (products * CALL_STEPS * calls) / (taken * 1e6);
}

/** Returns the limits by their loops' names, in billions of products a second. */
export async function measureLimits() {
  loops ??= Promise.all([popcntLoop(), lookUpLoop()].map(open));
  return (await loops).map((loop) => ({
    name: loop.name,
    gmac_per_s: Math.max(...Array.from({ length: SAMPLES }, () => rate(loop, SAMPLE_MS))),
  }));
}
