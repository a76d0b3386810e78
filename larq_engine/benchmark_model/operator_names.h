// Names of an operator in a file.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_OPERATOR_NAMES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_OPERATOR_NAMES_H_

#include <string>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

struct OperatorNames {
  std::string op;      // such as "CONV_2D"; a custom operator's own name
  std::string layer;   // layer that the operator belongs to
  std::string tensor;  // first output; empty if there is none
};

OperatorNames NamesOf(const ModelFile& model, const FileGraph& graph, const FileOperator& op);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_OPERATOR_NAMES_H_
