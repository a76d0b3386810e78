// Whether a graph that a host has read is legal, so far as a delegate sees it.
#ifndef LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_
#define LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_

#include <span>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Throws std::runtime_error that says what is wrong with the nodes, which are in the order of
// execution. Hosts check less, and crash on some of it: those before LiteRT when they cut a graph
// that is out of order into what is ours and what is not.
void CheckGraph(TfLiteContext* context, std::span<const int> nodes);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_GRAPH_CHECK_H_
