#include "larq_engine/runtime/cpu/tile_memory.h"

#include <algorithm>
#include <map>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/runtime/plan/arena.h"

namespace larq_engine {
namespace {

class Placer {
 public:
  Placer(std::span<const TileMemoryStep> steps, std::span<const std::vector<size_t>> groups)
      : steps_(steps), groups_(groups), group_of_(steps.size()), readers_(steps.size()) {
    placement_.outputs.resize(steps.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t step : groups[g]) {
        group_of_[step] = g;
        readers_[step] = {.group = g, .member = 0, .pixelwise = true};
      }
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t member = 0; member < groups[g].size(); ++member) AddReader(g, member);
    }
  }

  TileMemory Place(std::span<const int64_t> tile_pixels) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      size_t tile_bytes = 0;
      for (size_t member = 0; member < groups_[g].size(); ++member) {
        const size_t step = groups_[g][member];
        if (steps_[step].is_shared) continue;
        if (groups_[g].size() > 1 && readers_[step].group == g) {
          placement_.outputs[step] = {PlaceKind::kTile, tile_bytes};
          const size_t bytes =
              MemoryProduct(static_cast<size_t>(tile_pixels[g]), steps_[step].pixel_bytes);
          tile_bytes = MemorySum(tile_bytes, RoundUp(bytes, kBufferAlignment));
        } else {
          PlaceInArena(g, member);
        }
      }
      placement_.tile_bytes = std::max(placement_.tile_bytes, tile_bytes);
    }
    placement_.arena_bytes = PlaceBuffers(buffers_);
    for (const auto& [step, buffer] : buffer_of_) {
      placement_.outputs[step].offset = buffers_[buffer].offset;
    }
    return std::move(placement_);
  }

 private:
  // Those of the latest group that reads an output: the last member, and whether all are pixelwise.
  struct Readers {
    size_t group;
    size_t member;
    bool pixelwise;
  };

  // In the order of groups and their members.
  void AddReader(size_t group, size_t member) {
    const TileMemoryStep& reader = steps_[groups_[group][member]];
    for (int producer : reader.producers) {
      if (producer < 0) continue;
      Readers& readers = readers_[static_cast<size_t>(producer)];
      const bool others_are_pixelwise = readers.group != group || readers.pixelwise;
      readers = {group, member, others_are_pixelwise && reader.pixelwise};
    }
  }

  void PlaceInArena(size_t group, size_t member) {
    const size_t step = groups_[group][member];
    placement_.outputs[step].kind = PlaceKind::kArena;
    const int dying = FindDyingInput(group, member);
    if (dying < 0) {
      buffer_of_[step] = buffers_.size();
      buffers_.push_back(
          {.bytes = steps_[step].bytes, .first = group, .last = readers_[step].group});
      return;
    }
    buffer_of_[step] = buffer_of_.at(static_cast<size_t>(dying));
    buffers_[buffer_of_[step]].last = readers_[step].group;
  }

  // A sum takes the place of the shortcut that it ends: half the memory is half the cache. The step
  // whose output the member may write over, or -1: an earlier group made it, nobody reads it after
  // the member, and those of the group that do read it look at the pixel at hand only.
  int FindDyingInput(size_t group, size_t member) const {
    const TileMemoryStep& step = steps_[groups_[group][member]];
    if (!step.in_place) return -1;
    for (int producer : step.producers) {
      if (producer >= 0 && DiesAt(static_cast<size_t>(producer), group, member) &&
          steps_[static_cast<size_t>(producer)].bytes == step.bytes) {
        return producer;
      }
    }
    return -1;
  }

  bool DiesAt(size_t producer, size_t group, size_t member) const {
    const Readers& readers = readers_[producer];
    return group_of_[producer] != group && readers.group == group && readers.member == member &&
           readers.pixelwise && placement_.outputs[producer].kind == PlaceKind::kArena;
  }

  std::span<const TileMemoryStep> steps_;
  std::span<const std::vector<size_t>> groups_;
  std::vector<size_t> group_of_;  // of each step
  std::vector<Readers> readers_;  // of each step's output
  std::vector<ArenaBuffer> buffers_;
  std::map<size_t, size_t> buffer_of_;  // step -> where its output is
  TileMemory placement_;
};

}  // namespace

TileMemory PlaceOutputs(std::span<const TileMemoryStep> steps,
                        std::span<const std::vector<size_t>> groups,
                        std::span<const int64_t> tile_pixels) {
  return Placer(steps, groups).Place(tile_pixels);
}

}  // namespace larq_engine
