/** Takes sounds from files and the microphone. */

import { button, element, fileButton } from "./elements.js";

/** Models learnt sounds without what browsers do to voices on the telephone. */
const AS_IT_IS = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
const BITS_A_SECOND = 128000; // of a recording, whose compression then is hardly heard

/**
 * Returns controls for sounds.
 * @param {number} rate Samples a second that are wanted.
 * @param {number} seconds How long the microphone records.
 * @param {(samples: Float32Array) => Promise<void>} answer Runs the model.
 * @param {(text: string) => void} say Shows an error or what is under way.
 */
export function soundInput(rate, seconds, answer, say) {
  const take = async (/** @type {Blob} */ sound, /** @type {string} */ name) => {
    let samples;
    try {
      samples = await decode(sound, rate);
    } catch {
      say(`${name}: expected a sound, such as WAV or MP3, got another file`);
      return;
    }
    await answer(samples);
  };
  const speak = button(`Record ${seconds.toFixed(1)} seconds`, async () => {
    let recording;
    try {
      recording = await record(seconds, () => say("Listening"));
    } catch (error) {
      say(`The microphone cannot be used: ${error.message}`);
      return;
    }
    await take(recording, "The recording");
  });
  const file = fileButton("Choose a sound", "audio/*", (chosen) => take(chosen, chosen.name));
  return element("div", { class: "controls" }, speak, file);
}

/**
 * Returns a sound's samples from -1 to 1, at this rate; channels are averaged.
 * @param {Blob} sound
 * @param {number} rate
 */
async function decode(sound, rate) {
  // The length is that of what this context would play, which is nothing.
  const context = new OfflineAudioContext(1, 1, rate);
  const decoded = await context.decodeAudioData(await sound.arrayBuffer());
  const samples = new Float32Array(decoded.length);
  for (let channel = 0; channel < decoded.numberOfChannels; ++channel) {
    const data = decoded.getChannelData(channel);
    for (let n = 0; n < samples.length; ++n) samples[n] += data[n] / decoded.numberOfChannels;
  }
  return samples;
}

/**
 * Records the microphone.
 * @param {number} seconds
 * @param {() => void} begin Is called when the recording begins.
 */
async function record(seconds, begin) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: AS_IT_IS });
  try {
    const recorder = new MediaRecorder(stream, { audioBitsPerSecond: BITS_A_SECOND });
    const parts = [];
    recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
    const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve));
    recorder.start();
    begin();
    setTimeout(() => recorder.stop(), 1000 * seconds);
    await stopped;
    return new Blob(parts, { type: recorder.mimeType });
  } finally {
    stream.getTracks().forEach((track) => track.stop());
  }
}

/**
 * Returns so many samples of a sound, those with the most power; silence follows a short sound.
 * @param {Float32Array} samples
 * @param {number} length
 */
export function loudestPart(samples, length) {
  const part = new Float32Array(length);
  let power = 0;
  let most = -1;
  let begin = 0;
  for (let n = 0; n < samples.length; ++n) {
    power += samples[n] ** 2 - (n >= length ? samples[n - length] ** 2 : 0);
    if (n >= length - 1 && power > most) {
      most = power;
      begin = n - length + 1;
    }
  }
  part.set(samples.subarray(begin, begin + length));
  return part;
}
