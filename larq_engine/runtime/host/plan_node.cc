#include "larq_engine/runtime/host/plan_node.h"

#include <algorithm>
#include <new>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

class ContextTensors : public HostTensors {
 public:
  explicit ContextTensors(TfLiteContext* context) : context_(context) {}

  std::vector<int> Dims(int tensor) const override {
    const std::span<const int> dims = AsSpan(context_->tensors[tensor].dims);
    return {dims.begin(), dims.end()};
  }

  void Resize(int tensor, const std::vector<int>& dims) override {
    IntArrayPtr array = MakeIntArray(dims);
    if (array == nullptr) throw std::bad_alloc();
    if (context_->ResizeTensor(context_, &context_->tensors[tensor], array.release()) !=
        kTfLiteOk) {
      throw OpError("the host cannot make an output of shape " + DimsString(dims) +
                    "; feed a smaller input");
    }
  }

  std::span<std::byte> Data(int tensor) const override {
    const TfLiteTensor& found = context_->tensors[tensor];
    if (found.data.data == nullptr) return {};
    return {static_cast<std::byte*>(found.data.data), found.bytes};
  }

 private:
  TfLiteContext* context_;
};

class ContextProfiler : public RunProfiler {
 public:
  explicit ContextProfiler(TfLiteContext* context)
      : profiler_(static_cast<ProfilerInterface*>(context->profiler)) {}

  uint32_t Begin(const char* name, int node) override {
    return profiler_->BeginEvent(
        name, ProfilerInterface::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT, node, 0);
  }
  void End(uint32_t event) override { profiler_->EndEvent(event); }

 private:
  ProfilerInterface* profiler_;
};

}  // namespace

Program PlanNode::ReadProgram(const TfLiteContext& context) const {
  Program program;
  for (const HostNode& node : nodes_) {
    for (size_t i = 0; i < std::max<size_t>(node.outputs.size(), 1); ++i) {
      OpName name{.kind = node.op->name, .layer = "", .node = node.index};
      ForOperator(name, [&] {
        const OpInfo info = DescribeOp(context, node, i);
        const int output = node.outputs[i];
        program.Add(*node.op, name, info, node.inputs, output, host_outputs_.contains(output));
      });
    }
  }
  return program;
}

void PlanNode::Prepare(TfLiteContext* context) {
  ContextTensors tensors(context);
  plan_.Prepare([&] { return ReadProgram(*context); }, tensors, context->recommended_num_threads);
}

void PlanNode::Invoke(TfLiteContext* context) {
  ContextTensors tensors(context);
  ContextProfiler profiler(context);
  plan_.Invoke(tensors, context->profiler == nullptr ? nullptr : &profiler);
}

}  // namespace larq_engine
