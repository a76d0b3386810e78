/** Pixels of images become numbers by the documented arithmetic. */

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { imageTensor } from "../src/node.js";
import { launch, open, serve } from "./chromium.js";

/** Pixels as ImageData has them; Node has no ImageData. */
const pixels = (width, ...data) => ({
  width,
  height: data.length / 4 / width,
  data: Uint8ClampedArray.from(data),
});
const two = pixels(2, 0, 51, 255, 255, 10, 20, 30, 255);

test("a tensor has the bytes of red, green and blue, pixel by pixel", () => {
  assert.deepEqual(imageTensor(two), Float32Array.of(0, 51, 255, 10, 20, 30));
  assert.deepEqual(imageTensor(two, { dtype: "uint8" }), Uint8Array.of(0, 51, 255, 10, 20, 30));
});

test("range, mean and standard deviation follow each other", () => {
  assert.deepEqual(
    imageTensor(two, { range: [-1, 1] }),
    Float32Array.of(-1, -0.6, 1, 20 / 255 - 1, 40 / 255 - 1, 60 / 255 - 1),
  );
  const [mean, std] = [
    [0.5, 0.25, 0],
    [0.5, 2, 4],
  ];
  assert.deepEqual(
    imageTensor(two, { range: [0, 1], mean, std }),
    Float32Array.from([
      ...[-1, (0.2 - 0.25) / 2, 0.25],
      ...[(10 / 255 - 0.5) / 0.5, (20 / 255 - 0.25) / 2, 30 / 255 / 4],
    ]),
  );
  assert.deepEqual(imageTensor(two, { mean: 51, std: 2 })[1], 0);
});

test("one channel is the luma", () => {
  const luma = (r, g, b) => 0.299 * r + 0.587 * g + 0.114 * b;
  assert.deepEqual(
    imageTensor(two, { channels: 1 }),
    Float32Array.of(luma(0, 51, 255), luma(10, 20, 30)),
  );
});

test("whole numbers are rounded and limited", () => {
  assert.deepEqual(
    imageTensor(two, { dtype: "int8", mean: 128 }),
    Int8Array.of(-128, -77, 127, -118, -108, -98),
  );
  assert.deepEqual(
    imageTensor(two, { dtype: "int8", std: 2 }),
    Int8Array.of(0, 26, 127, 5, 10, 15),
  );
  assert.deepEqual(imageTensor(two, { dtype: "uint8", range: [-9, 300] })[0], 0);
});

test("wrong options are refused by name", () => {
  const wrong = [
    [{ channels: 4 }, "channels: expected one of 1, 3, got 4"],
    [{ dtype: "float16" }, "dtype: expected one of float32, uint8, int8, got float16"],
    [{ width: 0 }, "width: expected a positive whole number of pixels, got 0"],
    [{ height: 1.5 }, "height: expected a positive whole number of pixels, got 1.5"],
    [{ fit: "crop" }, "fit: expected one of cover, contain, fill, got crop"],
    [{ mean: [1, 2] }, "mean: expected 3 number(s), got [1,2]"],
    [{ std: 0 }, "std: expected numbers that are not 0, got 0"],
    [{ range: [0] }, "range: expected 2 number(s), got [0]"],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => imageTensor(two, options), { message });
  }
  for (const source of [null, {}, { width: 0, height: 0 }]) {
    assert.throws(() => imageTensor(source), {
      message: /with pixels, got one without; wait until/,
    });
  }
});

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await serve({ web: fileURLToPath(new URL("..", import.meta.url)) });
});
after(async () => {
  await browser.close();
  server.close();
});

test("every kind of source gives the same pixels", async () => {
  const { page } = await open(browser, server.origin);
  const found = await page.evaluate(async () => {
    const { imageTensor } = await import("/web/dist/index.js");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 32];
    const context = canvas.getContext("2d");
    context.fillStyle = "rgb(200, 100, 50)";
    context.fillRect(0, 0, 64, 32);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve));
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    await image.decode();
    const video = document.createElement("video");
    video.muted = true;
    video.srcObject = canvas.captureStream();
    // A frame comes only after something was drawn.
    const drawing = setInterval(() => context.fillRect(0, 0, 64, 32), 20);
    await video.play();
    clearInterval(drawing);
    const offscreen = new OffscreenCanvas(64, 32);
    offscreen.getContext("2d").drawImage(canvas, 0, 0);
    const sources = {
      canvas,
      image,
      video,
      offscreen,
      bitmap: await createImageBitmap(canvas),
      data: context.getImageData(0, 0, 64, 32),
    };
    return Object.entries(sources).map(([name, source]) => [
      name,
      imageTensor(source).length,
      [...imageTensor(source, { width: 16, height: 8 }).slice(0, 3)],
    ]);
  });
  assert.equal(found.length, 6);
  for (const [name, length, color] of found) {
    assert.equal(length, 64 * 32 * 3, name);
    // A video's colours pass through another space of colours.
    const most = name === "video" ? 4 : 0;
    [200, 100, 50].forEach((value, channel) => {
      assert.ok(Math.abs(color[channel] - value) <= most, `${name}: ${color}`);
    });
  }
  await page.close();
});

test("a browser without canvases beside the page gives the same pixels", async () => {
  const { page } = await open(browser, server.origin);
  const [expected, found] = await page.evaluate(async () => {
    const { imageTensor } = await import("/web/dist/index.js");
    const data = new ImageData(16, 8);
    data.data.forEach((_, place) => (data.data[place] = place % 4 === 3 ? 255 : place % 251));
    const compute = () => [...imageTensor(data, { width: 8, height: 4 })];
    const expected = compute();
    delete globalThis.OffscreenCanvas;
    return [expected, compute()];
  });
  assert.equal(expected.length, 8 * 4 * 3);
  assert.deepEqual(found, expected);
  await page.close();
});

test("an image of another form is cut, framed or stretched", async () => {
  const { page } = await open(browser, server.origin);
  const found = await page.evaluate(async () => {
    const { imageTensor } = await import("/web/dist/index.js");
    // Four columns of 4 pixels each: red, green, green, blue.
    const colors = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 255, 0],
      [0, 0, 255],
    ];
    const data = new ImageData(16, 8);
    for (let pixel = 0; pixel < 16 * 8; ++pixel) {
      data.data.set([...colors[Math.floor((pixel % 16) / 4)], 255], 4 * pixel);
    }
    const at = (tensor, x, y) => [...tensor.slice(3 * (8 * y + x), 3 * (8 * y + x) + 3)];
    const tensors = ["cover", "contain", "fill"].map((fit) =>
      imageTensor(data, { width: 8, height: 8, fit }),
    );
    return tensors.map((tensor) => [at(tensor, 0, 0), at(tensor, 0, 4), at(tensor, 4, 4)]);
  });
  const [red, green, black] = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 0],
  ];
  assert.deepEqual(found, [
    [green, green, green],
    [black, red, green],
    [red, red, green],
  ]);
  await page.close();
});

test("a misspelt option is refused", () => {
  assert.throws(() => imageTensor({ width: 1, height: 1, data: [] }, { dype: "int8" }), {
    message: /^imageTensor: expected options out of width, height, .*, got dype; correct/,
  });
});
