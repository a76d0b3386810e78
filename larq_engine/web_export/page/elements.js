/** Makes elements of a page. Texts stay texts: nothing is read as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns an element of HTML. Attributes whose names begin with "on" are listeners.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} content
 */
export const element = (name, attributes = {}, ...content) =>
  fill(document.createElement(name), attributes, content);

/**
 * Returns an element of a drawing.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} content
 */
export const drawn = (name, attributes = {}, ...content) =>
  fill(document.createElementNS(SVG, name), attributes, content);

function fill(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, String(value));
  }
  made.append(...content);
  return made;
}

/**
 * Returns a button that shows while its work is under way, and which then cannot be pressed again.
 * @param {string} text
 * @param {() => Promise<void>} work
 */
export function button(text, work) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", async () => {
    if (made.getAttribute("aria-disabled") === "true") return;
    // A disabled button would lose the focus.
    made.setAttribute("aria-disabled", "true");
    try {
      await work();
    } finally {
      made.removeAttribute("aria-disabled");
    }
  });
  return made;
}

/**
 * Returns a button that lets choose a file.
 * @param {string} text
 * @param {string} accept Kinds of files.
 * @param {(file: File) => void} take
 */
export function fileButton(text, accept, take) {
  const chooser = element("input", { type: "file", accept });
  chooser.addEventListener("change", () => {
    if (chooser.files.length) take(chooser.files[0]);
    chooser.value = ""; // the same file may be chosen again
  });
  return element("label", { class: "file" }, text, chooser);
}
