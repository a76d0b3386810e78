// How errors and profiles name an operator of a model.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_

#include <new>
#include <stdexcept>
#include <string>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

struct OpName {
  const char* kind;   // lasting, as in the table of operators
  std::string layer;  // see LayerName; may be empty
  int node = -1;      // in the host's graph, or -1 where the host does not tell

  // What the text of an error begins with.
  std::string ErrorStart() const {
    return kind + (layer.empty() ? "" : " '" + layer + "'") +
           (node < 0 ? "" : " (#" + std::to_string(node) + ")") + ": ";
  }
};

// Says which operator the errors of `work` are of; it may yet find the layer's name.
template <typename Work>
void ForOperator(const OpName& name, const Work& work) {
  constexpr const char* kOutOfMemory =
      "expected memory for its constants and results, got none; free some, or the file is "
      "corrupted";
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw OpError(name.ErrorStart() + kOutOfMemory);
  } catch (const std::length_error&) {  // of a vector that no memory could hold
    throw OpError(name.ErrorStart() + kOutOfMemory);
  } catch (const OpError& e) {
    // Where the output itself is what is wrong, there is no name to give.
    throw OpError(name.ErrorStart() + e.what());
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_NAME_H_
