/** Uses all that the package's types describe; tests compile it with strict checks. */

import { imageTensor, load, type Model, type ProfileRow, type TensorInfo } from "larq-engine";

const model: Model = await load(new URL("model.tflite", import.meta.url), {
  worker: false,
  signature: "serve",
  signal: AbortSignal.timeout(1000),
  onProgress: ({ loaded, total }) => console.log(total === null ? loaded : loaded / total),
});
const first: TensorInfo = model.inputs[0]!;
const sizes: readonly number[] = first.shape;
const scores = await model.predict<Float32Array>(new Float32Array(sizes.length));
const named = await model.predict<Record<string, Int8Array>>({ [first.name]: Uint8Array.of(1) });
await model.resize([[1, 2]]);
await model.resize({ x: [1, 2] });
const rows: ProfileRow[] = await model.profile({ inputs: [scores], runs: 3 });
const ms: number = rows[0]!.ms;
const bytes: Uint8Array = imageTensor(new ImageData(1, 1), { dtype: "uint8", channels: 1 });
const floats: Float32Array = imageTensor(document.createElement("video"), {
  width: 224,
  height: 224,
  range: [-1, 1],
  mean: [0.5, 0.5, 0.5],
  fit: "contain",
});
const kind = Math.random() < 0.5 ? "uint8" : "float32";
const either: Uint8Array | Float32Array = imageTensor(new ImageData(1, 1), { dtype: kind });
model.close();
console.log(named, ms, bytes, floats, either);

// @ts-expect-error A misspelt option is an error.
await load("model.tflite", { workers: false });
// @ts-expect-error A model is no number.
await load(5);
// @ts-expect-error Numbers come in typed arrays.
await model.predict([1, 2]);
// @ts-expect-error An image has one channel or three.
imageTensor(new ImageData(1, 1), { channels: 4 });
