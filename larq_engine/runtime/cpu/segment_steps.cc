#include "larq_engine/runtime/cpu/segment_steps.h"

#include <algorithm>
#include <cstdint>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/op_channels.h"

namespace larq_engine {
namespace {

// Returns the operator for some of the channels.
Op PartOp(const Program& program, const ListedStep& listed) {
  const ProgramOp& op = program.op(listed.op);
  if (listed.kind == ListedStep::kJoin) {
    return ConcatenationOp{.inputs = 1, .element_bytes = program.value(op.output).element_bytes};
  }
  return OfChannels(*op.op, listed.channels.first, listed.channels.count);
}

// Finds where in each pixel of the output the part belongs.
void PlacePart(const Program& program, const ListedStep& listed, SegmentStep& made) {
  if (listed.output >= program.values().size()) return;  // the part is a value of its own
  const size_t element_bytes = program.value(program.op(listed.op).output).element_bytes;
  const bool makes_bits = std::holds_alternative<QuantizeOp>(*made.part_op);
  const auto bytes = [&](int64_t channels) {
    const auto values = static_cast<size_t>(channels);
    return (makes_bits ? values / kWordBits : values) * element_bytes;
  };
  made.part_offset = bytes(listed.channels.first);
  made.part_bytes = bytes(listed.channels.count);
}

ResidualOps FindResidual(const Program& program, const ListedStep& listed) {
  ResidualOps residual;
  for (size_t absorbed : listed.absorbed) {
    const Op& op = *program.op(absorbed).op;
    if (const auto* prelu = std::get_if<PreluOp>(&op)) {
      residual.prelu = prelu;
    } else if (std::get<BinaryOp>(op).kind == ChannelOp::kMultiply) {
      residual.is_gated = true;
    } else {
      residual.sum = &std::get<BinaryOp>(op);
    }
  }
  return residual;
}

std::vector<const Conv2dOp*> FindGroups(const Program& program, const ListedStep& listed) {
  std::vector<const Conv2dOp*> groups = {&std::get<Conv2dOp>(*program.op(listed.op).op)};
  for (size_t absorbed : listed.absorbed) {
    const auto* conv = std::get_if<Conv2dOp>(program.op(absorbed).op.get());
    if (conv != nullptr) groups.push_back(conv);
  }
  return groups;
}

// `part_op` is null if the step computes all channels.
std::unique_ptr<Step> MakeListed(const Program& program, const ListedStep& listed,
                                 const Op* part_op, const StepKernels& kernels) {
  const Op& op = part_op == nullptr ? *program.op(listed.op).op : *part_op;
  if (listed.absorbed.empty()) return MakeStep(op, kernels);
  if (const auto* conv = std::get_if<Bconv2dOp>(&op)) {
    return MakeStep(*conv, FindResidual(program, listed), kernels);
  }
  if (std::holds_alternative<Conv2dOp>(op)) {
    return MakeStep(FindGroups(program, listed), kernels);
  }
  const Op& product = *program.op(listed.absorbed[0]).op;
  const Op part = part_op == nullptr
                      ? product
                      : OfChannels(product, listed.channels.first, listed.channels.count);
  return MakeStep(std::get<MaxPool2dOp>(op), std::get<BinaryOp>(part).constant, kernels);
}

}  // namespace

std::vector<SegmentStep> MakeSegmentSteps(
    const Program& program, const StepList& list,
    const std::function<StepKernels(const ProgramOp&)>& kernels_for) {
  std::vector<SegmentStep> steps;
  for (const ListedStep& listed : list.steps) {
    SegmentStep& made = steps.emplace_back();
    if (listed.kind != ListedStep::kWhole) {
      made.part_op = std::make_unique<Op>(PartOp(program, listed));
      PlacePart(program, listed, made);
    }
    const ProgramOp& op = program.op(listed.op);
    made.name = &op.name;
    ForOperator(op.name, [&] {
      made.step = MakeListed(program, listed, made.part_op.get(), kernels_for(op));
    });
  }
  return steps;
}

std::map<size_t, std::vector<size_t>> FindAbsorbed(const StepList& list) {
  std::map<size_t, std::vector<size_t>> absorbed;
  for (const ListedStep& listed : list.steps) {
    for (size_t op : listed.absorbed) {
      std::vector<size_t>& others = absorbed[listed.op];  // from its other parts, too
      if (std::find(others.begin(), others.end(), op) == others.end()) others.push_back(op);
    }
  }
  return absorbed;
}

}  // namespace larq_engine
