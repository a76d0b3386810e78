/** The part of the page that reads digits. */

import { Answers } from "../page/answers.js";
import { button, element } from "../page/elements.js";
import { RunningModel } from "../page/running_model.js";
import { size } from "../page/text.js";
import { Drawing } from "./drawing.js";
import { SAMPLES } from "./sample_digits.js";
import { countsOf } from "./strokes.js";

const SIDE = 8; // pixels of the model's picture
const DARKEST = 16; // the largest count of ink
const NAMES = Array.from({ length: 10 }, (_, digit) => String(digit));

/**
 * Returns the part. The model is loaded at once, so that the first digit finds it.
 * @param {{ file: string, bytes: number, sentBytes: number }} settings
 */
export function digits({ file, bytes, sentBytes }) {
  const model = new RunningModel(file, bytes);
  model.facts.set("Page in all", `${size(sentBytes)} with gzip`);
  const answers = new Answers(NAMES);
  const seen = element("canvas", {
    ...{ class: "seen", width: SIDE, height: SIDE, role: "img" },
    "aria-label": "What the model sees: 8 x 8 pixels",
  });
  const read = async (strokes) => {
    const counts = countsOf(strokes);
    paint(seen, counts);
    try {
      answers.show(await model.run(Float32Array.from(counts, (count) => count / DARKEST)));
    } catch (error) {
      answers.say(error.message);
    }
  };
  const drawing = new Drawing(read);
  const clear = button("Clear", async () => {
    drawing.clear();
    paint(seen, new Uint8Array(SIDE * SIDE));
    answers.say("Draw a digit");
  });
  const samples = NAMES.map((name, digit) => {
    const made = button(name, () => drawing.show(SAMPLES[digit]));
    made.setAttribute("aria-label", `Sample ${name}`);
    return made;
  });
  answers.say("Loading the model");
  paint(seen, new Uint8Array(SIDE * SIDE));
  model
    .load((text) => answers.say(text))
    .then(
      () => answers.say("Draw a digit"),
      (error) => answers.say(error.message),
    );
  return element(
    "div",
    { class: "halves" },
    element(
      "div",
      {},
      element("p", {}, "Draw with a finger, a pen or the mouse, or choose a sample:"),
      element("div", { class: "samples", role: "group", "aria-label": "Samples" }, ...samples),
      element("div", { class: "board" }, drawing.canvas, element("div", {}, seen, clear)),
    ),
    element("div", {}, answers.element, model.facts.element),
  );
}

/** Paints counts of ink as pixels, dark on light. */
function paint(canvas, counts) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(SIDE, SIDE);
  counts.forEach((count, pixel) => {
    const light = 255 - Math.round((255 * count) / DARKEST);
    image.data.set([light, light, light, 255], 4 * pixel);
  });
  context.putImageData(image, 0, 0);
}
