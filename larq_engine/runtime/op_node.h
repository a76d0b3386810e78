// An operator of a plan as the host's graph has it, and how errors name it.
#ifndef LARQ_ENGINE_RUNTIME_OP_NODE_H_
#define LARQ_ENGINE_RUNTIME_OP_NODE_H_

#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "larq_engine/runtime/op_error.h"
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

// See layer_name.h.
std::string LayerName(const OpInfo& op);

// What the text of an error begins with; `layer` may be empty.
std::string ErrorStart(const OpNode& node, const std::string& layer);

// Says which operator the errors of `work` are of; it may yet find the name.
template <typename Work>
void ForOperator(const OpNode& node, const std::string& layer, const Work& work) {
  constexpr const char* kOutOfMemory =
      "expected memory for its constants and results, got none; free some, or the file is "
      "corrupted";
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OpError(ErrorStart(node, layer) + kOutOfMemory);
  } catch (const std::length_error&) {  // of a vector that no memory could hold
    throw OpError(ErrorStart(node, layer) + kOutOfMemory);
  } catch (const OpError& e) {
    // Where the output itself is what is wrong, there is no name to give.
    throw OpError(ErrorStart(node, layer) + e.what());
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OP_NODE_H_
