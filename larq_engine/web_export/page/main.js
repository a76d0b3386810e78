/** The page of `larq-engine export-web`: it asks for what the model takes, and shows its answer. */

import { imageTensor } from "../engine/dist/index.js";
import { Answers } from "./answers.js";
import { element } from "./elements.js";
import { numberInput } from "./number_input.js";
import { PictureInput } from "./picture_input.js";
import { RunningModel } from "./running_model.js";
import { loudestPart, soundInput } from "./sound_input.js";
import { size } from "./text.js";

const main = document.getElementById("main");
const state = document.getElementById("state");

async function start() {
  state.textContent = "Loading the model";
  const settings = await (await fetch("settings.json")).json();
  const running = new RunningModel(settings.model, settings.modelBytes);
  running.facts.set("Page in all", `${size(settings.sentBytes)} with gzip`);
  const model = await running.load((text) => {
    state.textContent = text;
  });
  state.remove();
  const answers = new Answers(settings.labels);
  const answer = async (make, shapes) => {
    try {
      answers.show(await running.run(make(), shapes));
    } catch (error) {
      answers.say(error.message);
    }
  };
  const input = inputOf(settings, model, answer, (text) => answers.say(text));
  main.append(
    section("Input", input),
    section("Answer", answers.element),
    section("Sizes and times", running.facts.element),
  );
}

/** Returns controls of the kind that the model takes. */
function inputOf(settings, model, answer, say) {
  const { kind, mean, std } = settings;
  if (kind === "image") {
    const [{ shape, dtype }] = model.inputs;
    const [, height, width, channels] = shape;
    const form = { width, height, channels, mean, std, dtype };
    return new PictureInput((picture) => answer(() => imageTensor(picture, form)), say).element;
  }
  if (kind === "sound") {
    const { rate } = settings;
    const [{ shape }] = model.inputs;
    const length = Math.max(...shape); // the other sizes are 1, and the batch may be open
    const run = (samples) => answer(() => loudestPart(samples, length));
    return soundInput(rate, length / rate, run, say);
  }
  return numberInput(model.inputs, (arrays, shapes) => answer(() => arrays, shapes), say);
}

const section = (title, ...content) => element("section", {}, element("h2", {}, title), ...content);

start().catch((error) => {
  state.textContent = error.message;
});
