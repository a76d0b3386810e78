// Places buffers that live for a part of a run into one arena, sharing where they can.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_ARENA_H_
#define LARQ_ENGINE_RUNTIME_PLAN_ARENA_H_

#include <cstddef>
#include <vector>

namespace larq_engine {

// A buffer that is written at step `first` and last read at step `last`.
struct ArenaBuffer {
  size_t bytes;
  size_t first;
  size_t last;
  size_t offset = 0;  // filled in by PlaceBuffers, a multiple of kBufferAlignment
};

// Gives every buffer, of kMaxMemory bytes at most, an offset such that buffers that live at the
// same step do not overlap. Returns the size of the arena; throws std::bad_alloc if it cannot be as
// large.
size_t PlaceBuffers(std::vector<ArenaBuffer>& buffers);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ARENA_H_
