/** The package for browsers. */

import * as system from "./browser.js";
import { loader } from "./loading.js";

export { imageTensor } from "./image.js";
export const load = /* @__PURE__ */ loader(system);
