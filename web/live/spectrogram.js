/**
 * Makes images of sound for the model of words, moment by moment, in whole numbers alone: the same
 * bytes as examples/published/sounds.py, whose tables it takes.
 *
 * Products of up to 58 bits are taken apart, as numbers of JavaScript are whole up to 53 bits only;
 * squares and what is added up of them are BigInt.
 */

const HALF_BITS = 2 ** 15; // a sine of 30 bits is taken apart into halves

/** The last moments of a sound. */
export class Spectrogram {
  /** @param {any} tables What tools/live_page.py writes of the Python example. */
  constructor(tables) {
    this.tables = tables;
    const { WINDOW, SIZE } = tables;
    this.samples = new Int16Array(WINDOW);
    this.oldest = 0;
    this.missing = WINDOW;
    this.moments = 0;
    this.levels = Array.from({ length: SIZE }, () => new Array(SIZE).fill(0));
    this.power = new Array(SIZE).fill(0);
  }

  /**
   * Takes a sample, and tells whether a moment ended with it.
   * @param {number} sample From -32768 to 32767.
   */
  push(sample) {
    const { WINDOW, HOP, SIZE } = this.tables;
    this.samples[this.oldest] = sample;
    this.oldest = (this.oldest + 1) % WINDOW;
    if (--this.missing > 0) return false;
    this.missing = HOP;
    const slot = this.moments++ % SIZE;
    this.levels[slot] = levelsOf(powersOf(this.#windowed(), this.tables), this.tables);
    // Squares of 16 bits add up to less than 42 bits.
    this.power[slot] = this.samples.reduce((sum, value) => sum + value * value, 0);
    return true;
  }

  /** Returns the last moments as bytes, of which 127 stands for the loudest. */
  image() {
    const { SIZE, STEPS, STEP_BITS } = this.tables;
    const loudest = Math.max(...this.levels.flat());
    return Int8Array.from({ length: SIZE * SIZE }, (_, n) => {
      const moment = this.levels[(this.moments + Math.floor(n / SIZE)) % SIZE];
      const below = divided((loudest - moment[n % SIZE]) * STEPS, STEP_BITS);
      return Math.max(127 - below, -128);
    });
  }

  /** Returns the samples under the window, the oldest first. */
  #windowed() {
    const { WINDOW, SINE_BITS, SAMPLE_BITS } = this.tables;
    return Array.from({ length: WINDOW }, (_, n) => {
      const hann = 2 ** (SINE_BITS - 1) - (cosine(n, this.tables) >> 1);
      const sample = this.samples[(this.oldest + n) % WINDOW];
      return divided(sample * hann, SINE_BITS - SAMPLE_BITS);
    });
  }
}

/** Divides by a power of 2, and rounds halves up. */
const divided = (number, bits) => Math.floor((number + 2 ** (bits - 1)) / 2 ** bits);

function cosine(angle, { WINDOW, SINES }) {
  const quarter = WINDOW / 4;
  let turned = ((angle % WINDOW) + WINDOW) % WINDOW;
  if (turned > WINDOW / 2) turned = WINDOW - turned;
  return turned <= quarter ? SINES[quarter - turned] : -SINES[turned - quarter];
}

/** Returns a * x + b * y, divided by 2 ** 30 with halves rounded up; a and b are sines. */
function sumOfProducts(a, x, b, y) {
  const [highA, highB] = [Math.floor(a / HALF_BITS), Math.floor(b / HALF_BITS)];
  const low = (a - highA * HALF_BITS) * x + (b - highB * HALF_BITS) * y + 2 ** 29;
  return Math.floor((highA * x + highB * y + Math.floor(low / HALF_BITS)) / HALF_BITS);
}

/** Returns a complex number turned back by an angle, of which WINDOW are a circle. */
function turned([real, imaginary], angle, tables) {
  const cos = cosine(angle, tables);
  const sin = cosine(angle - tables.WINDOW / 4, tables);
  return [sumOfProducts(cos, real, sin, imaginary), sumOfProducts(cos, imaginary, -sin, real)];
}

/** Returns the power of each frequency; two samples are one complex number. */
function powersOf(windowed, tables) {
  const { WINDOW, SAMPLE_BITS } = tables;
  const points = WINDOW / 2;
  const x = transformed(windowed, tables);
  return Array.from({ length: points }, (_, k) => {
    const [a, b] = [x[k], x[(points - k) % points]];
    const odd = turned([a[1] + b[1], b[0] - a[0]], k, tables);
    // These are doubled, which is one more bit of fraction.
    const real = BigInt(a[0] + b[0] + odd[0]);
    const imaginary = BigInt(a[1] - b[1] + odd[1]);
    return (real * real + imaginary * imaginary) >> BigInt(2 * (SAMPLE_BITS + 1));
  });
}

/** Returns the Fourier transform of pairs of samples. */
function transformed(windowed, tables) {
  const points = windowed.length / 2;
  const bits = Math.log2(points);
  const x = Array.from({ length: points }, (_, place) => {
    const n = 2 * reversed(place, bits);
    return [windowed[n], windowed[n + 1]];
  });
  for (let width = 1; width < points; width *= 2) {
    for (let turn = 0; turn < width; ++turn) {
      const angle = turn * (points / width);
      for (let k = turn; k < points; k += 2 * width) {
        const a = x[k];
        const b = turned(x[k + width], angle, tables);
        x[k] = [a[0] + b[0], a[1] + b[1]];
        x[k + width] = [a[0] - b[0], a[1] - b[1]];
      }
    }
  }
  return x;
}

function reversed(place, bits) {
  let result = 0;
  for (let bit = 0; bit < bits; ++bit) result |= ((place >> bit) & 1) << (bits - 1 - bit);
  return result;
}

/** Returns the logarithm of the power in each band, a triangle over two intervals. */
function levelsOf(powers, tables) {
  const { SIZE, WEIGHT_BITS, FIRST_FREQUENCIES, RISING_WEIGHTS } = tables;
  const whole = 1n << BigInt(WEIGHT_BITS);
  const levels = [];
  let risingBefore = 0n;
  for (let interval = 0; interval <= SIZE; ++interval) {
    let rising = 0n;
    let all = 0n;
    for (let k = FIRST_FREQUENCIES[interval]; k < FIRST_FREQUENCIES[interval + 1]; ++k) {
      rising += powers[k] * BigInt(RISING_WEIGHTS[k]);
      all += powers[k];
    }
    const falling = all * whole - rising;
    if (interval > 0) levels.push(logarithm(risingBefore + falling + whole, tables));
    risingBefore = rising;
  }
  return levels;
}

/** Returns the logarithm to the base of 2 of a number that is not 0. */
function logarithm(number, { LEVEL_BITS, TABLE_BITS, LOGARITHMS }) {
  const fractionBits = 16;
  const exponent = number.toString(2).length - 1;
  const aligned = (number << BigInt(fractionBits)) >> BigInt(exponent);
  const rest = Number(aligned) - 2 ** fractionBits;
  const between = fractionBits - TABLE_BITS;
  const entry = rest >> between;
  const slope = LOGARITHMS[entry + 1] - LOGARITHMS[entry];
  const part = rest & (2 ** between - 1);
  return (exponent << LEVEL_BITS) + LOGARITHMS[entry] + ((slope * part) >> between);
}
