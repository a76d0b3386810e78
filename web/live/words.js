/** The part of the page that hears words. */

import { Answers } from "../page/answers.js";
import { element } from "../page/elements.js";
import { RunningModel } from "../page/running_model.js";
import { soundInput } from "../page/sound_input.js";
import { Listener } from "./listener.js";

const SECONDS = 2; // of a recording
const QUIET_SECONDS = 1; // appended, so that the end of a sound is heard, too

/**
 * Returns the part. The model and the tables are loaded when somebody speaks.
 * @param {{ file: string, bytes: number, tables: string, rate: number, words: string[] }} settings
 */
export function words(settings) {
  const model = new RunningModel(settings.file, settings.bytes);
  const answers = new Answers(settings.words);
  const heard = element("ol", { class: "heard", "aria-label": "Words that were heard" });
  let tables;
  const hear = async (samples) => {
    try {
      answers.say("Listening to it");
      tables ??= (await fetch(settings.tables)).json();
      const { found, best } = await listen(samples, new Listener(await tables), model);
      if (best) answers.show(best);
      if (found.length) answers.say(found.map(({ word }) => word).join(" "), true);
      else answers.say("No word was heard");
      heard.replaceChildren(
        ...found.map(({ word, seconds, score }) =>
          element("li", {}, `${word} at ${seconds.toFixed(2)} s, ${score.toFixed(2)}`),
        ),
      );
    } catch (error) {
      tables = undefined; // the next sound tries again
      answers.say(error.message);
    }
  };
  const controls = soundInput(settings.rate, SECONDS, hear, (text) => answers.say(text));
  answers.say("Say a word");
  return element(
    "div",
    { class: "halves" },
    element(
      "div",
      {},
      element("p", {}, `Say one of: ${settings.words.join(", ")}.`),
      controls,
      heard,
    ),
    element("div", {}, answers.element, model.facts.element),
  );
}

/**
 * Returns the words in a sound, and the surest answer of the model.
 * @param {Float32Array} samples From -1 to 1.
 * @param {Listener} listener
 * @param {RunningModel} model
 */
async function listen(samples, listener, model) {
  const found = [];
  let best;
  const quiet = QUIET_SECONDS * listener.tables.RATE;
  for (let n = 0; n < samples.length + quiet; ++n) {
    const sample = Math.round(32768 * (samples[n] ?? 0));
    if (!listener.push(Math.max(-32768, Math.min(32767, sample)))) continue;
    const outputs = await model.run(listener.sound.image());
    const [{ real }] = outputs;
    const word = listener.look(real);
    if (word) found.push(word);
    const isSurer = !best || Math.max(...real) > Math.max(...best[0].real);
    if (word || (!found.length && isSurer)) best = outputs;
  }
  return { found, best };
}
