// The plan that LiteRT made of a model: who computes which of its operators, in the order of
// execution.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_PLAN_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_PLAN_H_

#include <vector>

#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

enum class HostPart { kEngine, kXnnpack, kOperator };

struct HostPlanStep {
  HostPart part = HostPart::kOperator;
  std::vector<int> nodes = {};  // of the main graph; kOperator has one
};

// A delegate that takes no nodes. It is applied after all others, so it sees which nodes they took.
class HostPlanReader {
 public:
  explicit HostPlanReader(const TfLiteDelegate* engine);
  HostPlanReader(const HostPlanReader&) = delete;
  HostPlanReader& operator=(const HostPlanReader&) = delete;

  TfLiteDelegate* delegate() { return &delegate_; }

  // Returns nothing before a model was prepared, or if the host did not tell its plan.
  const std::vector<HostPlanStep>& steps() const { return steps_; }

 private:
  void Read(TfLiteContext* context);

  const TfLiteDelegate* engine_;
  TfLiteDelegate delegate_ = {};
  bool has_read_ = false;
  std::vector<HostPlanStep> steps_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_PLAN_H_
