/** larq_engine in a worker of its own, as the package does by default. */

import { opener } from "./larq_engine_package.js";

export const start = async () => opener({});
