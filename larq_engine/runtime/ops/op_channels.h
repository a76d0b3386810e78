// Some channels of an operator that treats each channel by itself.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_

#include <cstdint>

#include "larq_engine/runtime/ops/op.h"

namespace larq_engine {

// Tells whether channel i of the output depends only on channel i of the operator's single input,
// which has `channels` channels. Of quantizations, only those of floats to one bit are such
// operators; concatenations are not.
bool IsChannelwise(const Op& op, int64_t channels);

// Returns the operator for `count` channels from `first` on.
Op OfChannels(const Op& op, int64_t first, int64_t count);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_CHANNELS_H_
