#include "larq_engine/benchmark_model/host_plan.h"

namespace larq_engine {

HostPlanReader::HostPlanReader(const TfLiteDelegate* engine) : engine_(engine) {
  delegate_.data_ = this;
  delegate_.flags = kTfLiteDelegateFlagsAllowDynamicTensors;  // or LiteRT prepares all nodes first
  delegate_.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    auto* reader = static_cast<HostPlanReader*>(delegate->data_);
    // The first graph is the main one. Later graphs are parts of its operators.
    if (!reader->has_read_) reader->Read(context);
    reader->has_read_ = true;
    return kTfLiteOk;
  };
}

void HostPlanReader::Read(TfLiteContext* context) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return;
  std::vector<HostPlanStep> steps;
  const std::vector<int> order(plan->data, plan->data + plan->size);  // the host reuses its array
  for (const int index : order) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) return;
    if (node->delegate == nullptr) {
      steps.push_back({.part = HostPart::kOperator, .nodes = {index}});
      continue;
    }
    const auto* taken = static_cast<const TfLiteDelegateParams*>(node->builtin_data);
    if (taken == nullptr) return;
    const std::span<const int> nodes = AsSpan(taken->nodes_to_replace);
    steps.push_back({.part = node->delegate == engine_ ? HostPart::kEngine : HostPart::kXnnpack,
                     .nodes = {nodes.begin(), nodes.end()}});
  }
  steps_ = std::move(steps);
}

}  // namespace larq_engine
