#include "larq_engine/runtime/cpu/cpu_segment.h"

#include <algorithm>
#include <array>
#include <map>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/runtime/host_event.h"

namespace larq_engine {
namespace {

// How a group's time is shared among its steps shows in some of its units. To look at the clock
// around each step of each made a network of 114 small steps a tenth slower.
constexpr int64_t kTimedUnits = 32;

}  // namespace

CpuSegment::CpuSegment(CpuExecutor& executor, const Program& program, std::span<const size_t> ops,
                       const std::vector<bool>& is_shared)
    : executor_(executor), program_(program), is_shared_(is_shared) {
  std::map<size_t, int> maker;  // of values: steps
  for (size_t index : ops) {
    const ProgramOp& op = program.op(index);
    auto planned = std::make_unique<PlannedStep>();
    planned->op = &op;
    ForOperator(op.name, [&] { planned->step = MakeStep(*op.op, executor.KernelsFor(op)); });
    for (size_t value : op.inputs) {
      const auto found = maker.find(value);
      planned->producers.push_back(found == maker.end() ? -1 : found->second);
      planned->inputs.push_back({.value = value});
    }
    planned->output = {.value = op.output};
    maker[op.output] = static_cast<int>(steps_.size());
    steps_.push_back(std::move(planned));
  }
}

void CpuSegment::Resize(int host_threads) {
  for (const auto& planned : steps_) {
    const std::vector<TensorShape> inputs = program_.InputShapes(*planned->op);
    ForOperator(planned->op->name, [&] {
      planned->step->Resize(inputs, program_.value(planned->output.value).shape);
    });
    planned->macs = Macs(*planned->op->op, program_.value(planned->output.value).shape);
    // Of a pixelwise step: its inputs have as many pixels as its output.
    const size_t pixels = static_cast<size_t>(planned->step->pixels());
    const auto set_pixel_bytes = [&](Place& place) {
      place.pixel_bytes = pixels == 0 ? 0 : program_.value(place.value).bytes / pixels;
    };
    std::for_each(planned->inputs.begin(), planned->inputs.end(), set_pixel_bytes);
    set_pixel_bytes(planned->output);
  }
  threads_ = &executor_.Threads(host_threads);
  PlaceValues(MakeGroups());
}

std::vector<std::vector<size_t>> CpuSegment::MakeGroups() {
  std::vector<FusionStep> sizes;
  for (const auto& planned : steps_) {
    sizes.push_back({.producers = planned->producers,
                     .pixels = planned->step->pixels(),
                     .pixelwise = planned->step->pixelwise()});
  }
  groups_.clear();
  largest_group_ = 0;
  std::vector<std::vector<size_t>> grouped = GroupSteps(sizes, executor_.fuse());
  for (const std::vector<size_t>& members : grouped) {
    Group group = {.steps = {}, .pixels = sizes[members[0]].pixels, .tiling = {}, .ops = nullptr};
    std::string ops;
    size_t pixel_bytes = 0;
    for (size_t member : members) {
      PlannedStep& planned = *steps_[member];
      group.steps.push_back(&planned);
      ops += (ops.empty() ? "" : "+") + std::string(planned.op->name.kind);
      pixel_bytes = MemorySum(pixel_bytes, planned.output.pixel_bytes);
    }
    group.ops = LastingName(ops);
    const int64_t blocks = members.size() == 1 ? group.steps[0]->step->channel_blocks() : 1;
    group.tiling = CutWork(group.pixels, pixel_bytes, group.steps[0]->step->kernel_pixels(), blocks,
                           threads_->threads());
    largest_group_ = std::max(largest_group_, members.size());
    groups_.push_back(std::move(group));
  }
  step_ns_.assign(static_cast<size_t>(threads_->threads()) * largest_group_, 0);
  spent_.resize(largest_group_);
  return grouped;
}

void CpuSegment::PlaceValues(std::span<const std::vector<size_t>> members) {
  std::vector<TileMemoryStep> steps;
  size_t step_scratch = 0;
  for (const auto& planned : steps_) {
    steps.push_back({.producers = planned->producers,
                     .bytes = program_.value(planned->output.value).bytes,
                     .pixel_bytes = planned->output.pixel_bytes,
                     .is_shared = is_shared_[planned->output.value],
                     .pixelwise = planned->step->pixelwise(),
                     .in_place = planned->step->in_place()});
    step_scratch = std::max(step_scratch, planned->step->scratch_bytes());
  }
  std::vector<int64_t> tile_pixels;
  for (const Group& group : groups_) {
    tile_pixels.push_back(LargestTile(group.pixels, group.tiling));
  }
  const TileMemory placed = PlaceOutputs(steps, members, tile_pixels);
  const size_t tiles_offset = RoundUp(step_scratch, kBufferAlignment);
  const auto put = [&](Place& place, size_t maker) {
    const OutputPlace& found = placed.outputs[maker];
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
  memory_ = AlignedBuffer<std::byte>(placed.arena_bytes);
  scratch_stride_ = RoundUp(MemorySum(tiles_offset, placed.tile_bytes), kBufferAlignment);
  scratch_ = AlignedBuffer<std::byte>(
      MemoryProduct(scratch_stride_, static_cast<size_t>(threads_->threads())));
}

// Finds where the value begins for this run; a tile has no such place.
void CpuSegment::FindValue(std::span<std::byte* const> places, Place& place) {
  if (place.kind == PlaceKind::kShared) place.base = places[place.value];
  if (place.kind == PlaceKind::kArena) place.base = memory_.data() + place.offset;
}

struct CpuSegment::Job {
  const Group* group;
  std::byte* scratch;
  size_t scratch_stride;
  uint64_t* step_ns;  // [workers][step_ns_stride], or null when nothing is timed
  size_t step_ns_stride;
  int64_t timed_every;  // units
};

void CpuSegment::RunUnits(void* data, int64_t first, int64_t last, int worker) {
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
    const bool timed = job.step_ns != nullptr && unit % job.timed_every == 0;
    for (size_t i = 0; i < group.steps.size(); ++i) {
      const PlannedStep& planned = *group.steps[i];
      const Step& step = *planned.step;
      std::array<const void*, kMaxDataInputs> inputs;
      for (size_t k = 0; k < planned.inputs.size(); ++k) {
        const Place& input = planned.inputs[k];
        inputs[k] = step.pixelwise() ? at_first_pixel(input) : input.base;
      }
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

void CpuSegment::RunGroup(const SegmentRun& run, Group& group) {
  for (PlannedStep* planned : group.steps) {
    for (Place& input : planned->inputs) FindValue(run.places, input);
    FindValue(run.places, planned->output);
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
    group.steps[0]->counter.Add(NanosecondsSince(start));
  }
}

// The time that a group took, shared among its steps as the workers spent theirs.
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
    group.steps[i]->counter.Add(static_cast<uint64_t>(static_cast<double>(wall_ns) * share));
  }
}

void CpuSegment::Run(const SegmentRun& run) {
  for (Group& group : groups_) {
    const HostEvent event(run.host_profiler, group.steps[0]->op->name.node, group.ops);
    RunGroup(run, group);
  }
}

void CpuSegment::ClearProfile() {
  for (auto& planned : steps_) planned->counter.Clear();
}

void CpuSegment::AppendProfile(std::vector<StepProfile>& steps) const {
  std::map<const PlannedStep*, int> group_of;
  for (const Group& group : groups_) {
    for (const PlannedStep* member : group.steps) {
      group_of[member] = group.steps[0]->op->name.node;
    }
  }
  for (const auto& planned : steps_) {
    const ProgramOp& op = *planned->op;
    steps.push_back({.op = op.name.kind,
                     .name = program_.value(op.output).name,
                     .layer = op.name.layer,
                     .node = op.name.node,
                     .device = executor_.device(),
                     .kernel = planned->step->kernel(),
                     .calls = planned->counter.calls(),
                     .total_ns = planned->counter.total_ns(),
                     .macs = planned->macs,
                     .group = group_of.at(planned.get())});
  }
}

}  // namespace larq_engine
