/** Shows what a model answered: the best classes, and all numbers. */

import { element } from "./elements.js";

const SHOWN = 5; // classes

/** The part of a page with the answer. */
export class Answers {
  #said = element("p", { class: "said", role: "status" });
  #best = element("ol", { class: "best" });
  #numbers = element("pre", { tabindex: 0, "aria-label": "All numbers of the answer" });
  #all = element(
    "details",
    { ontoggle: () => this.#writeNumbers() },
    element("summary", {}, "All numbers"),
    this.#numbers,
  );
  #outputs = [];

  /** @param {string[] | undefined} labels Names of the classes. */
  constructor(labels) {
    this.labels = labels;
    this.element = element("div", { class: "answers" }, this.#said, this.#best, this.#all);
    this.#all.hidden = true;
  }

  /**
   * Shows a text. One that is no answer takes the place of the last answer.
   * @param {string} text
   * @param {boolean} [isAnswer] Tells an answer, which is large, from other texts such as errors.
   */
  say(text, isAnswer = false) {
    this.#said.classList.toggle("answer", isAnswer);
    // A live region that is set to the text that it has would be read again.
    if (this.#said.textContent !== text) this.#said.textContent = text;
    if (isAnswer) return;
    this.#best.replaceChildren();
    this.#all.hidden = true;
  }

  /**
   * Shows an answer.
   * @param {{ name: string, values: ArrayLike<number | bigint>, real: number[] }[]} outputs
   */
  show(outputs) {
    const [{ real }] = outputs;
    const order = bestOf(real);
    const write = writerOf(real);
    this.say(real.length > 1 ? this.#label(order[0]) : write(real[0]), true);
    const isScored = real.length > 1;
    this.#best.replaceChildren(
      ...(isScored ? order.map((place) => this.#row(place, real, order, write)) : []),
    );
    this.#all.hidden = false;
    this.#outputs = outputs;
    this.#writeNumbers();
  }

  /** Writes all numbers while they are seen, so that answers with many of them come quickly. */
  #writeNumbers() {
    if (!this.#all.open) return;
    this.#numbers.textContent = this.#outputs
      .map(({ name, values }) => `${name}: ${Array.from(values).join(" ")}`)
      .join("\n");
  }

  #label(place) {
    return this.labels?.[place] ?? `class ${place}`;
  }

  #row(place, real, order, write) {
    const bar = element("span", { class: "bar", "aria-hidden": true });
    const least = Math.min(0, real[order.at(-1)]);
    const share = (real[place] - least) / (real[order[0]] - least || 1);
    bar.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
    return element(
      "li",
      {},
      element("span", { class: "label" }, this.#label(place)),
      element("span", { class: "track" }, bar),
      element("span", { class: "score" }, write(real[place])),
    );
  }
}

/**
 * Returns the places of the highest scores, the best first, and of equal ones the first.
 * @param {number[]} real
 */
function bestOf(real) {
  // NaN is neither more nor less than a number, so that it would keep the place that it has.
  const score = (place) => (Number.isNaN(real[place]) ? -Infinity : real[place]);
  const best = [];
  for (let place = 0; place < real.length; ++place) {
    if (best.length === SHOWN && score(place) <= score(best.at(-1))) continue;
    const worse = best.findIndex((other) => score(place) > score(other));
    best.splice(worse < 0 ? best.length : worse, 0, place);
    best.length = Math.min(best.length, SHOWN);
  }
  return best;
}

/**
 * Returns a function that writes scores: shares as such if all add up to 1.
 * @param {number[]} real
 */
function writerOf(real) {
  const sum = real.reduce((all, value) => all + value, 0);
  const areShares =
    real.length > 1 && real.every((value) => value >= 0) && Math.abs(sum - 1) < 0.05;
  return (value) => (areShares ? `${(100 * value).toFixed(1)} %` : value.toPrecision(4));
}

/**
 * Returns a model's result by its outputs, with the real numbers that quantized ones stand for.
 * @param {any} result What `predict` returned.
 * @param {{ name: string, scale: any, zeroPoint: any }[]} outputs
 */
export function outputsOf(result, outputs) {
  return outputs.map(({ name, scale, zeroPoint }) => {
    const values = outputs.length === 1 ? result : result[name];
    const isScaled = typeof scale === "number" && scale > 0;
    const real = Array.from(values, (value) =>
      isScaled ? (Number(value) - zeroPoint) * scale : Number(value),
    );
    return { name, values, real };
  });
}
