// A graph of a .tflite file as the operators that the engine computes by itself.
#ifndef LARQ_ENGINE_RUNTIME_MODEL_MODEL_GRAPH_H_
#define LARQ_ENGINE_RUNTIME_MODEL_MODEL_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/ops/op_info.h"
#include "larq_engine/runtime/ops/op_table.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

class ModelGraph {
 public:
  // `file` is legal (see CheckModel) and must live as long as the graph, like the bytes that it
  // was read from. Throws OpError that names each operator that the engine does not compute.
  ModelGraph(const ModelFile& file, size_t graph);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }

  // Makes the program. Throws OpError, whose text names the operator.
  Program MakeProgram() const;

 private:
  struct Node {
    const KnownOp* op;
    int index;  // number in the file's graph
    const FileOperator* file;
    BuiltinOptions options;
    std::shared_ptr<const OpInfo> weights = nullptr;  // the LceUnpackWeights that makes input 1
  };

  void Add(const FileOperator& op, int index);
  std::optional<Node> FindNode(const FileOperator& op, int index);
  bool HasForm(OpForm form, const FileOperator& op, Node& node);
  void AddUnpacker(const FileOperator& op, int index);
  void Unpack(int tensor);
  void UnpackAll(std::span<const int> tensors);
  bool AddConstant(const FileOperator& op, int index);
  void SetConstant(int tensor, AlignedBuffer<uint8_t> values);
  OpName NameOf(const Node& node) const;
  OpInfo Describe(const Node& node, size_t output) const;
  bool CanCompute(const Node& node) const;
  std::string DescribeMissing(const FileOperator& op, int index) const;
  void Refuse() const;

  const ModelFile& file_;
  std::vector<TensorInfo> tensors_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  std::vector<Node> nodes_;
  // Weights that the file keeps as bits, for each tensor that an LceUnpackWeights makes.
  std::map<int, std::shared_ptr<const OpInfo>> weight_bits_;
  std::vector<AlignedBuffer<uint8_t>> constants_;  // that are not in the file
  std::vector<std::string> missing_;               // operators that the engine does not compute
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MODEL_MODEL_GRAPH_H_
