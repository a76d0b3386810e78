// What an operator of a file is called.
#ifndef BENCHMARKS_MODEL_OPERATOR_NAMES_H_
#define BENCHMARKS_MODEL_OPERATOR_NAMES_H_

#include <string>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

struct OperatorNames {
  std::string op;      // such as "CONV_2D"; of a custom operator its own name
  std::string layer;   // that it belongs to
  std::string tensor;  // what it makes first; empty if it makes nothing
};

OperatorNames NamesOf(const ModelFile& model, const FileGraph& graph, const FileOperator& op);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_OPERATOR_NAMES_H_
