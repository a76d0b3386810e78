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

// Tensors by their index.
struct HostNode {
  const KnownOp* op;  // null where it stays with the host
  int index;          // of the node, or -1 where the host does not tell
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::span<const uint8_t> options = {};  // alive as long as the model
  HostOptions host_options = {};
  std::shared_ptr<const HostNode> weights = nullptr;  // the LceUnpackWeights that makes input 1
};

// What the host itself keeps of a node.
struct NodeAndRegistration {
  TfLiteNode* node;
  TfLiteRegistration* registration;
};

NodeAndRegistration GetNode(TfLiteContext* context, int index);

// The nodes that make tensors which LceUnpackWeights unpacks.
using Unpackers = std::map<int, int>;

// `unpackers` are those before it, if they are known; else they are looked for.
HostNode ReadNode(TfLiteContext* context, int index, const Unpackers* unpackers = nullptr);

// What stands at the node's tensors now, of those that it makes at one. Throws OpError where they
// cannot be those of any operator of the table.
OpInfo DescribeOp(const TfLiteContext& context, const HostNode& node, size_t output = 0);

struct HostGraph {
  std::vector<HostNode> nodes;             // in the order in which they run
  std::vector<bool> can_be_fused;          // of each node: the host's, and we can compute it
  std::vector<bool> is_for_other_devices;  // of those: see op.h
  std::vector<bool> is_constant;           // of each tensor
};

// Which of the model's graphs it is, while a delegate is prepared; -1 where the host does not tell.
// Looked for from `guess` on, then from the start.
int SubgraphNumber(TfLiteContext* context, int guess);

HostGraph ReadGraph(TfLiteContext* context, std::span<const int> order);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_HOST_GRAPH_H_
