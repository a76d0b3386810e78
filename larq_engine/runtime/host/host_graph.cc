#include "larq_engine/runtime/host/host_graph.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/host/host_values.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

TensorInfo DescribeTensor(const TfLiteContext& context, int index) {
  TensorInfo info;
  if (index == kAbsentTensor) return info;
  if (index < 0 || static_cast<size_t>(index) >= context.tensors_size) {
    throw OpError("tensor #" + std::to_string(index) + " does not exist: the model has " +
                  std::to_string(context.tensors_size) + "; the file is corrupted");
  }
  const TfLiteTensor& tensor = context.tensors[index];
  info.present = true;
  if (tensor.name != nullptr) info.name = tensor.name;
  info.type = ReadElementType(tensor.type);
  const std::span<const int> dims = AsSpan(tensor.dims);
  info.dims.assign(dims.begin(), dims.end());
  const std::span<const int> signature = AsSpan(tensor.dims_signature);
  info.signature.assign(signature.begin(), signature.end());
  if (tensor.allocation_type == kTfLiteMmapRo) {
    info.constant = tensor.data.data;
    info.bytes = tensor.bytes;
  }
  if (tensor.quantization.type == kTfLiteAffineQuantization &&
      tensor.quantization.params != nullptr) {
    const auto& affine = *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
    if (affine.scale != nullptr) {
      info.scales.assign(affine.scale->data, affine.scale->data + affine.scale->size);
    }
    info.scale_axis = affine.quantized_dimension;
    const std::span<const int> zero_points = AsSpan(affine.zero_point);
    info.zero_points.assign(zero_points.begin(), zero_points.end());
  }
  return info;
}

}  // namespace

NodeAndRegistration GetNode(TfLiteContext* context, int index) {
  NodeAndRegistration found = {};
  if (context->GetNodeAndRegistration(context, index, &found.node, &found.registration) !=
      kTfLiteOk) {
    throw std::runtime_error("larq_engine: the host has no node #" + std::to_string(index));
  }
  return found;
}

namespace {

// Returns the LceUnpackWeights before node `index` that makes the tensor; null if there is none.
std::shared_ptr<const HostNode> FindWeightBits(TfLiteContext* context, int index, int tensor,
                                               const Unpackers* unpackers) {
  if (unpackers != nullptr) {
    const auto found = unpackers->find(tensor);
    if (found == unpackers->end()) return nullptr;
    return std::make_shared<const HostNode>(ReadNode(context, found->second));
  }
  for (int before = index - 1; before >= 0; --before) {
    const auto [node, registration] = GetNode(context, before);
    const std::span<const int> outputs = AsSpan(node->outputs);
    if (std::find(outputs.begin(), outputs.end(), tensor) == outputs.end()) continue;
    const KnownOp* op = FindOp(registration->builtin_code, registration->custom_name);
    if (op == nullptr || !op->is_weights()) return nullptr;
    return std::make_shared<const HostNode>(ReadNode(context, before));
  }
  return nullptr;
}

}  // namespace

HostNode ReadNode(TfLiteContext* context, int index, const Unpackers* unpackers) {
  const auto [node, registration] = GetNode(context, index);
  const std::span<const int> inputs = AsSpan(node->inputs);
  const std::span<const int> outputs = AsSpan(node->outputs);
  HostNode read{.op = FindOp(registration->builtin_code, registration->custom_name),
                .index = index,
                .inputs = {inputs.begin(), inputs.end()},
                .outputs = {outputs.begin(), outputs.end()},
                .options = {static_cast<const uint8_t*>(node->custom_initial_data),
                            static_cast<size_t>(std::max(node->custom_initial_data_size, 0))}};
  if (read.op == nullptr || read.op->is_ours()) return read;
  const std::optional<FileOptions> data = ReadBuiltinData(read.op->code, node->builtin_data);
  const std::optional<BuiltinOptions> options =
      ReadBuiltinOptions(read.op->code, data ? &*data : nullptr);
  if (!options) {
    read.op = nullptr;
  } else {
    read.builtin_options = *options;
    const KnownOp* of_bits = FindOpOfForm(*read.op, OpForm::kWeightBits);
    if (of_bits != nullptr && read.inputs.size() > 1) {
      read.weights = FindWeightBits(context, index, read.inputs[1], unpackers);
      if (read.weights != nullptr) read.op = of_bits;
    }
    if (read.op->is_float_conv && read.inputs.size() > 1 &&
        DescribeTensor(*context, read.inputs[1]).constant == nullptr) {
      read.weights = FindWeightBits(context, index, read.inputs[1], unpackers);
    }
    const KnownOp* of_int8 = FindOpOfForm(*read.op, OpForm::kInt8);
    if (of_int8 != nullptr && !read.inputs.empty() &&
        DescribeTensor(*context, read.inputs[0]).type == ElementType::kInt8) {
      read.op = of_int8;
    }
  }
  return read;
}

namespace {

// The node's output may be a constant by now, because it was unpacked for other nodes.
std::shared_ptr<const OpInfo> DescribeWeightBits(const TfLiteContext& context,
                                                 const HostNode& node) {
  auto op = std::make_shared<OpInfo>();
  for (int tensor : node.inputs) op->inputs.push_back(DescribeTensor(context, tensor));
  op->output = DescribeTensor(context, node.outputs[0]);
  op->options = node.options;
  return op;
}

}  // namespace

OpInfo DescribeOp(const TfLiteContext& context, const HostNode& node, size_t output) {
  OpInfo op;
  for (int tensor : node.inputs) op.inputs.push_back(DescribeTensor(context, tensor));
  if (node.outputs.size() != 1 && !node.op->makes_several) {
    throw OpError("expected 1 output, got " + std::to_string(node.outputs.size()) +
                  "; re-convert the model");
  }
  op.output = DescribeTensor(context, node.outputs[output]);
  if (node.weights != nullptr) op.weights = DescribeWeightBits(context, *node.weights);
  op.output_number = output;
  op.outputs = node.outputs.size();
  if (op.output.constant != nullptr) {
    throw OpError(
        "output: expected a tensor that is computed, got a constant; the file is corrupted");
  }
  op.options = node.options;
  op.builtin_options = node.builtin_options;
  return op;
}

// A host returns the graph of a number, but not the number of a graph. The graph that was asked for
// is not released afterwards, as a delegate could no longer change it.
int SubgraphNumber(TfLiteContext* context, int guess) {
  if (context->AcquireSubgraphContext == nullptr) return -1;
  TfLiteContext* found = nullptr;
  for (const int first : {guess, 0}) {
    for (int i = first; context->AcquireSubgraphContext(context, i, &found) == kTfLiteOk; ++i) {
      if (found == context) return i;
      context->ReleaseSubgraphContext(context, i);
    }
  }
  return -1;
}

HostGraph ReadGraph(TfLiteContext* context, std::span<const int> order) {
  HostGraph graph;
  Unpackers unpackers;  // avoids a long search for each of many layers
  for (int index : order) {
    graph.nodes.push_back(ReadNode(context, index, &unpackers));
    const HostNode& node = graph.nodes.back();
    if (node.op != nullptr && node.op->is_weights()) {
      for (int tensor : node.outputs) unpackers[tensor] = index;
    }
  }
  for (size_t i = 0; i < context->tensors_size; ++i) {
    graph.is_constant.push_back(context->tensors[i].allocation_type == kTfLiteMmapRo);
  }
  return graph;
}

}  // namespace larq_engine
