/** The live page of the documents: digits, words and a benchmark. */

import { element } from "../page/elements.js";
import { benchmark } from "./benchmark.js";
import { digits } from "./digits.js";
import { words } from "./words.js";

const main = document.getElementById("main");
const state = document.getElementById("state");

async function start() {
  state.textContent = "Loading";
  const settings = await (await fetch("settings.json")).json();
  main.append(
    section("Draw a digit", "digits", digits(settings.digits)),
    section("Speak a word", "words", words(settings.words)),
    section("How fast is this browser?", "benchmark", benchmark(settings.benchmark)),
  );
  state.remove();
}

const section = (title, id, content) =>
  element("section", { id, "aria-labelledby": `${id}-title` }, heading(title, id), content);
const heading = (title, id) => element("h2", { id: `${id}-title` }, title);

start().catch((error) => {
  state.textContent = error.message;
});
