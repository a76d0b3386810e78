// Checks whether a graph that a host has read is legal, so far as a delegate sees it.
#ifndef LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_
#define LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_

#include <span>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Throws std::runtime_error, which says what is wrong with the nodes; these are in the order of
// execution. Hosts check less, and some illegal graphs crash them: those before LiteRT crash when
// they partition a graph that is out of order.
void CheckGraph(TfLiteContext* context, std::span<const int> nodes);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_
