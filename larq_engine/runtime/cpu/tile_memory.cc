#include "larq_engine/runtime/cpu/tile_memory.h"

#include <algorithm>
#include <map>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/plan/arena.h"

namespace larq_engine {
namespace {

class Placer {
 public:
  Placer(std::span<const TileMemoryStep> steps, std::span<const std::vector<size_t>> groups)
      : steps_(steps), groups_(groups), lives_(steps.size()) {
    placement_.outputs.resize(steps.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t step : groups[g]) AddProducer(g, steps[step].output);
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t member = 0; member < groups[g].size(); ++member) AddReader(g, member);
    }
  }

  TileMemory Place(std::span<const int64_t> tile_pixels) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      size_t tile_bytes = 0;
      for (size_t member = 0; member < groups_[g].size(); ++member) {
        const size_t output = steps_[groups_[g][member]].output;
        if (steps_[output].is_shared || lives_[output].is_placed) continue;
        lives_[output].is_placed = true;
        if (groups_[g].size() > 1 && lives_[output].last == g) {
          const int reused = FindReusableInput(g, member, PlaceKind::kTile);
          if (reused >= 0) {
            placement_.outputs[output] = placement_.outputs[static_cast<size_t>(reused)];
            placement_.outputs[output].is_an_inputs = true;
            continue;
          }
          placement_.outputs[output] = {PlaceKind::kTile, tile_bytes};
          const size_t bytes =
              MemoryProduct(static_cast<size_t>(tile_pixels[g]), steps_[output].pixel_bytes);
          tile_bytes = MemorySum(tile_bytes, RoundUp(bytes, kBufferAlignment));
        } else {
          PlaceInArena(g, member);
        }
      }
      placement_.tile_bytes = std::max(placement_.tile_bytes, tile_bytes);
    }
    placement_.arena_bytes = PlaceBuffers(buffers_);
    for (const auto& [output, buffer] : buffer_of_) {
      placement_.outputs[output].offset = buffers_[buffer].offset;
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      placement_.outputs[i] = placement_.outputs[steps_[i].output];
    }
    return std::move(placement_);
  }

 private:
  // The lifetime of an output, in numbers of groups.
  struct Life {
    size_t last_producer = 0;  // the last group that makes a part of it
    size_t last = 0;           // the last group that needs it
    size_t last_member = 0;    // of group `last`: the last member that reads the output
    bool pixelwise = true;     // all readers in group `last` read only the pixel that they compute
    bool is_placed = false;
  };

  // AddProducer and AddReader must be called in the order of groups and their members.
  void AddProducer(size_t group, size_t output) {
    lives_[output].last_producer = group;
    lives_[output].last = group;
  }

  void AddReader(size_t group, size_t member) {
    const TileMemoryStep& reader = steps_[groups_[group][member]];
    for (int producer : reader.producers) {
      if (producer < 0) continue;
      Life& life = lives_[steps_[static_cast<size_t>(producer)].output];
      life.pixelwise = life.last != group || life.pixelwise;
      life.last = group;
      life.last_member = member;
    }
    for (int producer : reader.whole_producers) {
      if (producer >= 0) lives_[steps_[static_cast<size_t>(producer)].output].pixelwise = false;
    }
  }

  void PlaceInArena(size_t group, size_t member) {
    const size_t output = steps_[groups_[group][member]].output;
    placement_.outputs[output].kind = PlaceKind::kArena;
    const int reused = FindReusableInput(group, member, PlaceKind::kArena);
    if (reused < 0) {
      buffer_of_[output] = buffers_.size();
      buffers_.push_back(
          {.bytes = steps_[output].bytes, .first = group, .last = lives_[output].last});
      return;
    }
    buffer_of_[output] = buffer_of_.at(static_cast<size_t>(reused));
    buffers_[buffer_of_[output]].last = lives_[output].last;
  }

  // Returns an input of the member that its output may overwrite, or -1. Nobody reads that input
  // after the member, and its readers in the group read only the pixel that they compute. In the
  // arena, an earlier group must have made it. So a sum overwrites the shortcut that ends there,
  // and each step's tile that of the step before: half the memory needs half the cache.
  int FindReusableInput(size_t group, size_t member, PlaceKind kind) const {
    const TileMemoryStep& step = steps_[groups_[group][member]];
    if (!step.in_place) return -1;
    for (int producer : step.producers) {
      if (producer < 0) continue;
      const size_t output = steps_[static_cast<size_t>(producer)].output;
      if (MayOverwrite(output, group, member, kind) && steps_[output].bytes == step.bytes) {
        return static_cast<int>(output);
      }
    }
    return -1;
  }

  bool MayOverwrite(size_t output, size_t group, size_t member, PlaceKind kind) const {
    const Life& life = lives_[output];
    return (life.last_producer != group || kind == PlaceKind::kTile) && life.last == group &&
           life.last_member == member && life.pixelwise && placement_.outputs[output].kind == kind;
  }

  std::span<const TileMemoryStep> steps_;
  std::span<const std::vector<size_t>> groups_;
  std::vector<Life> lives_;  // for each output, indexed by the first step that makes it
  std::vector<ArenaBuffer> buffers_;
  std::map<size_t, size_t> buffer_of_;  // output -> number of its buffer
  TileMemory placement_;
};

}  // namespace

TileMemory PlaceOutputs(std::span<const TileMemoryStep> steps,
                        std::span<const std::vector<size_t>> groups,
                        std::span<const int64_t> tile_pixels) {
  return Placer(steps, groups).Place(tile_pixels);
}

}  // namespace larq_engine
