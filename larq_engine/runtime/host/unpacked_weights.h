// LceUnpackWeights: turns weights that the file keeps as bits into a constant of the host's graph.
//
// It is not a step of a plan, because the host's own operators read the result. XNNPACK takes these
// operators only if their weights are constant when it looks at the graph, which is before anything
// is computed.
#ifndef LARQ_ENGINE_RUNTIME_HOST_UNPACKED_WEIGHTS_H_
#define LARQ_ENGINE_RUNTIME_HOST_UNPACKED_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/host/host_graph.h"

namespace larq_engine {

class UnpackedWeights {
 public:
  // Checks the operator, unpacks, and makes the host's output tensor a constant. Throws OpError,
  // whose text names the operator.
  UnpackedWeights(TfLiteContext* context, const HostNode& node);

  // Makes the host's tensor one that is still to be computed again.
  ~UnpackedWeights();

  UnpackedWeights(const UnpackedWeights&) = delete;
  UnpackedWeights& operator=(const UnpackedWeights&) = delete;

 private:
  void Unpack(const OpInfo& op);

  TfLiteContext* context_;
  int tensor_;
  AlignedBuffer<uint8_t> values_;  // float32 or int8
  size_t bytes_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_UNPACKED_WEIGHTS_H_
