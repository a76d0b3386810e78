#include "larq_engine/runtime/cuda/shaped_launches.h"

#include <algorithm>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/arena.h"
#include "larq_engine/runtime/run_event.h"

namespace larq_engine {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

}  // namespace

ShapedLaunches::ShapedLaunches(CudaExecutor& executor, const Program& program,
                               std::span<const size_t> ops, const std::vector<bool>& is_shared,
                               DeviceConstants& constants)
    : executor_(executor),
      program_(program),
      ops_(ops),
      constants_(constants),
      chain_of_(program.ops().size(), kNowhere) {
  for (Chain& chain : MakeChains(program_, ops_, is_shared, executor_.fuse())) {
    std::string name;
    for (size_t op : chain.ops) {
      name += (name.empty() ? "" : "+") + std::string(program_.op(op).name.kind);
    }
    for (size_t op : chain.ops) chain_of_[op] = chains_.size();
    chains_.push_back({.chain = std::move(chain), .launches = {}, .name = LastingName(name)});
  }
  PlaceValues(is_shared);
  // Making the launches now reports errors before the first run, and copies constants to the
  // device.
  MakeLaunches({});
}

ShapedLaunches::~ShapedLaunches() {
  executor_.memory()->Wait();
  executor_.queue().device().Releasing([&] { DropGraphs(); });
}

void ShapedLaunches::PlaceValues(const std::vector<bool>& is_shared) {
  std::vector<ArenaBuffer> buffers;
  std::vector<size_t> values;
  for (size_t c = 0; c < chains_.size(); ++c) {
    const Chain& chain = chains_[c].chain;
    for (size_t i = 0; i < chain.ops.size(); ++i) {
      const size_t output = program_.op(chain.ops[i]).output;
      if (!chain.stores[i] || is_shared[output]) continue;
      size_t last = c;
      for (size_t reader : program_.value(output).readers) last = std::max(last, chain_of_[reader]);
      buffers.push_back({.bytes = program_.value(output).bytes, .first = c, .last = last});
      values.push_back(output);
    }
  }
  memory_ = std::make_unique<DeviceBuffer>(*executor_.memory(), MemoryUse::kActivations,
                                           PlaceBuffers(buffers));
  offsets_.assign(program_.values().size(), kNowhere);
  for (size_t i = 0; i < values.size(); ++i) offsets_[values[i]] = buffers[i].offset;
}

void ShapedLaunches::MakeLaunches(std::span<std::byte* const> places) {
  const auto place = [&](size_t value) -> std::byte* {
    if (offsets_[value] != kNowhere) return memory_->data() + offsets_[value];
    return places.empty() ? nullptr : places[value];
  };
  const LaunchMaker maker(program_, constants_, executor_.queue().device().chip(),
                          executor_.kernel(), place);
  for (PlannedChain& planned : chains_) {
    ForOperator(FirstOp(planned).name, [&] { planned.launches = maker.Make(planned.chain); });
  }
}

// Calls `work`, and names all operators in its errors: an error of a graph may come from any of
// them.
template <typename Work>
void ShapedLaunches::NamingAll(const Work& work) const {
  try {
    work();
  } catch (const OpError& e) {
    const std::string first = program_.op(ops_.front()).name.ErrorStart();
    const std::string last = program_.op(ops_.back()).name.ErrorStart();
    throw OpError(
        (ops_.size() == 1 ? "" : "one of the operators from ") + first.substr(0, first.size() - 2) +
        (ops_.size() == 1 ? "" : " to " + last.substr(0, last.size() - 2)) + ": " + e.what());
  }
}

void ShapedLaunches::DropGraphs() {
  graph_.reset();
  for (PlannedChain& planned : chains_) planned.timed.reset();
}

void ShapedLaunches::Record(CUstream stream) const {
  // The first launch follows copies, or launches of others, whose kernels may not allow an early
  // begin.
  Begin begin = Begin::kInTurn;
  for (const PlannedChain& planned : chains_) {
    ForOperator(FirstOp(planned).name, [&] {
      for (const Launch& launch : planned.launches) {
        executor_.queue().Add(launch, stream, begin);
        begin = Begin::kEarly;
      }
    });
  }
}

void ShapedLaunches::Run(const SegmentRun& run) {
  const CudaQueue& queue = executor_.queue();
  const CudaDevice::Current current(queue.device());
  if (!std::equal(places_.begin(), places_.end(), run.places.begin(), run.places.end())) {
    DropGraphs();
    places_.clear();
    MakeLaunches(run.places);
    places_.assign(run.places.begin(), run.places.end());
  }
  if (run.profiling || run.profiler != nullptr) return RunTimed(run.profiler);
  NamingAll([&] {
    if (graph_ == nullptr) {
      graph_ = std::make_unique<CudaGraph>(queue, [this](CUstream stream) { Record(stream); });
    }
    graph_->Launch();
  });
}

// Runs one chain after the other and waits for each, so that the host's profiler sees how long it
// takes.
void ShapedLaunches::RunTimed(RunProfiler* profiler) {
  for (PlannedChain& planned : chains_) {
    const OpName& name = FirstOp(planned).name;
    ForOperator(name, [&] {
      if (planned.timed == nullptr) {
        planned.timed = std::make_unique<TimedLaunches>(executor_.queue(), planned.launches);
      }
      const RunEvent event(profiler, name.node, planned.name);
      planned.total_ns += planned.timed->Run();
      ++planned.calls;
    });
  }
}

void ShapedLaunches::ClearProfile() {
  for (PlannedChain& planned : chains_) planned.calls = planned.total_ns = 0;
}

// Appends a row for each operator. The time of a chain is shown in the row of its first operator,
// because the others are computed within its kernel.
void ShapedLaunches::AppendProfile(std::vector<StepProfile>& steps) const {
  for (size_t index : ops_) {
    const ProgramOp& op = program_.op(index);
    StepProfile& row = steps.emplace_back();
    row.op = op.name.kind;
    row.name = program_.value(op.output).name;
    row.layer = op.name.layer;
    row.node = op.name.node;
    row.device = executor_.device();
    row.macs = Macs(*op.op, program_.InputShapes(op), program_.value(op.output).shape);
    const PlannedChain& planned = chains_[chain_of_[index]];
    if (!planned.launches.empty()) row.kernel = cuda::RowOf(planned.launches[0].kernel).name;
    row.group = FirstOp(planned).name.node;
    row.calls = planned.calls;
    row.total_ns = planned.chain.ops[0] == index ? planned.total_ns : 0;
  }
}

}  // namespace larq_engine
