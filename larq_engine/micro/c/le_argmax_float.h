/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* ARG_MAX and ARG_MIN of floats along the middle of three dimensions; of equals, the first. NaN is
 * found only where all values are NaN. */
#ifndef LE_ARGMAX_FLOAT_H
#define LE_ARGMAX_FLOAT_H

#include "le_argmax.h"

LE_ARG(le_argmax_float, float, value > most || (most != most && value == value))
LE_ARG(le_argmin_float, float, value < most || (most != most && value == value))

#endif
