#include "gtest/gtest.h"
#include "larq_engine/kernels/bmaxpool.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::GuardedBuffer;
using testing::Random;

struct Pool {
  int64_t batch, height, width, filter_height, filter_width, stride_height, stride_width;
  bool same;
};

void ExpectMaximum(Random& random, const Pool& p, size_t words) {
  const WindowAxis rows = MakeWindowAxis(p.height, p.filter_height, p.stride_height, 1, p.same);
  const WindowAxis cols = MakeWindowAxis(p.width, p.filter_width, p.stride_width, 1, p.same);
  const GuardedBuffer<uint32_t> in{std::span<const uint32_t>(
      random.Words(static_cast<size_t>(p.batch * p.height * p.width) * words))};
  GuardedBuffer<uint32_t> out(static_cast<size_t>(p.batch * rows.out * cols.out) * words);
  const int64_t middle = p.batch * rows.out / 2;
  BMaxPool2d(in.data(), rows, cols, words, middle, p.batch * rows.out, out.data());
  BMaxPool2d(in.data(), rows, cols, words, 0, middle, out.data());
  const auto value = [&](int64_t b, int64_t y, int64_t x, size_t channel) {
    const size_t at = static_cast<size_t>((b * p.height + y) * p.width + x) * words + channel / 32;
    return (in.data()[at] >> (channel % 32)) & 1 ? -1 : 1;
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t y = 0; y < rows.out; ++y) {
      for (int64_t x = 0; x < cols.out; ++x) {
        for (size_t channel = 0; channel < 32 * words; ++channel) {
          int expected = -1;
          for (int64_t ty = 0; ty < p.filter_height; ++ty) {
            for (int64_t tx = 0; tx < p.filter_width; ++tx) {
              const int64_t iy = y * p.stride_height + ty - rows.pad_before;
              const int64_t ix = x * p.stride_width + tx - cols.pad_before;
              if (iy < 0 || ix < 0 || iy >= p.height || ix >= p.width) continue;
              expected = std::max(expected, value(b, iy, ix, channel));
            }
          }
          const size_t at =
              static_cast<size_t>((b * rows.out + y) * cols.out + x) * words + channel / 32;
          ASSERT_EQ((out.data()[at] >> (channel % 32)) & 1 ? -1 : 1, expected)
              << "pixel " << b << "," << y << "," << x << " channel " << channel << " of pool "
              << p.filter_height << "x" << p.filter_width << " stride " << p.stride_height << "x"
              << p.stride_width << (p.same ? " SAME" : " VALID");
        }
      }
    }
  }
}

TEST(BMaxPool2d, IsTheMaximum) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (int64_t filter : {1, 2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (bool same : {false, true}) {
        ExpectMaximum(random, {2, 8, 5, filter, (filter + 1) / 2, stride, 1, same}, 1);
        ExpectMaximum(random, {1, 7, 9, filter, filter, stride, stride, same}, 5);
      }
    }
  }
}

TEST(BMaxPool2d, WindowLargerThanImage) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (int64_t size : {1, 2, 3}) ExpectMaximum(random, {1, size, size, 7, 5, 2, 1, true}, 2);
}

}  // namespace
}  // namespace larq_engine
