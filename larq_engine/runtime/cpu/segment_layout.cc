#include "larq_engine/runtime/cpu/segment_layout.h"

#include <algorithm>
#include <map>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {
namespace {

constexpr int kOthers = -1;

// The steps that make what a step reads. Numbers are those of steps, or kOthers.
struct StepProducers {
  std::vector<int> producers;        // for each input: all steps that make a part of it
  std::vector<int> whole_producers;  // those whose outputs are read whole
  std::vector<int> first_producers;  // for each input: the first one
  int output_producer;               // first step that makes a part of the output
  int first_reader = kOthers;        // see FusionStep
};

std::vector<StepProducers> FindProducers(std::span<const SizedStep> steps) {
  std::map<size_t, std::vector<int>> producers_of;  // for each value
  std::map<size_t, int> first_reader;               // for each value that no step makes
  std::vector<StepProducers> found;
  for (const SizedStep& step : steps) {
    const int index = static_cast<int>(found.size());
    StepProducers& sources = found.emplace_back();
    for (const SizedInput& input : step.inputs) {
      const std::vector<int>& made = producers_of[input.value];
      sources.producers.insert(sources.producers.end(), made.begin(), made.end());
      if (input.is_read_whole) {
        sources.whole_producers.insert(sources.whole_producers.end(), made.begin(), made.end());
      }
      sources.first_producers.push_back(made.empty() ? kOthers : made.front());
      if (made.empty() && step.is_of_parts) {
        const int first = first_reader.try_emplace(input.value, index).first->second;
        if (first != index) sources.first_reader = first;
      }
    }
    std::vector<int>& made = producers_of[step.output];
    made.push_back(index);
    sources.output_producer = made.front();
  }
  return found;
}

size_t PixelBytes(size_t bytes, const SizedStep& step) {
  return step.pixels == 0 ? 0 : bytes / static_cast<size_t>(step.pixels);
}

// Returns the tiling of each group.
std::vector<Tiling> CutGroups(std::span<const SizedStep> steps,
                              std::span<const std::vector<size_t>> groups,
                              std::span<const TileMemoryStep> outputs, int threads) {
  const TileMemory of_a_pixel =
      PlaceOutputs(outputs, groups, std::vector<int64_t>(groups.size(), 1));
  std::vector<Tiling> tilings;
  for (const std::vector<size_t>& members : groups) {
    const SizedStep& first = steps[members[0]];
    size_t pixel_bytes = 0;
    KernelPixels kernel = first.kernel_pixels;
    for (size_t member : members) {
      kernel.tile = std::max(kernel.tile, steps[member].kernel_pixels.tile);
      if (of_a_pixel.outputs[member].is_an_inputs) continue;
      const size_t part_bytes = steps[member].part_bytes;
      pixel_bytes =
          MemorySum(pixel_bytes, part_bytes > 0 ? part_bytes : outputs[member].pixel_bytes);
    }
    const int64_t blocks = members.size() == 1 ? first.blocks : 1;
    tilings.push_back(CutWork(first.pixels, pixel_bytes, kernel, blocks, threads));
  }
  return tilings;
}

}  // namespace

SegmentLayout LayOutSegment(std::span<const SizedStep> steps, bool fuse, int threads) {
  const std::vector<StepProducers> sources = FindProducers(steps);
  std::vector<FusionStep> fusion;
  std::vector<TileMemoryStep> outputs;
  size_t step_scratch = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const SizedStep& step = steps[i];
    fusion.push_back({.producers = sources[i].producers,
                      .pixels = step.pixels,
                      .pixelwise = step.pixelwise,
                      .first_reader = sources[i].first_reader,
                      .whole_producers = sources[i].whole_producers});
    outputs.push_back({.producers = sources[i].producers,
                       .output = static_cast<size_t>(sources[i].output_producer),
                       .bytes = step.output_bytes,
                       .pixel_bytes = PixelBytes(step.output_bytes, step),
                       .is_shared = step.is_shared,
                       .in_place = step.in_place,
                       .whole_producers = sources[i].whole_producers});
    step_scratch = std::max(step_scratch, step.scratch_bytes);
  }
  const std::vector<std::vector<size_t>> groups = GroupSteps(fusion, fuse);
  const std::vector<Tiling> tilings = CutGroups(steps, groups, outputs, threads);
  std::vector<int64_t> tile_pixels;
  for (const Tiling& tiling : tilings) tile_pixels.push_back(tiling.tiles.Most());
  const TileMemory memory = PlaceOutputs(outputs, groups, tile_pixels);
  const size_t tiles_offset = RoundUp(step_scratch, kBufferAlignment);

  SegmentLayout layout;
  layout.arena_bytes = memory.arena_bytes;
  layout.scratch_bytes = RoundUp(MemorySum(tiles_offset, memory.tile_bytes), kBufferAlignment);
  for (size_t g = 0; g < groups.size(); ++g) {
    layout.groups.push_back({.steps = groups[g], .tiling = tilings[g]});
  }
  const auto place = [&](size_t value, size_t bytes, int producer) {
    ValuePlace placed = {.value = value, .pass_bytes = bytes, .address = layout.addresses++};
    if (producer != kOthers) {
      const OutputPlace& output = memory.outputs[static_cast<size_t>(producer)];
      placed.kind = output.kind;
      placed.offset = output.offset + (output.kind == PlaceKind::kTile ? tiles_offset : 0);
    }
    return placed;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const SizedStep& step = steps[i];
    PlacedStep& placed = layout.steps.emplace_back();
    placed.blocks = step.blocks;
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const SizedInput& input = step.inputs[k];
      placed.inputs.push_back(place(input.value, input.bytes, sources[i].first_producers[k]));
      placed.inputs.back().pixel_bytes = input.is_read_whole ? 0 : PixelBytes(input.bytes, step);
    }
    placed.output = place(step.output, step.output_bytes, sources[i].output_producer);
    placed.output.pixel_bytes = outputs[i].pixel_bytes;
    placed.output.offset += step.part_offset;
  }
  return layout;
}

}  // namespace larq_engine
