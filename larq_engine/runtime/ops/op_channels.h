// Some channels of an operator that does the same to each of them by itself.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_

#include <cstdint>

#include "larq_engine/runtime/ops/op.h"

namespace larq_engine {

// Whether channel i of its output is made of channel i of its one input, which has so many, and of
// nothing else. Quantizations are of floats to a bit each; concatenations are no such operators.
bool IsChannelwise(const Op& op, int64_t channels);

// The operator for `count` channels from `first` on.
Op OfChannels(const Op& op, int64_t first, int64_t count);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_
