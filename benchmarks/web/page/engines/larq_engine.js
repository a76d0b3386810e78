/** larq_engine in a worker of its own, as the package does by default. */

import { opener } from "./larq_engine_package.js";

/** @param {number} threads */
export const start = async (threads) => opener({ threads });
