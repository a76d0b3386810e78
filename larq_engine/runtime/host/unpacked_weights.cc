#include "larq_engine/runtime/host/unpacked_weights.h"

#include <algorithm>

#include "larq_engine/runtime/ops/op_name.h"
#include "larq_engine/runtime/ops/weight_bits.h"

namespace larq_engine {
namespace {

// XNNPACK may read 16 bytes (XNN_EXTRA_BYTES) after a tensor, and a page may end there.
constexpr size_t kReadableBytesAfter = 16;

}  // namespace

void UnpackedWeights::Unpack(const OpInfo& op) {
  const WeightBits weights = WeightBits::Read(op);
  bytes_ = weights.UnpackedBytes();
  values_ = AlignedBuffer<uint8_t>(bytes_ + kReadableBytesAfter);
  weights.UnpackTo(values_.data());
  std::fill_n(values_.data() + bytes_, kReadableBytesAfter, uint8_t{0});
}

UnpackedWeights::UnpackedWeights(TfLiteContext* context, const HostNode& node) : context_(context) {
  OpName name{.kind = node.op->name, .layer = "", .node = node.index};
  ForOperator(name, [&] {
    const OpInfo op = DescribeOp(*context, node);
    name.layer = LayerName(op);
    Unpack(op);
    tensor_ = node.outputs[0];
    TfLiteTensor& tensor = context->tensors[tensor_];
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.data.data = values_.data();
    tensor.bytes = bytes_;
  });
}

UnpackedWeights::~UnpackedWeights() {
  TfLiteTensor& tensor = context_->tensors[tensor_];
  tensor.allocation_type = kTfLiteArenaRw;
  tensor.data.data = nullptr;
}

}  // namespace larq_engine
