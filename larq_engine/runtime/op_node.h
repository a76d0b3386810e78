// An operator of a plan as the host's graph has it, and how errors name it.
#ifndef LARQ_ENGINE_RUNTIME_OP_NODE_H_
#define LARQ_ENGINE_RUNTIME_OP_NODE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/step.h"

namespace larq_engine {

// Tensors by their index.
struct OpNode {
  const char* op;  // lasting, see FindOpName and FindHostOp
  int index;       // of the node, or -1 where the host does not tell
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::span<const uint8_t> options;  // alive as long as the model
  HostOptions host_options = {};
};

// Throws OpError where the operator's tensors are not those of any of ours.
OpInfo DescribeOp(const TfLiteContext& context, const OpNode& node);

// What the text of an error begins with; `name` is that of the output tensor, or empty.
std::string ErrorStart(const OpNode& node, const std::string& name);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OP_NODE_H_
