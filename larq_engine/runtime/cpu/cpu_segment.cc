#include "larq_engine/runtime/cpu/cpu_segment.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/host_event.h"
#include "larq_engine/runtime/ops/op_channels.h"

namespace larq_engine {
namespace {

// Number of units whose steps are timed, to share a group's time among its steps. Reading the clock
// around each step of each unit made a network of 114 small steps a tenth slower.
constexpr int64_t kTimedUnits = 32;

// Limits the bytes that an operator reads and writes in a pass. If all of 32 images go through each
// step together, QuickNet takes 1.18 times as long (Xeon, L2 of 2 MB a core).
constexpr uint64_t kMostPassBytes = 1 << 20;

constexpr size_t kImageRank = 4;

}  // namespace

CpuSegment::CpuSegment(CpuExecutor& executor, const Program& program, std::span<const size_t> ops,
                       const std::vector<bool>& is_shared)
    : executor_(executor),
      program_(program),
      is_shared_(is_shared),
      op_indices_(ops.begin(), ops.end()) {
  for (size_t index : ops) {
    ops_.push_back(std::make_unique<PlannedOp>());
    ops_.back()->op = &program.op(index);
  }
}

// In images axis 0 counts the samples, whatever operator works on them. Values of other ranks may
// have the samples on another axis.
int CpuSegment::CountPasses() const {
  const std::vector<int>& dims = program_.value(program_.op(op_indices_[0]).output).shape.dims;
  const int samples = dims.empty() ? 0 : dims[0];
  uint64_t most = 1;  // bytes of an operator
  for (size_t index : op_indices_) {
    const ProgramOp& op = program_.op(index);
    uint64_t bytes = 0;
    const bool is_of_rows =
        std::holds_alternative<DenseOp>(*op.op) || std::holds_alternative<LogisticOp>(*op.op);
    const auto add = [&](size_t value) {
      const std::vector<int>& dims = program_.value(value).shape.dims;
      bytes += program_.value(value).bytes;
      return (is_of_rows ? !dims.empty() : dims.size() == kImageRank) && dims[0] == samples;
    };
    const auto* slice = std::get_if<SliceOp>(op.op.get());
    if (slice != nullptr && !slice->TakesAllSamples()) return 1;
    if (!add(op.output) || !std::ranges::all_of(op.inputs, add)) return 1;
    most = std::max(most, bytes);
  }
  const uint64_t fitting = kMostPassBytes * static_cast<uint64_t>(samples) / most;
  const int most_at_once =
      static_cast<int>(std::min<uint64_t>(fitting, static_cast<uint64_t>(samples)));
  int at_once = std::max(most_at_once, 1);
  while (at_once > 1 && samples % at_once != 0) --at_once;
  // With a prime number of samples, such as 1009 of 4 KB, each sample would be a pass, perhaps of
  // one pixel.
  return at_once < most_at_once / 4 ? 1 : samples / at_once;
}

void CpuSegment::Resize(int host_threads) {
  passes_ = std::max(CountPasses(), 1);  // an empty batch has no passes
  StepList list = ListSteps(program_, op_indices_, is_shared_, executor_.fuse());
  if (list != list_) MakeSteps(std::move(list));
  for (const auto& op : ops_) {
    op->macs = Macs(*op->op->op, program_.value(op->op->output).shape);
    // These values stay if no step computes the operator.
    op->kernel.clear();
    op->group = op->op->name.node;
  }
  for (const auto& planned : steps_) {
    std::vector<TensorShape> inputs;
    for (const Place& input : planned->inputs) inputs.push_back(Shape(input.value));
    ForOperator(planned->op->op->name,
                [&] { planned->step->Resize(inputs, Shape(planned->output.value)); });
    planned->op->kernel = planned->step->kernel();
    // In a pixelwise step, the inputs have as many pixels as the output.
    const size_t pixels = static_cast<size_t>(planned->step->pixels());
    const auto set_pixel_bytes = [&](Place& place) {
      place.pixel_bytes = pixels == 0 ? 0 : Bytes(place.value) / pixels;
    };
    std::for_each(planned->inputs.begin(), planned->inputs.end(), set_pixel_bytes);
    set_pixel_bytes(planned->output);
  }
  threads_ = &executor_.Threads(host_threads);
  PlaceValues(MakeGroups());
}

bool CpuSegment::IsPart(size_t value) const { return value >= program_.values().size(); }

TensorShape CpuSegment::Shape(size_t value) const {
  const PartValue* part = IsPart(value) ? &list_.parts[value - program_.values().size()] : nullptr;
  TensorShape shape = program_.value(part == nullptr ? value : part->whole).shape;
  if (passes_ > 1) shape.dims[0] /= passes_;
  if (part != nullptr) shape.dims.back() = static_cast<int>(part->channels);
  return shape;
}

size_t CpuSegment::Bytes(size_t value) const {
  if (!IsPart(value)) return program_.value(value).bytes / static_cast<size_t>(passes_);
  const Value& whole = program_.value(list_.parts[value - program_.values().size()].whole);
  const std::vector<int> dims = Shape(value).dims;
  return static_cast<size_t>(CountElements(dims, dims.size())) * whole.element_bytes;
}

// Leaves no steps if it throws.
void CpuSegment::MakeSteps(StepList list) {
  list_ = {};
  groups_.clear();
  steps_.clear();
  std::map<size_t, std::vector<int>> makers;  // for each value: steps
  std::map<size_t, int> first_reader;         // for each value that no step makes
  std::map<const ProgramOp*, PlannedOp*> planned_of;
  for (const auto& op : ops_) {
    op->absorbed.clear();
    planned_of[op->op] = op.get();
  }
  std::vector<std::unique_ptr<PlannedStep>> steps;
  for (const ListedStep& listed : list.steps) {
    const ProgramOp& op = program_.op(listed.op);
    auto planned = std::make_unique<PlannedStep>();
    planned->op = planned_of.at(&op);
    for (size_t absorbed : listed.absorbed) {
      const PlannedOp* other = planned_of.at(&program_.op(absorbed));
      std::vector<const PlannedOp*>& others = planned->op->absorbed;  // from its other parts, too
      if (std::ranges::find(others, other) == others.end()) others.push_back(other);
    }
    planned->output = {.value = listed.output};
    if (listed.kind != ListedStep::kWhole) MakePart(listed, *planned);
    ForOperator(op.name, [&] { planned->step = MakeStepOf(listed, *planned); });
    const int index = static_cast<int>(steps.size());
    for (size_t value : listed.inputs) {
      planned->inputs.push_back({.value = value});
      const std::vector<int>& made = makers[value];
      planned->inputs_of_producers.insert(planned->inputs_of_producers.end(), made.size(),
                                          planned->inputs.size() - 1);
      planned->producers.insert(planned->producers.end(), made.begin(), made.end());
      if (made.empty() && listed.kind != ListedStep::kWhole) {
        const int first = first_reader.try_emplace(value, index).first->second;
        if (first != index) planned->beside = first;
      }
    }
    makers[listed.output].push_back(index);
    steps.push_back(std::move(planned));
  }
  for (const auto& planned : steps) {
    const auto set_maker = [&](Place& place) {
      const std::vector<int>& made = makers[place.value];
      place.maker = made.empty() ? -1 : made.front();
    };
    std::for_each(planned->inputs.begin(), planned->inputs.end(), set_maker);
    set_maker(planned->output);
  }
  steps_ = std::move(steps);
  list_ = std::move(list);
}

// Makes the operator for some of the channels, and finds where in the output they belong.
void CpuSegment::MakePart(const ListedStep& listed, PlannedStep& planned) const {
  const ProgramOp& op = program_.op(listed.op);
  const size_t element_bytes = program_.value(op.output).element_bytes;
  planned.part_op =
      std::make_unique<Op>(listed.kind == ListedStep::kJoin
                               ? Op(ConcatenationOp{.inputs = 1, .element_bytes = element_bytes})
                               : OfChannels(*op.op, listed.channels.first, listed.channels.count));
  if (IsPart(listed.output)) return;
  const bool makes_bits = std::holds_alternative<QuantizeOp>(*planned.part_op);
  const auto bytes = [&](int64_t channels) {
    const auto values = static_cast<size_t>(channels);
    return (makes_bits ? values / kWordBits : values) * element_bytes;
  };
  planned.output.part_offset = bytes(listed.channels.first);
  planned.part_bytes = bytes(listed.channels.count);
}

std::unique_ptr<Step> CpuSegment::MakeStepOf(const ListedStep& listed,
                                             const PlannedStep& planned) const {
  const Op& op = planned.part_op ? *planned.part_op : *planned.op->op->op;
  const StepKernels kernels = executor_.KernelsFor(*planned.op->op);
  if (listed.absorbed.empty()) return MakeStep(op, kernels);
  if (const auto* conv = std::get_if<Bconv2dOp>(&op)) {
    return MakeStep(*conv, ResidualOf(listed), kernels);
  }
  if (std::holds_alternative<Conv2dOp>(op)) return MakeStep(GroupsOf(listed), kernels);
  const Op& product = *program_.op(listed.absorbed[0]).op;
  const Op part =
      planned.part_op ? OfChannels(product, listed.channels.first, listed.channels.count) : product;
  return MakeStep(std::get<MaxPool2dOp>(op), std::get<BinaryOp>(part).constant, kernels);
}

ResidualOps CpuSegment::ResidualOf(const ListedStep& listed) const {
  ResidualOps residual;
  for (size_t absorbed : listed.absorbed) {
    const Op& op = *program_.op(absorbed).op;
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

std::vector<const Conv2dOp*> CpuSegment::GroupsOf(const ListedStep& listed) const {
  std::vector<const Conv2dOp*> groups = {&std::get<Conv2dOp>(*program_.op(listed.op).op)};
  for (size_t absorbed : listed.absorbed) {
    const auto* conv = std::get_if<Conv2dOp>(program_.op(absorbed).op.get());
    if (conv != nullptr) groups.push_back(conv);
  }
  return groups;
}

std::vector<int> CpuSegment::WholeProducers(const PlannedStep& planned) {
  std::vector<int> whole;
  for (size_t i = 0; i < planned.producers.size(); ++i) {
    if (planned.step->reads_whole(planned.inputs_of_producers[i])) {
      whole.push_back(planned.producers[i]);
    }
  }
  return whole;
}

std::vector<TileMemoryStep> CpuSegment::DescribeSteps() const {
  std::vector<TileMemoryStep> steps;
  for (const auto& planned : steps_) {
    steps.push_back({.producers = planned->producers,
                     .output = static_cast<size_t>(planned->output.maker),
                     .bytes = Bytes(planned->output.value),
                     .pixel_bytes = planned->output.pixel_bytes,
                     .is_shared = IsShared(planned->output.value),
                     .in_place = planned->step->in_place(),
                     .whole_producers = WholeProducers(*planned)});
  }
  return steps;
}

std::vector<std::vector<size_t>> CpuSegment::MakeGroups() {
  std::vector<FusionStep> sizes;
  for (const auto& planned : steps_) {
    sizes.push_back({.producers = planned->producers,
                     .pixels = planned->step->pixels(),
                     .pixelwise = planned->step->pixelwise(),
                     .beside = planned->beside,
                     .whole_producers = WholeProducers(*planned)});
  }
  groups_.clear();
  largest_group_ = 0;
  std::vector<std::vector<size_t>> grouped = GroupSteps(sizes, executor_.fuse());
  const TileMemory of_a_pixel =
      PlaceOutputs(DescribeSteps(), grouped, std::vector<int64_t>(grouped.size(), 1));
  for (const std::vector<size_t>& members : grouped) {
    Group group = {.steps = {}, .pixels = sizes[members[0]].pixels, .tiling = {}, .ops = nullptr};
    std::string ops;
    size_t pixel_bytes = 0;
    for (size_t member : members) {
      PlannedStep& planned = *steps_[member];
      group.steps.push_back(&planned);
      std::string names(planned.op->op->name.kind);
      const bool comes_last = std::holds_alternative<MaxPool2dOp>(*planned.op->op->op);
      for (const PlannedOp* absorbed : planned.op->absorbed) {
        const std::string name(absorbed->op->name.kind);
        names = comes_last ? name + "+" + names : names + "+" + name;
      }
      ops += (ops.empty() ? "" : "+") + names;
      if (!of_a_pixel.outputs[member].is_an_inputs) {
        pixel_bytes = MemorySum(
            pixel_bytes, planned.part_bytes > 0 ? planned.part_bytes : planned.output.pixel_bytes);
      }
      planned.op->group = group.steps[0]->op->op->name.node;
    }
    group.ops = LastingName(ops);
    const int64_t blocks = members.size() == 1 ? group.steps[0]->step->blocks() : 1;
    KernelPixels kernel = group.steps[0]->step->kernel_pixels();
    for (const PlannedStep* planned : group.steps) {
      kernel.tile = std::max(kernel.tile, planned->step->kernel_pixels().tile);
    }
    group.tiling = CutWork(group.pixels, pixel_bytes, kernel, blocks, threads_->threads());
    largest_group_ = std::max(largest_group_, members.size());
    groups_.push_back(std::move(group));
  }
  step_ns_.assign(static_cast<size_t>(threads_->threads()) * largest_group_, 0);
  spent_.resize(largest_group_);
  return grouped;
}

void CpuSegment::PlaceValues(std::span<const std::vector<size_t>> members) {
  size_t step_scratch = 0;
  for (const auto& planned : steps_) {
    step_scratch = std::max(step_scratch, planned->step->scratch_bytes());
  }
  std::vector<int64_t> tile_pixels;
  for (const Group& group : groups_) {
    tile_pixels.push_back(group.tiling.tiles.Most());
  }
  const TileMemory placed = PlaceOutputs(DescribeSteps(), members, tile_pixels);
  const size_t tiles_offset = RoundUp(step_scratch, kBufferAlignment);
  const auto put = [&](Place& place) {
    if (place.maker < 0) return;
    const OutputPlace& found = placed.outputs[static_cast<size_t>(place.maker)];
    place.kind = found.kind;
    place.offset = found.offset + (found.kind == PlaceKind::kTile ? tiles_offset : 0);
  };
  for (const auto& planned : steps_) {
    put(planned->output);
    std::for_each(planned->inputs.begin(), planned->inputs.end(), put);
  }
  memory_ = AlignedBuffer<std::byte>(placed.arena_bytes);
  scratch_stride_ = RoundUp(MemorySum(tiles_offset, placed.tile_bytes), kBufferAlignment);
  scratch_ = AlignedBuffer<std::byte>(
      MemoryProduct(scratch_stride_, static_cast<size_t>(threads_->threads())));
}

// Finds where the value begins in this run. A tile has no such place.
void CpuSegment::FindValue(std::span<std::byte* const> places, int pass, Place& place) {
  if (place.kind == PlaceKind::kShared) {
    place.base = places[place.value] + static_cast<size_t>(pass) * Bytes(place.value);
  }
  if (place.kind == PlaceKind::kArena) place.base = memory_.data() + place.offset;
}

struct CpuSegment::Job {
  const Group* group;
  std::byte* scratch;
  size_t scratch_stride;
  uint64_t* step_ns;  // [workers][step_ns_stride], or null if nothing is timed
  size_t step_ns_stride;
  int64_t timed_every;  // in units
};

void CpuSegment::RunUnits(void* data, int64_t first, int64_t last, int worker) {
  const Job& job = *static_cast<const Job*>(data);
  const Group& group = *job.group;
  std::byte* scratch = job.scratch + static_cast<size_t>(worker) * job.scratch_stride;
  const int64_t blocks = group.steps[0]->step->blocks();
  for (int64_t unit = first; unit < last; ++unit) {
    StepRange range = group.tiling.RangeOf(unit, blocks);
    const auto at_first_pixel = [&](const Place& place) {
      const size_t first = static_cast<size_t>(range.first_pixel) * place.pixel_bytes;
      return (place.kind == PlaceKind::kTile ? scratch + place.offset : place.base + first) +
             place.part_offset;
    };
    const bool timed = job.step_ns != nullptr && unit % job.timed_every == 0;
    for (size_t i = 0; i < group.steps.size(); ++i) {
      const PlannedStep& planned = *group.steps[i];
      const Step& step = *planned.step;
      std::array<const void*, kMaxDataInputs> inputs;
      for (size_t k = 0; k < planned.inputs.size(); ++k) {
        const Place& input = planned.inputs[k];
        inputs[k] = step.reads_whole(k) ? input.base : at_first_pixel(input);
      }
      if (i > 0) range.last_block = step.blocks();  // only a lone step is cut in blocks
      const auto start = timed ? ProfileClock::now() : ProfileClock::time_point();
      step.Run({inputs.data(), planned.inputs.size()}, range, scratch,
               at_first_pixel(planned.output));
      if (timed) {
        job.step_ns[static_cast<size_t>(worker) * job.step_ns_stride + i] +=
            NanosecondsSince(start);
      }
    }
  }
}

void CpuSegment::RunGroup(const SegmentRun& run, int pass, Group& group) {
  for (PlannedStep* planned : group.steps) {
    for (Place& input : planned->inputs) FindValue(run.places, pass, input);
    FindValue(run.places, pass, planned->output);
  }
  // A step that is alone in its group has all of the group's time.
  const bool times_steps = run.profiling && group.steps.size() > 1;
  if (times_steps) std::fill(step_ns_.begin(), step_ns_.end(), 0);
  Job job{.group = &group,
          .scratch = scratch_.data(),
          .scratch_stride = scratch_stride_,
          .step_ns = times_steps ? step_ns_.data() : nullptr,
          .step_ns_stride = largest_group_,
          .timed_every = std::max<int64_t>(1, group.tiling.units() / kTimedUnits)};
  const auto start = run.profiling ? ProfileClock::now() : ProfileClock::time_point();
  threads_->Run(group.tiling.units(), RunUnits, &job);
  if (times_steps) {
    ShareTime(group, NanosecondsSince(start));
  } else if (run.profiling) {
    group.steps[0]->op->counter.AddTime(NanosecondsSince(start));
  }
}

// Shares a group's time among its steps in proportion to the time that workers spent in each.
void CpuSegment::ShareTime(Group& group, uint64_t wall_ns) {
  std::fill(spent_.begin(), spent_.end(), 0);
  double all = 0;
  for (size_t at = 0; at < step_ns_.size(); ++at) {
    if (at % largest_group_ >= group.steps.size()) continue;
    spent_[at % largest_group_] += static_cast<double>(step_ns_[at]);
    all += static_cast<double>(step_ns_[at]);
  }
  for (size_t i = 0; i < group.steps.size(); ++i) {
    const double share = all > 0 ? spent_[i] / all : 1.0 / static_cast<double>(group.steps.size());
    group.steps[i]->op->counter.AddTime(
        static_cast<uint64_t>(static_cast<double>(wall_ns) * share));
  }
}

void CpuSegment::Run(const SegmentRun& run) {
  for (int pass = 0; pass < passes_; ++pass) {
    for (Group& group : groups_) {
      const HostEvent event(run.host_profiler, group.steps[0]->op->op->name.node, group.ops);
      RunGroup(run, pass, group);
    }
  }
  if (!run.profiling) return;
  for (const auto& op : ops_) op->counter.AddCall();
}

void CpuSegment::ClearProfile() {
  for (const auto& op : ops_) op->counter.Clear();
}

void CpuSegment::AppendProfile(std::vector<StepProfile>& steps) const {
  for (const auto& planned : ops_) {
    const ProgramOp& op = *planned->op;
    std::vector<int> absorbed;
    int64_t absorbed_macs = 0;
    for (const PlannedOp* other : planned->absorbed) {
      absorbed_macs = AddProducts(absorbed_macs, other->macs);
      const int node = other->op->name.node;  // one node may be several operators
      if (absorbed.empty() || absorbed.back() != node) absorbed.push_back(node);
    }
    steps.push_back({.op = op.name.kind,
                     .name = program_.value(op.output).name,
                     .layer = op.name.layer,
                     .node = op.name.node,
                     .device = executor_.device(),
                     .kernel = planned->kernel,
                     .calls = planned->counter.calls(),
                     .total_ns = planned->counter.total_ns(),
                     .macs = planned->macs,
                     .group = planned->group,
                     .absorbed = std::move(absorbed),
                     .absorbed_macs = absorbed_macs});
  }
}

}  // namespace larq_engine
