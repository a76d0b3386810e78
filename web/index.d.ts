/// <reference lib="dom" />
/** Runs binarized neural networks, and other TensorFlow Lite models, in browsers and Node. */

/** The type of a tensor's elements, as NumPy names it. */
export type Dtype =
  | "float32"
  | "float16"
  | "float64"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool";

/**
 * The data of a tensor. float16 are the bits of each number in a Uint16Array, bool are 0 and 1 in a
 * Uint8Array.
 */
export type Data =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

/** Data of all inputs: of the only one, in the inputs' order, or by their names. */
export type Inputs = Data | readonly Data[] | Readonly<Record<string, Data>>;

/** An input or output of a model. */
export interface TensorInfo {
  /** The name in the model's signature if it has exactly one, else that of the tensor. */
  readonly name: string;
  readonly dtype: Dtype;
  /** The sizes as the file declares them; -1 is one that the file leaves open. */
  readonly shape: readonly number[];
  /** The quantization scale: one, one for each channel, or null. */
  readonly scale: number | readonly number[] | null;
  /** The quantization zero point: one, one for each channel, or null. */
  readonly zeroPoint: number | readonly number[] | null;
}

/** The time of an operator, or of several that are computed as one. */
export interface ProfileRow {
  /** The operator; of several, the names joined by "+". */
  readonly name: string;
  readonly layer: string;
  readonly kernel: string;
  /** The operator's number in its graph. */
  readonly node: number;
  /** The number of runs. */
  readonly calls: number;
  /** The mean time of a run, in milliseconds. */
  readonly ms: number;
  /** The multiplications of a run, for operators that multiply. */
  readonly products: number;
}

/** The state of a download. */
export interface Progress {
  /** Bytes that have come. */
  readonly loaded: number;
  /**
   * Bytes of the file; null if the server does not tell them, or it is of another origin than the
   * page.
   */
  readonly total: number | null;
}

export interface LoadOptions {
  /**
   * The number of threads that compute; 1 by default, and no more than the device has cores. More
   * than one need SIMD, a page that is cross-origin isolated, and there a worker.
   */
  threads?: number;
  /**
   * If true, the default, the model runs in a worker of its own, so that the page can be used
   * meanwhile. If false, it runs in the thread that calls.
   */
  worker?: boolean;
  /** The signature whose graph runs; the main graph by default. */
  signature?: string;
  /** Is called as the model's file comes. */
  onProgress?: (progress: Progress) => void;
  /** Ends loading, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** A model that is open until `close`. Calls wait for each other. */
export interface Model {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /**
   * Runs the model on any number of samples, which lie one after the other in the array of each
   * input. A model of one output gives its data, another an object by the outputs' names.
   */
  predict<Result = any>(x: Inputs): Promise<Result>;
  /**
   * Gives the inputs other shapes, such as another image size: a list of one for each input, or an
   * object by name, in which an input may be missing.
   */
  resize(
    shapes: readonly (readonly number[])[] | Readonly<Record<string, readonly number[]>>,
  ): Promise<void>;
  /** Times the operators: means of `runs` runs (10) on these inputs, or on zeros. */
  profile(options?: { inputs?: Inputs; runs?: number }): Promise<ProfileRow[]>;
  /**
   * Rejects calls that wait for a result, and frees the memory: when the model's worker has ended,
   * or without one when the garbage collector runs.
   */
  close(): void;
}

/** Loads a model: by its address, in Node also by its path, or from its bytes. */
export function load(
  model: string | URL | ArrayBuffer | ArrayBufferView,
  options?: LoadOptions,
): Promise<Model>;

/** The kinds of images that `imageTensor` takes. */
export type ImageSource =
  | ImageData
  | ImageBitmap
  | HTMLImageElement
  | HTMLVideoElement
  | HTMLCanvasElement
  | OffscreenCanvas
  | VideoFrame;

/** The arrays that `imageTensor` makes, by their type. */
export interface ImageTensors {
  float32: Float32Array;
  uint8: Uint8Array;
  int8: Int8Array;
}

export interface ImageOptions {
  /** The size of the tensor in pixels; the source's own by default. */
  width?: number;
  height?: number;
  /** 3 for red, green and blue (the default), 1 for their luma. */
  channels?: 1 | 3;
  /** The numbers for a pixel's 0 and 255 before `mean` and `std`; [0, 255] by default. */
  range?: readonly [number, number];
  /** Is subtracted: one number, or one for each channel; 0 by default. */
  mean?: number | readonly number[];
  /** Divides the difference: one number, or one for each channel; 1 by default. */
  std?: number | readonly number[];
  /** The type of the tensor; float32 by default. */
  dtype?: keyof ImageTensors;
  /**
   * How an image of another form is fitted: "cover" (the default) cuts off what stands out,
   * "contain" adds black, "fill" stretches it.
   */
  fit?: "cover" | "contain" | "fill";
}

/** Returns an image's pixels, line by line, with their channels together, as models read them. */
export function imageTensor<Kind extends keyof ImageTensors = "float32">(
  source: ImageSource,
  options?: ImageOptions & { dtype?: Kind },
): ImageTensors[Kind];
