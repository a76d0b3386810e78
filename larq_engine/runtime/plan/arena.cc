#include "larq_engine/runtime/plan/arena.h"

#include <algorithm>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {

size_t PlaceBuffers(std::vector<ArenaBuffer>& buffers) {
  // Buffers are placed largest first, each at the lowest offset that is free during its life.
  std::vector<ArenaBuffer*> order;
  for (ArenaBuffer& buffer : buffers) order.push_back(&buffer);
  std::stable_sort(order.begin(), order.end(),
                   [](const ArenaBuffer* a, const ArenaBuffer* b) { return a->bytes > b->bytes; });
  size_t total = 0;
  std::vector<const ArenaBuffer*> placed;  // by offset
  for (ArenaBuffer* buffer : order) {
    buffer->offset = 0;
    for (const ArenaBuffer* other : placed) {
      const bool together = buffer->first <= other->last && other->first <= buffer->last;
      if (!together) continue;
      if (buffer->offset + buffer->bytes <= other->offset) break;
      buffer->offset =
          std::max(buffer->offset, RoundUp(other->offset + other->bytes, kBufferAlignment));
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), buffer,
                                   [](const ArenaBuffer* a, const ArenaBuffer* b) {
                                     return a->offset < b->offset;
                                   }),
                  buffer);
    total = std::max(total, MemorySum(buffer->offset, buffer->bytes));
  }
  return total;
}

}  // namespace larq_engine
