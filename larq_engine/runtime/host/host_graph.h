// The host's graph, read into values.
#ifndef LARQ_ENGINE_RUNTIME_HOST_HOST_GRAPH_H_
#define LARQ_ENGINE_RUNTIME_HOST_HOST_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/op_table.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// A node of the host's graph. Tensors are given by their index.
struct HostNode {
  const KnownOp* op;  // null if it stays with the host
  int index;          // number of the node, or -1 if the host does not tell
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::span<const uint8_t> options = {};  // valid as long as the model
  BuiltinOptions builtin_options = {};
  std::shared_ptr<const HostNode> weights = nullptr;  // the LceUnpackWeights that makes input 1
};

// The host's own structures of a node.
struct NodeAndRegistration {
  TfLiteNode* node;
  TfLiteRegistration* registration;
};

NodeAndRegistration GetNode(TfLiteContext* context, int index);

// Maps tensors that LceUnpackWeights makes to the nodes that make them.
using Unpackers = std::map<int, int>;

// `unpackers` are those before the node. If they are not given, they are searched for.
HostNode ReadNode(TfLiteContext* context, int index, const Unpackers* unpackers = nullptr);

// Describes the node with the current tensors and its output number `output`. Throws OpError if the
// tensors fit no operator of the table.
OpInfo DescribeOp(const TfLiteContext& context, const HostNode& node, size_t output = 0);

struct HostGraph {
  std::vector<HostNode> nodes;    // in the order in which they run
  std::vector<bool> is_constant;  // for each tensor
};

// Returns the number of the graph in the model, while a delegate is prepared; -1 if the host does
// not tell it. The search goes from `guess` on, then from the start.
int SubgraphNumber(TfLiteContext* context, int guess);

HostGraph ReadGraph(TfLiteContext* context, std::span<const int> order);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_HOST_GRAPH_H_
