// Places buffers that live during a part of a run into one arena. Buffers share memory where their
// lives allow it.
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
  size_t offset = 0;  // a multiple of kBufferAlignment, set by PlaceBuffers
};

// Gives every buffer an offset such that buffers that live at the same step do not overlap. A
// buffer has kMaxMemory bytes at most. Returns the size of the arena; throws std::bad_alloc if it
// would exceed what memory can hold.
size_t PlaceBuffers(std::vector<ArenaBuffer>& buffers);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ARENA_H_
