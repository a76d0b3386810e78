#include "larq_engine/runtime/plan/arena.h"

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

void ExpectDisjoint(const std::vector<ArenaBuffer>& buffers, size_t total) {
  for (const ArenaBuffer& a : buffers) {
    EXPECT_EQ(a.offset % kBufferAlignment, 0u);
    EXPECT_LE(a.offset + a.bytes, total);
    for (const ArenaBuffer& b : buffers) {
      if (&a == &b || a.bytes == 0 || b.bytes == 0) continue;
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(together && overlap)
          << a.offset << "+" << a.bytes << " and " << b.offset << "+" << b.bytes;
    }
  }
}

TEST(PlaceBuffers, ChainNeedsTwoAtATime) {
  std::vector<ArenaBuffer> buffers;
  for (size_t i = 0; i < 10; ++i) buffers.push_back({.bytes = 100, .first = i, .last = i + 1});
  const size_t total = PlaceBuffers(buffers);
  ExpectDisjoint(buffers, total);
  EXPECT_EQ(total, 128u + 100u);
}

TEST(PlaceBuffers, LongLivedBuffersKeepTheirPlace) {
  std::vector<ArenaBuffer> buffers = {{.bytes = 64, .first = 0, .last = 9}};
  for (size_t i = 0; i < 9; ++i) buffers.push_back({.bytes = 1000, .first = i, .last = i});
  const size_t total = PlaceBuffers(buffers);
  ExpectDisjoint(buffers, total);
  EXPECT_EQ(total, 1024u + 64u);
}

TEST(PlaceBuffers, NothingToPlace) {
  std::vector<ArenaBuffer> none;
  EXPECT_EQ(PlaceBuffers(none), 0u);
  std::vector<ArenaBuffer> empty = {{.bytes = 0, .first = 0, .last = 1}};
  EXPECT_EQ(PlaceBuffers(empty), 0u);
}

// If the sum of sizes overflowed, it would look like a size that memory can hold.
TEST(PlaceBuffers, MoreThanMemoryHoldsIsRefused) {
  for (size_t count : {2, 3, 4, 5, 9}) {
    std::vector<ArenaBuffer> buffers(count, {.bytes = kMaxMemory, .first = 0, .last = 1});
    EXPECT_THROW(PlaceBuffers(buffers), std::bad_alloc) << count;
  }
  std::vector<ArenaBuffer> in_turn;
  for (size_t i = 0; i < 9; ++i) in_turn.push_back({.bytes = kMaxMemory, .first = i, .last = i});
  EXPECT_EQ(PlaceBuffers(in_turn), kMaxMemory);
}

TEST(PlaceBuffers, RandomLifetimes) {
  SCOPED_TRACE(testing::ReplayHint());
  testing::Random random;
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<ArenaBuffer> buffers;
    const int64_t count = random.Int(1, 30);
    for (int64_t i = 0; i < count; ++i) {
      const auto first = static_cast<size_t>(random.Int(0, 20));
      buffers.push_back({.bytes = static_cast<size_t>(random.Int(0, 5000)),
                         .first = first,
                         .last = first + static_cast<size_t>(random.Int(0, 8))});
    }
    ExpectDisjoint(buffers, PlaceBuffers(buffers));
  }
}

}  // namespace
}  // namespace larq_engine
