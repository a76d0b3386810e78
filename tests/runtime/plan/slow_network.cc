#include "tests/runtime/plan/slow_network.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/host/delegate.h"
#include "tests/host/model_builder.h"
#include "tests/runtime/plan/mirror_device.h"

namespace larq_engine::testing {
namespace {

// Milliseconds on the CPU and on the mirror. They are much longer than the machine needs.
constexpr std::array<std::array<double, 2>, 12> kMilliseconds = {{
    {0.2, 0.4},
    {2.0, 0.5},
    {0.2, 0.9},  // quantization, convolution, sum
    {0.3, 0.3},
    {0.4, 1.6},
    {0.2, 0.8},  //
    {0.2, 0.3},
    {1.8, 0.3},
    {0.5, 0.4},  //
    {0.3, 0.2},
    {1.5, 0.4},
    {0.3, 0.9},
}};
constexpr double kLinkLatency = 0.25e-3;
constexpr double kLinkSecondsPerByte = 20e-9;

double KnownSeconds(size_t node, size_t device) { return kMilliseconds[node][device] / 1e3; }

double KnownSeconds(const ProgramOp& op, size_t device) {
  return KnownSeconds(static_cast<size_t>(op.name.node), device);
}

class SlowSegment : public Segment {
 public:
  SlowSegment(std::unique_ptr<Segment> segment, double seconds)
      : segment_(std::move(segment)), seconds_(seconds) {}

  void Resize(int host_threads) override { segment_->Resize(host_threads); }
  void Run(const SegmentRun& run) override {
    TakeAtLeast(seconds_, [&] { segment_->Run(run); });
  }
  void ClearProfile() override { segment_->ClearProfile(); }
  void AppendProfile(std::vector<StepProfile>& steps) const override {
    segment_->AppendProfile(steps);
  }

 private:
  std::unique_ptr<Segment> segment_;
  double seconds_;
};

// The CPU with known costs of operators.
class SlowCpu : public Executor {
 public:
  SlowCpu(const EngineOptions& options, bool slow) : cpu_(options), slow_(slow) {}

  const char* device() const override { return cpu_.device(); }
  std::string Refusal(const Program& program, const ProgramOp& op) const override {
    return cpu_.Refusal(program, op);
  }
  std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                              int) const override {
    std::vector<double> seconds;
    for (size_t op : ops) seconds.push_back(KnownSeconds(program.op(op), 0));
    return seconds;
  }
  HostComparison CompareWithHost(const KnownOp& row, const OpInfo& op) const override {
    return cpu_.CompareWithHost(row, op);
  }
  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override {
    double seconds = 0;
    for (size_t op : ops) seconds += KnownSeconds(program.op(op), 0);
    return std::make_unique<SlowSegment>(cpu_.Compile(program, ops, is_shared),
                                         slow_ ? seconds : 0);
  }

 private:
  CpuExecutor cpu_;
  bool slow_;
};

Graph MakeGraph() {
  ModelBuilder builder(kTfLiteFloat32, {1, 8, 8, 64});
  for (size_t i = 0; i < kMilliseconds.size(); i += 3) {
    const int before = builder.LastTensor();
    builder.AddQuantize().AddConv({.filters = 64});
    builder.AddBinary(builtin::kAdd, kTfLiteActNone, before);
  }
  return builder.Build();
}

}  // namespace

SlowNetwork::SlowNetwork() : graph_(MakeGraph()) {
  std::map<int, size_t> value_of;  // indexed by tensor
  value_of[graph_.inputs[0]] = AddValue(-1, graph_.inputs[0]);
  for (size_t i = 0; i < graph_.operators.size(); ++i) {
    const GraphOperator& op = graph_.operators[i];
    AssignOp& added = problem_.ops.emplace_back();
    for (int input : op.inputs) {
      if (value_of.contains(input)) added.inputs.push_back(value_of[input]);  // else a constant
    }
    added.output = value_of[op.outputs[0]] = AddValue(static_cast<int>(i), op.outputs[0]);
    added.seconds = {KnownSeconds(i, 0), KnownSeconds(i, 1)};
  }
}

size_t SlowNetwork::AddValue(int producer, int tensor) {
  tensor_of_.push_back(static_cast<size_t>(tensor));
  const size_t value = problem_.values.size();
  const double seconds =
      kLinkLatency + kLinkSecondsPerByte * static_cast<double>(TensorBytes(Tensor(value)));
  problem_.values.push_back({.producer = producer,
                             .host_reads = tensor == graph_.outputs[0],
                             .seconds_there = seconds,
                             .seconds_back = seconds});
  return value;
}

DelegatePtr SlowNetwork::MakePlaced(const std::vector<size_t>& device, bool slow) const {
  EngineOptions options;
  options.kernel = "auto";
  options.num_threads = 1;
  auto mirror = std::make_unique<MirrorExecutor>();
  mirror->seconds = [](const ProgramOp& op) { return KnownSeconds(op, 1); };
  mirror->slow = slow;
  mirror->memory()->latency = kLinkLatency;
  mirror->memory()->seconds_per_byte = kLinkSecondsPerByte;
  mirror->memory()->slow = slow;
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<SlowCpu>(options, slow));
  executors.push_back(std::move(mirror));
  Placement placement;
  for (size_t i = 0; i < device.size(); ++i) {
    placement.nodes[{0, static_cast<int>(i)}].parts = {{.device = device[i]}};
  }
  return DelegatePtr(MakeDelegate(
      std::make_shared<Engine>(options, std::move(executors), std::move(placement)), options));
}

size_t TensorBytes(const GraphTensor& tensor) {
  size_t bytes = sizeof(float);
  for (int dim : tensor.shape) bytes *= static_cast<size_t>(dim);
  return bytes;
}

}  // namespace larq_engine::testing
