// Name of an operator of a model in errors and profiles.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_

#include <new>
#include <stdexcept>
#include <string>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

struct OpName {
  const char* kind;   // static text from the table of operators
  std::string layer;  // see LayerName; may be empty
  int node = -1;      // in the host's graph; -1 if the host does not tell

  // Returns the beginning of an error's text.
  std::string ErrorStart() const {
    return kind + (layer.empty() ? "" : " '" + layer + "'") +
           (node < 0 ? "" : " (#" + std::to_string(node) + ")") + ": ";
  }
};

// Puts the operator's name before the errors of `work`. `work` itself may still find the layer's
// name.
template <typename Work>
void ForOperator(const OpName& name, const Work& work) {
  constexpr const char* kOutOfMemory =
      "expected memory for its constants and results, got none; free some, or the file is "
      "corrupted";
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OpError(name.ErrorStart() + kOutOfMemory);
  } catch (const std::length_error&) {  // from a vector that no memory could hold
    throw OpError(name.ErrorStart() + kOutOfMemory);
  } catch (const OpError& e) {
    // The layer has no name if the output itself is wrong.
    throw OpError(name.ErrorStart() + e.what());
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_
