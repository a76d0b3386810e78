// A TFLite subgraph as plain values. The file reader and the model builder produce it, and MiniHost
// runs it. Nothing in it is checked: it may describe nonsense, which many tests want.
#ifndef LARQ_ENGINE_TESTS_HOST_GRAPH_H_
#define LARQ_ENGINE_TESTS_HOST_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine::testing {

struct GraphTensor {
  std::string name;
  TfLiteType type = kTfLiteNoType;
  std::vector<int> shape;
  std::vector<int> shape_signature;  // empty: the same as the shape
  bool is_constant = false;
  std::vector<uint8_t> data;  // contents of a constant
  bool is_quantized = false;
  std::vector<float> scales;
  std::vector<int> zero_points;
  int quantized_dimension = 0;
};

struct GraphOperator {
  int builtin_code = builtin::kCustom;
  std::string custom_name;
  int version = 1;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<uint8_t> options;  // bytes of a custom operator
  // For a builtin operator: the structure that the host makes of its options; empty for null.
  std::vector<uint8_t> builtin_data = {};
};

struct Graph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphOperator> operators;  // in execution order
  std::vector<int> inputs;
  std::vector<int> outputs;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_GRAPH_H_
