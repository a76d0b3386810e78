// Tests pooling over every row of PixelOps: the maximum of packed values and of floats, and the
// average.
#include "larq_engine/kernels/pixels/pool.h"

#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/kernels/pixels/table.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::GuardedBuffer;
using testing::Random;

struct Pool {
  int64_t batch, height, width, filter_height, filter_width, stride_height, stride_width;
  bool same;

  WindowAxes Window() const {
    const AxisPadding padding = {.same = same};
    const Window2d window = {
        .height = {.taps = filter_height, .stride = stride_height, .padding = padding},
        .width = {.taps = filter_width, .stride = stride_width, .padding = padding}};
    return window.Over(height, width);
  }
};

constexpr uint32_t kLowest = ~0u;  // all -1

uint32_t MaxOf(uint32_t a, uint32_t b) {
  uint32_t larger = 0;  // bit 1 means -1
  for (int i = 0; i < 32; ++i) {
    const int of_a = (a >> i) & 1 ? -1 : 1;
    const int of_b = (b >> i) & 1 ? -1 : 1;
    if (std::max(of_a, of_b) == -1) larger |= 1u << i;
  }
  return larger;
}
float MaxOf(float a, float b) { return a > b ? a : b; }

template <typename T>
void ExpectMaximum(const std::vector<T>& image, const Pool& p, size_t values,
                   void (*max)(const T* const*, size_t, size_t, T*), T lowest) {
  const WindowAxes window = p.Window();
  const auto& [height, width] = window;
  const GuardedBuffer<T> in{std::span(image)};
  const int64_t pixels = p.batch * window.out_pixels();
  GuardedBuffer<T> out(static_cast<size_t>(pixels) * values);
  const int64_t middle = pixels / 2;  // within a line, if lines have an odd length
  MaxPool2d(in.data(), window, values, middle, pixels, max,
            out.data() + static_cast<size_t>(middle) * values);
  MaxPool2d(in.data(), window, values, 0, middle, max, out.data());
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const int64_t x = pixel % width.out, y = pixel / width.out % height.out;
    const int64_t b = pixel / window.out_pixels();
    for (size_t v = 0; v < values; ++v) {
      T expected = lowest;
      for (int64_t ty = 0; ty < p.filter_height; ++ty) {
        for (int64_t tx = 0; tx < p.filter_width; ++tx) {
          const int64_t iy = y * p.stride_height + ty - height.pad_before;
          const int64_t ix = x * p.stride_width + tx - width.pad_before;
          if (iy < 0 || ix < 0 || iy >= p.height || ix >= p.width) continue;
          const int64_t at = (b * p.height + iy) * p.width + ix;
          expected = MaxOf(expected, image[static_cast<size_t>(at) * values + v]);
        }
      }
      ASSERT_EQ(out.data()[static_cast<size_t>(pixel) * values + v], expected)
          << "pixel " << b << "," << y << "," << x << " value " << v << " of pool "
          << p.filter_height << "x" << p.filter_width << " stride " << p.stride_height << "x"
          << p.stride_width << (p.same ? " SAME" : " VALID");
    }
  }
}

class Pool2dTest : public testing::RowTest<PixelOpsRow> {
 protected:
  // The images have small whole numbers, whose sums are exact.
  void ExpectAverage(const Pool& p, size_t values) {
    const WindowAxes window = p.Window();
    const auto& [height, width] = window;
    std::vector<float> image(static_cast<size_t>(p.batch * p.height * p.width) * values);
    for (float& value : image) value = static_cast<float>(random_.Int(-99, 99));
    const GuardedBuffer<float> in{std::span(image)};
    const int64_t pixels = p.batch * window.out_pixels();
    GuardedBuffer<float> out(static_cast<size_t>(pixels) * values);
    AveragePool2d(in.data(), window, values, 0, pixels, GetParam().ops->average, out.data());
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t x = pixel % width.out, y = pixel / width.out % height.out;
      const int64_t b = pixel / window.out_pixels();
      for (size_t v = 0; v < values; ++v) {
        float sum = 0, taps = 0;
        for (int64_t iy = 0; iy < p.height; ++iy) {
          for (int64_t ix = 0; ix < p.width; ++ix) {
            const int64_t ty = iy - y * p.stride_height + height.pad_before;
            const int64_t tx = ix - x * p.stride_width + width.pad_before;
            if (ty < 0 || tx < 0 || ty >= p.filter_height || tx >= p.filter_width) continue;
            sum += image[static_cast<size_t>((b * p.height + iy) * p.width + ix) * values + v];
            ++taps;
          }
        }
        ASSERT_EQ(out.data()[static_cast<size_t>(pixel) * values + v], sum / taps)
            << b << "," << y << "," << x << " of " << p.filter_height << "x" << p.filter_width;
      }
    }
  }

  // Tests words of packed values, and floats.
  void ExpectBothMaxima(const Pool& p, size_t values) {
    const size_t count = static_cast<size_t>(p.batch * p.height * p.width) * values;
    const std::vector<uint32_t> words = random_.Words(count);
    std::vector<float> floats(count);
    // The values are negative, so that a maximum from outside the image would be seen.
    for (float& value : floats) value = random_.Float(-2, -1);
    const PixelOps& ops = *GetParam().ops;
    ExpectMaximum(words, p, values, ops.max_bits, kLowest);
    ExpectMaximum(floats, p, values, ops.max_float, -std::numeric_limits<float>::infinity());
  }

  // The result must equal the maximum of an image that was multiplied before.
  void ExpectMaximumOfProducts(const Pool& p, size_t values) {
    const WindowAxes window = p.Window();
    ASSERT_TRUE(ReducesPixels(window));
    std::vector<float> image(static_cast<size_t>(p.batch * p.height * p.width) * values);
    std::vector<float> factors(values), products;
    for (float& value : image) value = random_.Float(-2, 2);
    for (float& factor : factors) factor = random_.Float(-2, 2);
    for (size_t i = 0; i < image.size(); ++i) products.push_back(image[i] * factors[i % values]);
    const GuardedBuffer<float> in{std::span(image)}, guarded_factors{std::span(factors)};
    const int64_t pixels = p.batch * window.out_pixels(), middle = pixels / 2;
    std::vector<float> expected(static_cast<size_t>(pixels) * values);
    GuardedBuffer<float> out(expected.size());
    const PixelOps& ops = *GetParam().ops;
    MaxPool2d(products.data(), window, values, 0, pixels, ops.max_float, expected.data());
    for (const auto& [first, last] : {std::pair{middle, pixels}, {int64_t{0}, middle}}) {
      MaxPool2dOfProducts(in.data(), guarded_factors.data(), window, values, first, last,
                          ops.max_products, out.data() + static_cast<size_t>(first) * values);
    }
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.data()));
  }
};

TEST_P(Pool2dTest, IsTheMaximumOfProducts) {
  for (int64_t filter : {1, 2, 3, 4}) {
    for (bool same : {false, true}) {
      ExpectMaximumOfProducts({2, 8, 6, filter, filter, 1, 2, same}, 37);
      ExpectMaximumOfProducts({1, 7, 9, filter, filter, 2, 3, same}, 64);
    }
  }
}

TEST(ReducesPixels, WhereWindowsAreApartAndSmall) {
  const auto reduces = [](int64_t taps, int64_t stride) {
    return ReducesPixels(SquareWindow({.taps = taps, .stride = stride}).Over(20, 20));
  };
  EXPECT_TRUE(reduces(4, 2));
  EXPECT_FALSE(reduces(5, 2));
  EXPECT_FALSE(reduces(2, 1));
}

TEST_P(Pool2dTest, IsTheMaximum) {
  for (int64_t filter : {1, 2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (bool same : {false, true}) {
        ExpectBothMaxima({2, 8, 5, filter, (filter + 1) / 2, stride, 1, same}, 1);
        ExpectBothMaxima({1, 7, 9, filter, filter, stride, stride, same}, 37);
      }
    }
  }
}

TEST_P(Pool2dTest, WindowLargerThanImage) {
  for (int64_t size : {1, 2, 3}) ExpectBothMaxima({1, size, size, 7, 5, 2, 1, true}, 2);
}

TEST_P(Pool2dTest, Average) {
  for (int64_t filter : {1, 2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (bool same : {false, true}) {
        ExpectAverage({2, 8, 5, filter, (filter + 1) / 2, stride, 1, same}, 1);
        ExpectAverage({1, 7, 9, filter, filter, stride, stride, same}, 37);
      }
    }
  }
  ExpectAverage({2, 9, 11, 9, 11, 1, 1, false}, 64);  // the whole image
}

TEST_P(Pool2dTest, AverageOfAnImageInParts) {
  for (size_t pixels : {1, 15, 16, 17, 49, 256, 300}) {
    for (size_t values : {1, 37, 64}) {
      std::vector<float> image(pixels * values);
      for (float& value : image) value = random_.Float(-1, 1);
      // The sums have the order that the class promises, so they are equal to the bit.
      std::vector<float> expected(values);
      for (size_t v = 0; v < values; ++v) {
        float sum = 0;
        for (size_t first = 0; first < pixels; first += 16) {
          float part = 0;
          for (size_t i = first; i < std::min(first + 16, pixels); ++i)
            part += image[i * values + v];
          sum += part;
        }
        expected[v] = sum / static_cast<float>(pixels);
      }
      const GuardedBuffer<float> in{std::span(image)};
      const ImageAverage average(pixels, values, GetParam().ops->average);
      ASSERT_EQ(average.parts(), (pixels + 15) / 16);
      GuardedBuffer<float> sums(average.parts() * values), out(values);
      for (size_t last = average.parts(); last > 0;) {  // sums the last parts first
        const size_t first = last - static_cast<size_t>(random_.Int(1, static_cast<int>(last)));
        average.SumParts(in.data(), first, last, sums.data());
        last = first;
      }
      average.Finish(sums.data(), out.data());
      for (size_t v = 0; v < values; ++v)
        ASSERT_EQ(out.data()[v], expected[v]) << pixels << " " << v;
    }
  }
}

TEST(CoversImage, IsWhereTheOneWindowLeavesOutNoPixel) {
  const WindowAxis all = Window1d{.taps = 7}.Over(7);
  EXPECT_TRUE(CoversImage({all, all}));
  const Window1d apart = {.taps = 7, .stride = 3, .padding = {.same = true}};
  EXPECT_TRUE(CoversImage({all, apart.Over(3)}));
  const WindowAxis not_the_end = Window1d{.taps = 6, .stride = 2}.Over(7);
  EXPECT_FALSE(CoversImage({all, not_the_end}));
  EXPECT_FALSE(CoversImage({not_the_end, all}));
  const Window1d three_windows = {.taps = 7, .padding = {.same = true}};
  EXPECT_FALSE(CoversImage({all, three_windows.Over(3)}));
}

INSTANTIATE_TEST_SUITE_P(Rows, Pool2dTest,
                         ::testing::ValuesIn(PixelOpsRows().begin(), PixelOpsRows().end()),
                         [](const auto& info) { return std::string(IsaName(info.param.isa)); });

}  // namespace
}  // namespace larq_engine
