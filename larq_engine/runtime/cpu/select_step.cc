// SELECT and SELECT_V2 of the host.
#include "larq_engine/runtime/cpu/broadcast_step.h"

namespace larq_engine {
namespace {

class SelectStep : public BroadcastStep {
 public:
  explicit SelectStep(const SelectOp& op)
      : BroadcastStep({BytesOf(ValueType::kBool), op.value_bytes, op.value_bytes}, op.value_bytes),
        op_(op),
        loop_(SelectLoopOf(op.value_bytes)) {}

 private:
  std::vector<std::vector<int>> OperandDims(std::span<const TensorShape> inputs) const override {
    return op_.OperandDims(inputs);
  }
  void RunLine(std::span<const LineOperand> operands, size_t count, void* out) const override {
    loop_(operands[0], operands[1], operands[2], count, out);
  }

  const SelectOp& op_;
  SelectLoop loop_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SelectOp& op, const StepKernels&) {
  return std::make_unique<SelectStep>(op);
}

}  // namespace larq_engine
