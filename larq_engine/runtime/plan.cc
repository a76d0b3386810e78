#include "larq_engine/runtime/plan.h"

#include <chrono>
#include <map>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/runtime/arena.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"

namespace larq_engine {
namespace {

size_t ElementBytes(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteBool ? 1 : sizeof(int32_t);
}

constexpr const char* kOutOfMemory =
    "expected memory for its filter, got none; free some, or the file is corrupted";

// The host's profiler sees every step under the operator's own name. Not where a node is a plan by
// itself (without index): the host times that one already.
class HostProfilerEvent {
 public:
  HostProfilerEvent(void* profiler, const OpNode& node)
      : profiler_(node.index < 0 ? nullptr : static_cast<ProfilerInterface*>(profiler)) {
    if (profiler_ == nullptr) return;
    handle_ = profiler_->BeginEvent(
        node.op, ProfilerInterface::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT, node.index,
        0);
  }
  ~HostProfilerEvent() {
    if (profiler_ != nullptr) profiler_->EndEvent(handle_);
  }
  HostProfilerEvent(const HostProfilerEvent&) = delete;
  HostProfilerEvent& operator=(const HostProfilerEvent&) = delete;

 private:
  ProfilerInterface* profiler_;
  uint32_t handle_ = 0;
};

}  // namespace

Plan::Plan(std::shared_ptr<Engine> engine, std::vector<OpNode> nodes, std::set<int> host_outputs)
    : engine_(std::move(engine)), nodes_(std::move(nodes)), host_outputs_(std::move(host_outputs)) {
  engine_->Add(this);
}

Plan::~Plan() { engine_->Remove(this); }

void Plan::MakeSteps(const TfLiteContext& context) {
  std::vector<std::unique_ptr<PlannedStep>> steps;
  for (const OpNode& node : nodes_) {
    auto planned = std::make_unique<PlannedStep>();
    planned->node = node;
    try {
      const OpInfo op = DescribeOp(context, node);
      planned->name = op.output.name;
      planned->declared_dims = op.output.dims;
      planned->step = MakeStep(node.op, op, engine_->kernel());
    } catch (const std::bad_alloc&) {
      throw OpError(ErrorStart(node, planned->name) + kOutOfMemory);
    } catch (const OpError& e) {
      // Where the output itself is what is wrong, there is no name to give.
      throw OpError(ErrorStart(node, planned->name) + e.what());
    }
    steps.push_back(std::move(planned));
  }
  steps_ = std::move(steps);
}

void Plan::Prepare(TfLiteContext* context) {
  prepared_ = false;
  if (steps_.empty()) MakeSteps(*context);
  std::map<int, TensorShape> made;  // the outputs of earlier steps
  for (auto& planned : steps_) {
    try {
      SizeStep(context, *planned, made);
    } catch (const std::bad_alloc&) {
      throw OpError(ErrorStart(planned->node, planned->name) + kOutOfMemory);
    } catch (const OpError& e) {
      throw OpError(ErrorStart(planned->node, planned->name) + e.what());
    }
  }
  PlaceTensors();
  threads_ = &engine_->Threads(context->recommended_num_threads);
  scratch_stride_ = 0;
  for (const auto& planned : steps_) {
    scratch_stride_ =
        std::max(scratch_stride_, RoundUp(planned->step->scratch_bytes(), kBufferAlignment));
  }
  scratch_ = AlignedBuffer<std::byte>(scratch_stride_ * static_cast<size_t>(threads_->threads()));
  prepared_ = true;
}

void Plan::SizeStep(TfLiteContext* context, PlannedStep& planned,
                    std::map<int, TensorShape>& made) {
  const int input = planned.node.inputs[0];
  const int output = planned.node.outputs[0];
  const auto is_own = [&](int tensor) {
    return made.contains(tensor) && !host_outputs_.contains(tensor);
  };
  const auto place = [&](int tensor, const std::vector<int>& dims) {
    const size_t elements = static_cast<size_t>(CountElements(dims, dims.size()));
    const size_t bytes = elements * ElementBytes(context->tensors[tensor].type);
    return Place{.tensor = tensor, .bytes = bytes, .own = is_own(tensor)};
  };
  const std::span<const int> host_dims = AsSpan(context->tensors[input].dims);
  const TensorShape input_shape =
      made.contains(input) ? made[input] : TensorShape{{host_dims.begin(), host_dims.end()}};
  planned.input = place(input, input_shape.dims);
  made[output] = planned.step->Resize(input_shape);
  const std::vector<int>& output_dims = made[output].dims;
  planned.output = place(output, output_dims);
  // No dimensions at all stand for a shape that the file leaves open.
  if (!planned.declared_dims.empty()) {
    CheckRank(planned.declared_dims, "output", output_dims.size());
  }
  if (planned.output.own) return;
  IntArrayPtr dims = MakeIntArray(output_dims);
  if (dims == nullptr) throw std::bad_alloc();
  if (context->ResizeTensor(context, &context->tensors[output], dims.release()) != kTfLiteOk) {
    throw OpError("the host cannot make an output of shape " + DimsString(output_dims) +
                  "; feed a smaller input");
  }
}

void Plan::PlaceTensors() {
  std::vector<ArenaBuffer> buffers;
  std::map<int, size_t> buffer_of;  // tensor -> index in buffers, of its latest producer
  std::vector<std::pair<Place*, size_t>> places;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Place& input = steps_[i]->input;
    Place& output = steps_[i]->output;
    if (input.own) {
      const size_t buffer = buffer_of.at(input.tensor);
      buffers[buffer].last = i;
      places.emplace_back(&input, buffer);
    }
    if (output.own) {
      buffer_of[output.tensor] = buffers.size();
      places.emplace_back(&output, buffers.size());
      buffers.push_back({.bytes = output.bytes, .first = i, .last = i});
    }
  }
  memory_ = AlignedBuffer<std::byte>(PlaceBuffers(buffers));
  for (auto& [place, buffer] : places) place->offset = buffers[buffer].offset;
}

void* Plan::Locate(TfLiteContext* context, const Place& place, const char* role) {
  if (place.own) return memory_.data() + place.offset;
  const TfLiteTensor& tensor = context->tensors[place.tensor];
  if (place.bytes > 0 && (tensor.data.data == nullptr || tensor.bytes < place.bytes)) {
    throw OpError(std::string(role) + ": expected " + std::to_string(place.bytes) +
                  " bytes from the host, got " +
                  std::to_string(tensor.data.data == nullptr ? 0 : tensor.bytes) +
                  "; allocate tensors after resizing; if that was done, the file is corrupted");
  }
  return tensor.data.data;
}

void Plan::RunStep(TfLiteContext* context, PlannedStep& planned) {
  struct Job {
    const Step* step;
    const void* input;
    void* output;
    std::byte* scratch;
    size_t scratch_stride;
  };
  Job job{.step = planned.step.get(),
          .input = Locate(context, planned.input, "input"),
          .output = Locate(context, planned.output, "output"),
          .scratch = scratch_.data(),
          .scratch_stride = scratch_stride_};
  threads_->Run(
      planned.step->units(),
      [](void* data, int64_t first, int64_t last, int worker) {
        const Job& j = *static_cast<const Job*>(data);
        j.step->Run(j.input, first, last,
                    j.scratch + static_cast<size_t>(worker) * j.scratch_stride, j.output);
      },
      &job);
}

void Plan::Invoke(TfLiteContext* context) {
  using Clock = std::chrono::steady_clock;
  if (!prepared_) {
    throw OpError(
        "larq_engine: expected allocated tensors, got a run after allocation failed; "
        "allocate tensors again");
  }
  const bool profiling = engine_->profiling();
  for (auto& planned : steps_) {
    const HostProfilerEvent event(context->profiler, planned->node);
    const Clock::time_point start = profiling ? Clock::now() : Clock::time_point();
    try {
      RunStep(context, *planned);
    } catch (const OpError& e) {
      throw OpError(ErrorStart(planned->node, planned->name) + e.what());
    }
    if (profiling) {
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
      planned->calls.fetch_add(1, std::memory_order_relaxed);
      planned->total_ns.fetch_add(static_cast<uint64_t>(ns.count()), std::memory_order_relaxed);
    }
  }
}

void Plan::ClearProfile() {
  for (auto& planned : steps_) {
    planned->calls.store(0, std::memory_order_relaxed);
    planned->total_ns.store(0, std::memory_order_relaxed);
  }
}

void Plan::AppendProfile(std::vector<StepProfile>& steps) const {
  for (const auto& planned : steps_) {
    steps.push_back({.op = planned->node.op,
                     .name = planned->name,
                     .node = planned->node.index,
                     .kernel = planned->step->kernel(),
                     .calls = planned->calls.load(std::memory_order_relaxed),
                     .total_ns = planned->total_ns.load(std::memory_order_relaxed),
                     .macs = planned->step->macs()});
  }
}

}  // namespace larq_engine
