#include "larq_engine/runtime/host/claim_facts.h"

#include <algorithm>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

OperatorKind KindOf(const HostNode& node) {
  if (node.op == nullptr) return OperatorKind::kUnknown;
  if (node.op->is_weights()) return OperatorKind::kUnpacksWeights;
  return node.op->is_ours() ? OperatorKind::kOurs : OperatorKind::kHosts;
}

PlacedOn PlaceOf(const NodePlacement* place) {
  if (place == nullptr) return PlacedOn::kNowhere;
  if (place->parts.empty()) return PlacedOn::kHost;
  return place->IsOnCpu() ? PlacedOn::kCpu : PlacedOn::kGpu;
}

// Describes a tensor, such as "float32[-1, 5, 5, 8]", with the sizes that the file leaves open.
std::string DescribeTensor(const TensorInfo& tensor) {
  if (!tensor.present) return "none";
  return (tensor.constant == nullptr ? "" : "constant ") + std::string(TypeName(tensor.type)) +
         DimsString(tensor.signature.empty() ? tensor.dims : tensor.signature);
}

// Describes the operator's inputs and its output.
std::string DescribeTensors(const OpInfo& op) {
  std::string text;
  for (const TensorInfo& input : op.inputs) {
    text += (text.empty() ? "" : ", ") + DescribeTensor(input);
  }
  return text + " -> " + DescribeTensor(op.output);
}

// Tells whether we compute this form of an operator of the host, and how fast.
void ReadForm(const TfLiteContext& context, const HostNode& node, const Engine& engine,
              ClaimOperator& facts) {
  const auto executors = engine.executors();
  for (size_t output = 0; output < node.outputs.size(); ++output) {
    const OpInfo op = DescribeOp(context, node, output);
    if (!node.op->can_claim(op)) {
      facts.form = DescribeTensors(op);
      return;
    }
    facts.on_cpu = executors[0]->CompareWithHost(*node.op, op);
    if (executors.size() > 1) facts.on_gpu = executors[1]->CompareWithHost(*node.op, op);
  }
  facts.is_form_computed = !node.outputs.empty();
}

}  // namespace

ClaimGraph ReadClaimFacts(const TfLiteContext& context, const HostGraph& graph,
                          const Engine& engine, const Placement& placement, int subgraph) {
  ClaimGraph read{.operators = {}, .is_constant = graph.is_constant};
  for (const HostNode& node : graph.nodes) {
    ClaimOperator& facts = read.operators.emplace_back();
    facts.kind = KindOf(node);
    facts.inputs = node.inputs;
    facts.outputs = node.outputs;
    facts.placed_on = PlaceOf(placement.Find({std::max(subgraph, 0), node.index}));
    if (facts.kind != OperatorKind::kHosts) continue;
    facts.must_be_read = node.op->must_be_read;
    facts.reads_weight_bits = node.weights != nullptr;
    try {
      ReadForm(context, node, engine, facts);
    } catch (const OpError& e) {
      facts.form = e.what();  // only the host may know what to do with the operator
    }
  }
  return read;
}

ClaimGraph WithAllPlaceable(ClaimGraph graph) {
  for (ClaimOperator& op : graph.operators) {
    if (op.placed_on != PlacedOn::kNowhere) op.placed_on = PlacedOn::kGpu;
    op.on_gpu = HostComparison::kAsFast;
  }
  return graph;
}

}  // namespace larq_engine
