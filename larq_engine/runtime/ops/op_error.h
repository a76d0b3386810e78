// An error in one operator of a model: expected, got, what to do. The plan puts the operator's
// kind, name and index before the text.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_ERROR_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_ERROR_H_

#include <stdexcept>
#include <string>

namespace larq_engine {

class OpError : public std::runtime_error {
 public:
  explicit OpError(const std::string& what) : std::runtime_error(what) {}
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_ERROR_H_
