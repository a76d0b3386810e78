// Functions of two values of the host.
#include "larq_engine/runtime/cpu/broadcast_step.h"

namespace larq_engine {
namespace {

class PairStep : public BroadcastStep {
 public:
  PairStep(const PairOp& op, const StepKernels& kernels)
      : BroadcastStep({BytesOf(op.type), BytesOf(op.type)}, BytesOf(op.OutputType())),
        op_(op),
        loop_(LoopOf(op.function, op.type, kernels.pixel_ops)) {}

 private:
  void RunLine(std::span<const LineOperand> operands, size_t count, void* out) const override {
    loop_(operands[0], operands[1], count, out);
    Activate(op_.activation, op_.type, count, out);
  }

  const PairOp& op_;
  PairLoop loop_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const PairOp& op, const StepKernels& kernels) {
  return std::make_unique<PairStep>(op, kernels);
}

}  // namespace larq_engine
