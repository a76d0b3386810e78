/** A thread of a model in browsers. */

import { help } from "./help.js";

globalThis.addEventListener("message", ({ data }) =>
  help(data, (message) => globalThis.postMessage(message)),
);
