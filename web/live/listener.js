/** Decides which words were said: the rule of examples/keywords.py. */

import { Spectrogram } from "./spectrogram.js";

const NO_WORD = -1;

/** Hears words in samples that come one after another. */
export class Listener {
  #samples = 0;
  #looks = 0;
  #before = NO_WORD;
  #rest = 0;

  /** @param {any} tables What tools/live_page.py writes of the Python example. */
  constructor(tables) {
    this.tables = tables;
    this.sound = new Spectrogram(tables);
  }

  /**
   * Takes a sample, and tells whether it is time to run the model on `sound.image()`.
   * @param {number} sample From -32768 to 32767.
   */
  push(sample) {
    const { SIZE, LOOK } = this.tables;
    if (!this.sound.push(this.#inHiss(sample))) return false;
    const { moments } = this.sound;
    return moments >= SIZE && (moments - SIZE) % LOOK === 0;
  }

  /**
   * Takes the model's scores, and returns the word that was said, if one was.
   * @param {number[]} scores From 0 to 1.
   */
  look(scores) {
    const { WORDS, SURE, LOUD, LENGTH, LOOK, HOP, RATE, PAUSE } = this.tables;
    const best = scores.indexOf(Math.max(...scores));
    const { power } = this.sound;
    const isLoud = Math.max(...power) > LOUD * Math.min(...power);
    const word = isLoud && scores[best] > SURE ? best : NO_WORD;
    const isSaid = word !== NO_WORD && word === this.#before && this.#looks >= this.#rest;
    const seconds = (this.#looks * LOOK * HOP + LENGTH) / RATE;
    if (isSaid) this.#rest = this.#looks + PAUSE;
    this.#before = word;
    ++this.#looks;
    return isSaid ? { word: WORDS[word], seconds, score: scores[word] } : undefined;
  }

  /** Adds noise, which depends on the sample's place, since the network knows no silence. */
  #inHiss(sample) {
    const { HISS } = this.tables;
    let noise = Math.imul(this.#samples++, 0x9e3779b1);
    noise = Math.imul(noise ^ (noise >>> 15), 0x85ebca77);
    noise = ((noise ^ (noise >>> 13)) >>> 16) * (2 * HISS + 1);
    const sum = sample + (noise >>> 16) - HISS;
    return Math.max(-32768, Math.min(32767, sum));
  }
}
