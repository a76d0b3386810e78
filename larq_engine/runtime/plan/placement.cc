#include "larq_engine/runtime/plan/placement.h"

#include <string>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

void CheckCut(const ProgramOp& op, int64_t channels) {
  const auto* conv = std::get_if<Bconv2dOp>(op.op.get());
  if (conv == nullptr || conv->spec.groups != 1) {
    throw OpError("placement: only binarized convolutions of one group can be cut in two");
  }
  const int64_t step = conv->transform.kind == OutputKind::kBits ? 32 : 1;
  if (channels >= conv->spec.out_channels || channels % step != 0) {
    throw OpError("placement: expected fewer than the layer's " +
                  std::to_string(conv->spec.out_channels) + " output channels for the first part" +
                  (step == 1 ? "" : ", in whole words of " + std::to_string(step)) + ", got " +
                  std::to_string(channels));
  }
}

}  // namespace

void PlaceOps(const Placement& placement, int subgraph, Program& program) {
  for (size_t i = 0; i < program.ops().size(); ++i) {
    ProgramOp& op = *program.ops()[i];
    const NodePlacement* place = placement.Find({subgraph, op.name.node});
    if (place == nullptr || place->parts.empty()) continue;
    if (place->parts.size() == 2) {
      ForOperator(op.name, [&] { CheckCut(op, place->channels); });
      program.Split(i, place->channels);
      program.ops()[i]->place = place->parts[0];
      program.ops()[++i]->place = place->parts[1];
      program.ops()[++i]->place = OpPlacement{.device = place->parts[0].device};  // joins the parts
    } else {
      op.place = place->parts[0];
    }
  }
}

}  // namespace larq_engine
