/** Shows facts of a model and its times, as names and values. */

import { element } from "./elements.js";

/** A list of facts whose values may change. */
export class Facts {
  #values = new Map();
  element = element("dl", { class: "facts" });

  /**
   * @param {string} name
   * @param {string} value
   */
  set(name, value) {
    const known = this.#values.get(name);
    if (known) {
      known.textContent = value;
      return;
    }
    const shown = element("dd", {}, value);
    this.#values.set(name, shown);
    this.element.append(element("div", {}, element("dt", {}, name), shown));
  }
}
