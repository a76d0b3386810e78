/** larq_engine in the page's own thread, as the other engines run. */

import { opener } from "./larq_engine_package.js";

export const start = async () => opener({ worker: false });
