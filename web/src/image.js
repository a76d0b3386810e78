/**
 * Makes the pixels of an image the input of a model.
 *
 * The browser scales the image and gives bytes of red, green, blue. From there on the arithmetic is
 * this, in double precision until the last step: a single channel is the luma
 * 0.299 red + 0.587 green + 0.114 blue. A byte b becomes low + (high - low) * b / 255, from which
 * the mean is subtracted; the difference is divided by the standard deviation. The result is
 * rounded to float32, or to the nearest whole number, halves upwards, within the limits of uint8 or
 * int8.
 */

import { checkOptions } from "./options.js";

const LUMA = [0.299, 0.587, 0.114];
const OPTIONS = ["width", "height", "channels", "range", "mean", "std", "dtype", "fit"];
const WHOLE = { uint8: [Uint8Array, 0, 255], int8: [Int8Array, -128, 127] };

/**
 * Returns an image's pixels, line by line, with their channels together.
 * @param {any} source
 * @param {import("../index.d.ts").ImageOptions} [options]
 */
export function imageTensor(source, options = {}) {
  checkOptions("imageTensor", options, OPTIONS);
  const { channels = 3, dtype = "float32" } = options;
  const own = sizeOf(source);
  const width = checkSize("width", options.width ?? own.width);
  const height = checkSize("height", options.height ?? own.height);
  oneOf("channels", channels, [1, 3]);
  oneOf("dtype", dtype, ["float32", "uint8", "int8"]);
  const values = tableOf(options, channels);
  const { data } = pixelsOf(source, own, width, height, options.fit ?? "cover");
  const tensor = new Float64Array(width * height * channels);
  for (let pixel = 0, place = 0; pixel < width * height; ++pixel) {
    const [red, green, blue] = data.subarray(4 * pixel, 4 * pixel + 3);
    if (channels === 1) {
      tensor[place++] = values[0](LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue);
    } else {
      tensor[place++] = values[0](red);
      tensor[place++] = values[1](green);
      tensor[place++] = values[2](blue);
    }
  }
  if (dtype === "float32") return Float32Array.from(tensor);
  const [Type, least, most] = /** @type {any} */ (WHOLE[dtype]);
  return Type.from(tensor, (/** @type {number} */ value) =>
    Math.min(most, Math.max(least, Math.floor(value + 0.5))),
  );
}

/**
 * Returns for each channel the function from a byte to a number of the tensor.
 * @param {import("../index.d.ts").ImageOptions} options
 * @param {number} channels
 */
function tableOf({ range = [0, 255], mean = 0, std = 1 }, channels) {
  const [low, high] = numbers("range", range, 2);
  const means = numbers("mean", mean, channels);
  const stds = numbers("std", std, channels);
  if (stds.includes(0)) throw new Error("std: expected numbers that are not 0, got 0");
  return means.map(
    (subtracted, channel) => (/** @type {number} */ byte) =>
      (low + ((high - low) * byte) / 255 - subtracted) / stds[channel],
  );
}

/**
 * @param {string} name
 * @param {number | readonly number[]} value One number for all, or one for each.
 * @param {number} count
 */
function numbers(name, value, count) {
  const all = typeof value === "number" ? Array(count).fill(value) : value;
  if (!Array.isArray(all) || all.length !== count || !all.every(Number.isFinite)) {
    throw new Error(`${name}: expected ${count} number(s), got ${JSON.stringify(value)}`);
  }
  return /** @type {number[]} */ (all);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {unknown[]} known
 */
function oneOf(name, value, known) {
  if (known.includes(value)) return;
  throw new Error(`${name}: expected one of ${known.join(", ")}, got ${value}`);
}

/**
 * @param {string} name
 * @param {number} size
 */
function checkSize(name, size) {
  if (Number.isInteger(size) && size > 0) return size;
  throw new Error(`${name}: expected a positive whole number of pixels, got ${size}`);
}

/**
 * Returns the size of a source in its own pixels.
 * @param {any} source
 */
function sizeOf(source) {
  const width = source?.videoWidth ?? source?.naturalWidth ?? source?.displayWidth ?? source?.width;
  const height =
    source?.videoHeight ?? source?.naturalHeight ?? source?.displayHeight ?? source?.height;
  if (!(width > 0 && height > 0)) {
    throw new Error(
      "imageTensor: expected an image, a video or a canvas with pixels, got one without; wait " +
        "until it is loaded (image.decode(), the video's event loadeddata)",
    );
  }
  return { width, height };
}

/**
 * Returns the source's pixels at a size.
 * @param {any} source
 * @param {{ width: number, height: number }} own
 * @param {number} width
 * @param {number} height
 * @param {string} fit
 * @returns {ImageData}
 */
function pixelsOf(source, own, width, height, fit) {
  oneOf("fit", fit, ["cover", "contain", "fill"]);
  const isPixels = source.data !== undefined;
  // Pixels of the right size are taken as they are: a canvas would round transparent ones.
  if (isPixels && own.width === width && own.height === height) return source;
  const context = contextOf(width, height);
  const drawn = isPixels ? canvasOf(source) : source;
  const scales = [width / own.width, height / own.height];
  const scale = fit === "cover" ? Math.max(...scales) : Math.min(...scales);
  const [across, down] = fit === "fill" ? scales : [scale, scale];
  const [w, h] = [own.width * across, own.height * down];
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(drawn, (width - w) / 2, (height - h) / 2, w, h);
  return context.getImageData(0, 0, width, height);
}

/** @param {ImageData} pixels */
function canvasOf(pixels) {
  const context = contextOf(pixels.width, pixels.height);
  context.putImageData(pixels, 0, 0);
  return context.canvas;
}

/**
 * @param {number} width
 * @param {number} height
 */
function contextOf(width, height) {
  // Safari before 16.4 has canvases in the page only.
  const canvas =
    "OffscreenCanvas" in globalThis
      ? new OffscreenCanvas(width, height)
      : Object.assign(document.createElement("canvas"), { width, height });
  return /** @type {OffscreenCanvasRenderingContext2D} */ (
    canvas.getContext("2d", { willReadFrequently: true })
  );
}
