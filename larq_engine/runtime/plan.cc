#include "larq_engine/runtime/plan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"

namespace larq_engine {
namespace {

size_t ElementBytes(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteBool ? 1 : sizeof(int32_t);
}

// The shape of a step's output, as the file declares it.
TensorShape OutputShape(Step& step, const std::vector<int>& declared_dims,
                        const std::vector<TensorShape>& inputs) {
  TensorShape output = step.Resize(inputs);
  // No dimensions at all stand for a shape that the file leaves open.
  if (!declared_dims.empty()) CheckRank(declared_dims, "output", output.dims.size());
  return output;
}

// A copy that lasts as long as the process: hosts' profilers keep the pointers, and read them when
// plans may have been made anew. There are as many as there are different groups.
const char* LastingName(const std::string& name) {
  static auto* names = new std::set<std::string>;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return names->insert(name).first->c_str();
}

// The host's profiler sees every group under its operators' own names. Not where a node is a plan
// by itself (without index): the host times that one already.
class HostProfilerEvent {
 public:
  HostProfilerEvent(void* profiler, const OpNode& node, const char* ops)
      : profiler_(node.index < 0 ? nullptr : static_cast<ProfilerInterface*>(profiler)) {
    if (profiler_ == nullptr) return;
    handle_ = profiler_->BeginEvent(
        ops, ProfilerInterface::EventType::DELEGATE_PROFILED_OPERATOR_INVOKE_EVENT, node.index, 0);
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

using Clock = std::chrono::steady_clock;

uint64_t NanosecondsSince(Clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

}  // namespace

Plan::Plan(std::shared_ptr<Engine> engine, std::vector<OpNode> nodes, std::set<int> host_outputs)
    : engine_(std::move(engine)), nodes_(std::move(nodes)), host_outputs_(std::move(host_outputs)) {
  engine_->Add(this);
}

Plan::~Plan() { engine_->Remove(this); }

void Plan::MakeSteps(const TfLiteContext& context, bool absorb) {
  Steps steps;
  std::map<int, int> producer;  // tensor -> the latest step that makes it
  const StepKernels kernels{.kernel = engine_->kernel(), .pixel_ops = engine_->pixel_ops()};
  for (const OpNode& node : nodes_) {
    auto planned = std::make_unique<PlannedStep>();
    planned->node = node;
    ForOperator(node, planned->layer, [&] {
      const OpInfo op = DescribeOp(context, node);
      planned->name = op.output.name;
      planned->layer = LayerName(op);
      planned->declared_dims = op.output.dims;
      planned->step = MakeStep(node.op, op, kernels);
    });
    for (size_t input : planned->step->data_inputs()) {
      const auto found = producer.find(node.inputs[input]);
      planned->producers.push_back(found == producer.end() ? -1 : found->second);
    }
    producer[node.outputs[0]] = static_cast<int>(steps.size());
    steps.push_back(std::move(planned));
  }
  if (absorb) AbsorbSteps(steps);
  steps_ = std::move(steps);
}

void Plan::Prepare(TfLiteContext* context) {
  prepared_ = false;
  if (steps_.empty()) MakeSteps(*context, engine_->fuse());
  if (!SizeSteps(context)) {
    MakeSteps(*context, false);
    SizeSteps(context);
  }
  threads_ = &engine_->Threads(context->recommended_num_threads);
  PlaceTensors(MakeGroups());
  prepared_ = true;
}

// False if a step has absorbed one that changes the shape, which only running it can do: a constant
// of several channels makes as many of one.
bool Plan::SizeSteps(TfLiteContext* context) {
  std::vector<TensorShape> shapes(steps_.size());  // of the outputs
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!SizeStep(context, i, shapes)) return false;
  }
  return true;
}

bool Plan::SizeStep(TfLiteContext* context, size_t index, std::vector<TensorShape>& shapes) {
  PlannedStep& planned = *steps_[index];
  const std::vector<size_t> data = planned.step->data_inputs();
  std::vector<TensorShape> inputs;
  for (size_t i = 0; i < data.size(); ++i) {
    const int tensor = planned.node.inputs[data[i]];
    const std::span<const int> dims = AsSpan(context->tensors[tensor].dims);
    inputs.push_back(planned.producers[i] >= 0 ? shapes[static_cast<size_t>(planned.producers[i])]
                                               : TensorShape{{dims.begin(), dims.end()}});
  }
  for (const auto& absorbed : planned.absorbed) {
    TensorShape output;
    ForOperator(absorbed->node, absorbed->layer,
                [&] { output = OutputShape(*absorbed->step, absorbed->declared_dims, inputs); });
    if (output.dims != inputs[0].dims) return false;
  }
  ForOperator(planned.node, planned.layer,
              [&] { SizeOwn(context, planned, inputs, shapes[index]); });
  return true;
}

void Plan::SizeOwn(TfLiteContext* context, PlannedStep& planned,
                   const std::vector<TensorShape>& inputs, TensorShape& shape) {
  shape = OutputShape(*planned.step, planned.declared_dims, inputs);
  const auto place = [&](int tensor, const std::vector<int>& dims) {
    const size_t bytes = static_cast<size_t>(CountElements(dims, dims.size())) *
                         ElementBytes(context->tensors[tensor].type);
    // Of a pixelwise step: its inputs have as many pixels as its output.
    const size_t pixels = static_cast<size_t>(planned.step->pixels());
    return Place{.kind = PlaceKind::kHost,
                 .tensor = tensor,
                 .bytes = bytes,
                 .pixel_bytes = pixels == 0 ? 0 : bytes / pixels};
  };
  planned.inputs.clear();
  const std::vector<size_t> data = planned.step->data_inputs();
  for (size_t i = 0; i < data.size(); ++i) {
    const int tensor = planned.node.inputs[data[i]];
    planned.inputs.push_back(place(tensor, inputs[i].dims));
    const TfLiteTensor& input = context->tensors[tensor];
    if (input.allocation_type == kTfLiteMmapRo && ElementBytes(input.type) > 1) {
      planned.inputs.back().constant = ConstantValues<int32_t>(input.data.data, input.bytes);
    }
  }
  const int output = planned.node.outputs[0];
  planned.output = place(output, shape.dims);
  if (!host_outputs_.contains(output)) return;
  IntArrayPtr dims = MakeIntArray(shape.dims);
  if (dims == nullptr) throw std::bad_alloc();
  if (context->ResizeTensor(context, &context->tensors[output], dims.release()) != kTfLiteOk) {
    throw OpError("the host cannot make an output of shape " + DimsString(shape.dims) +
                  "; feed a smaller input");
  }
}

std::vector<std::vector<size_t>> Plan::MakeGroups() {
  std::vector<FusionStep> sizes;
  for (const auto& planned : steps_) {
    sizes.push_back({.producers = planned->producers,
                     .pixels = planned->step->pixels(),
                     .pixelwise = planned->step->pixelwise()});
  }
  groups_.clear();
  largest_group_ = 0;
  std::vector<std::vector<size_t>> grouped = GroupSteps(sizes, engine_->fuse());
  for (const std::vector<size_t>& members : grouped) {
    Group group = {.steps = {}, .pixels = sizes[members[0]].pixels, .tiling = {}, .ops = nullptr};
    std::string ops;
    size_t pixel_bytes = 0;
    for (size_t member : members) {
      PlannedStep& planned = *steps_[member];
      group.steps.push_back(&planned);
      ops += (ops.empty() ? "" : "+") + std::string(planned.node.op);
      pixel_bytes = MemorySum(pixel_bytes, planned.output.pixel_bytes);
    }
    group.ops = LastingName(ops);
    const int64_t blocks = members.size() == 1 ? group.steps[0]->step->channel_blocks() : 1;
    group.tiling = CutWork(group.pixels, pixel_bytes, group.steps[0]->step->kernel_rows(), blocks,
                           threads_->threads());
    largest_group_ = std::max(largest_group_, members.size());
    groups_.push_back(std::move(group));
  }
  step_ns_.assign(static_cast<size_t>(threads_->threads()) * largest_group_, 0);
  return grouped;
}

void Plan::PlaceTensors(std::span<const std::vector<size_t>> members) {
  std::vector<PlacementStep> steps;
  size_t step_scratch = 0;
  for (const auto& planned : steps_) {
    steps.push_back({.producers = planned->producers,
                     .bytes = planned->output.bytes,
                     .pixel_bytes = planned->output.pixel_bytes,
                     .host_output = host_outputs_.contains(planned->output.tensor),
                     .pixelwise = planned->step->pixelwise(),
                     .in_place = planned->step->in_place()});
    step_scratch = std::max(step_scratch, planned->step->scratch_bytes());
  }
  std::vector<int64_t> tile_pixels;
  for (const Group& group : groups_) {
    tile_pixels.push_back(LargestTile(group.pixels, group.tiling));
  }
  const Placement placement = PlaceOutputs(steps, members, tile_pixels);
  const size_t tiles_offset = RoundUp(step_scratch, kBufferAlignment);
  const auto put = [&](Place& place, size_t maker) {
    const OutputPlace& found = placement.outputs[maker];
    place.kind = found.kind;
    place.offset = found.offset + (found.kind == PlaceKind::kTile ? tiles_offset : 0);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    put(steps_[i]->output, i);
    for (size_t k = 0; k < steps_[i]->inputs.size(); ++k) {
      const int producer = steps_[i]->producers[k];
      if (producer >= 0) put(steps_[i]->inputs[k], static_cast<size_t>(producer));
    }
  }
  memory_ = AlignedBuffer<std::byte>(placement.block_bytes);
  scratch_stride_ = RoundUp(MemorySum(tiles_offset, placement.tile_bytes), kBufferAlignment);
  scratch_ = AlignedBuffer<std::byte>(
      MemoryProduct(scratch_stride_, static_cast<size_t>(threads_->threads())));
}

// Finds where the tensor begins for this run; a tile has no such place.
void Plan::FindTensor(TfLiteContext* context, const PlannedStep& planned, Place& place,
                      const char* role) {
  if (place.kind == PlaceKind::kTile) return;
  if (place.kind == PlaceKind::kBlock) {
    place.base = memory_.data() + place.offset;
    return;
  }
  const TfLiteTensor& tensor = context->tensors[place.tensor];
  if (place.bytes > 0 && (tensor.data.data == nullptr || tensor.bytes < place.bytes)) {
    throw OpError(ErrorStart(planned.node, planned.layer) + role + ": expected " +
                  std::to_string(place.bytes) + " bytes from the host, got " +
                  std::to_string(tensor.data.data == nullptr ? 0 : tensor.bytes) +
                  "; allocate tensors after resizing; if that was done, the file is corrupted");
  }
  const void* data = place.constant.data() == nullptr ? tensor.data.data : place.constant.data();
  place.base = static_cast<std::byte*>(const_cast<void*>(data));  // constants are only read
}

struct Plan::Job {
  const Group* group;
  std::byte* scratch;
  size_t scratch_stride;
  uint64_t* step_ns;  // [workers][step_ns_stride], or null when nothing is timed
  size_t step_ns_stride;
};

void Plan::RunUnits(void* data, int64_t first, int64_t last, int worker) {
  const Job& job = *static_cast<const Job*>(data);
  const Group& group = *job.group;
  std::byte* scratch = job.scratch + static_cast<size_t>(worker) * job.scratch_stride;
  const int64_t blocks = group.steps[0]->step->channel_blocks();
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t tile = unit / group.tiling.blocks;
    const int64_t part = unit % group.tiling.blocks;
    const StepRange range{.first_pixel = TileBegin(group.pixels, group.tiling, tile),
                          .last_pixel = TileBegin(group.pixels, group.tiling, tile + 1),
                          .first_block = blocks * part / group.tiling.blocks,
                          .last_block = blocks * (part + 1) / group.tiling.blocks};
    const auto at_first_pixel = [&](const Place& place) {
      return place.kind == PlaceKind::kTile
                 ? scratch + place.offset
                 : place.base + static_cast<size_t>(range.first_pixel) * place.pixel_bytes;
    };
    for (size_t i = 0; i < group.steps.size(); ++i) {
      const PlannedStep& planned = *group.steps[i];
      const Step& step = *planned.step;
      std::array<const void*, kMaxDataInputs> inputs;
      for (size_t k = 0; k < planned.inputs.size(); ++k) {
        const Place& input = planned.inputs[k];
        inputs[k] = step.pixelwise() ? at_first_pixel(input) : input.base;
      }
      const auto start = job.step_ns == nullptr ? Clock::time_point() : Clock::now();
      step.Run({inputs.data(), planned.inputs.size()}, range, scratch,
               at_first_pixel(planned.output));
      if (job.step_ns != nullptr) {
        job.step_ns[static_cast<size_t>(worker) * job.step_ns_stride + i] +=
            NanosecondsSince(start);
      }
    }
  }
}

void Plan::RunGroup(TfLiteContext* context, Group& group) {
  for (PlannedStep* planned : group.steps) {
    for (Place& input : planned->inputs) FindTensor(context, *planned, input, "input");
    FindTensor(context, *planned, planned->output, "output");
  }
  const bool profiling = engine_->profiling();
  if (profiling) std::fill(step_ns_.begin(), step_ns_.end(), 0);
  Job job{.group = &group,
          .scratch = scratch_.data(),
          .scratch_stride = scratch_stride_,
          .step_ns = profiling ? step_ns_.data() : nullptr,
          .step_ns_stride = largest_group_};
  const auto start = profiling ? Clock::now() : Clock::time_point();
  threads_->Run(group.tiling.units(), RunUnits, &job);
  if (profiling) ShareTime(group, NanosecondsSince(start));
}

// The time that a group took, shared among its steps as the workers spent theirs.
void Plan::ShareTime(Group& group, uint64_t wall_ns) {
  std::vector<double> spent(group.steps.size());
  double all = 0;
  for (size_t at = 0; at < step_ns_.size(); ++at) {
    if (at % largest_group_ >= group.steps.size()) continue;
    spent[at % largest_group_] += static_cast<double>(step_ns_[at]);
    all += static_cast<double>(step_ns_[at]);
  }
  for (size_t i = 0; i < group.steps.size(); ++i) {
    const double share = all > 0 ? spent[i] / all : 1.0 / static_cast<double>(spent.size());
    group.steps[i]->calls.fetch_add(1, std::memory_order_relaxed);
    group.steps[i]->total_ns.fetch_add(static_cast<uint64_t>(static_cast<double>(wall_ns) * share),
                                       std::memory_order_relaxed);
  }
}

void Plan::Invoke(TfLiteContext* context) {
  if (!prepared_) {
    throw OpError(
        "larq_engine: expected allocated tensors, got a run after allocation failed; "
        "allocate tensors again");
  }
  for (Group& group : groups_) {
    const HostProfilerEvent event(context->profiler, group.steps[0]->node, group.ops);
    RunGroup(context, group);
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
                     .layer = planned->layer,
                     .node = planned->node.index,
                     .kernel = planned->step->kernel(),
                     .calls = planned->calls.load(std::memory_order_relaxed),
                     .total_ns = planned->total_ns.load(std::memory_order_relaxed),
                     .macs = planned->step->macs()});
  }
}

}  // namespace larq_engine
