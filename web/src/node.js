/** The package for Node. */

import { loader } from "./loading.js";
import * as system from "./node_system.js";

export { imageTensor } from "./image.js";
export const load = /* @__PURE__ */ loader(system);
