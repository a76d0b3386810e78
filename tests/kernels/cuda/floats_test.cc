// Runs random cases of the kernels of the host's float operators, and of those that go through
// tensors value by value, on the emulated GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "tests/common/seed.h"
#include "tests/kernels/cuda/emulated_case.h"
#include "tests/kernels/cuda/floats_case.h"
#include "tests/kernels/cuda/pixels_case.h"

namespace larq_engine::testing {
namespace {

using cuda::ImageWindow;

// System threads are slow.
#ifdef __SANITIZE_THREAD__
constexpr int kCases = 2;
constexpr int kMostInTile = 5;  // more than a tile only where threads are fibers
#else
constexpr int kCases = 30;
constexpr int kMostInTile = 70;
#endif

class GpuKernels : public ::testing::Test {
 protected:
  // Expects no difference in each of `cases` cases.
  template <class Run>
  void Expect(int cases, const Run& run) {
    SCOPED_TRACE(ReplayHint());
    for (int i = 0; i < cases; ++i) ASSERT_EQ(run(i), "");
  }

  int Any(int least, int most) { return Between(random_, least, most); }

  // Returns a number of channels which, every other time, may be read four at once.
  int ManyChannels(int most) { return Any(0, 1) != 0 ? 4 * Any(1, most / 4) : Any(1, most); }

  ImageWindow AnyWindow(int most_channels) {
    const int filter_height = Any(1, 4), filter_width = Any(1, 4);
    return MakeWindow(Any(1, 3), filter_height + Any(0, 7), filter_width + Any(0, 7),
                      ManyChannels(most_channels), filter_height, filter_width, Any(1, 3),
                      Any(1, 3), Any(0, 1) != 0);
  }
  ImageWindow SquareWindow(int filter, int channels) {
    return MakeWindow(Any(1, 3), filter + Any(0, 7), filter + Any(0, 7), channels, filter, filter,
                      Any(1, 3), Any(1, 3), Any(0, 1) != 0);
  }

  std::mt19937 random_{static_cast<uint32_t>(TestSeed())};
};

TEST_F(GpuKernels, Conv2d) {
  Expect((kCases + 1) / 2, [&](int i) {
    const ImageWindow w = i % 3 == 0 ? SquareWindow(3, ManyChannels(9)) : AnyWindow(9);
    return RunConv2d(random_, w, Any(1, kMostInTile));
  });
}

TEST_F(GpuKernels, Conv2dOfPixels) {
  for (const int channels : {1, 16, 20, 64, 67}) {
    if (channels > kMostInTile) break;
    Expect(1, [&](int) {
      return RunConv2d(random_, MakeWindow(2, 5, 7, channels, 1, 1, 1, 1, true), 33);
    });
  }
  Expect(1, [&](int) { return RunConv2d(random_, PaddedPixels(2, 3, 4, 8), Any(1, 20)); });
}

// The number of steps is smaller than that of stages, equal to it, and greater.
TEST_F(GpuKernels, Conv2dOfAllDepths) {
  for (int depth = 1; depth <= 160; depth += Any(7, 19) * 30 / kCases) {
    Expect(1, [&](int) {
      return RunConv2d(random_, MakeWindow(3, 1, 1, depth, 1, 1, 1, 1, false), 5);
    });
  }
}

TEST_F(GpuKernels, Depthwise) {
  Expect(kCases, [&](int i) {
    const ImageWindow w = i % 3 == 0 ? SquareWindow(3, ManyChannels(40)) : AnyWindow(40);
    return RunDepthwise(random_, w, i % 2 == 0 ? 1 : Any(2, 3));
  });
}

TEST_F(GpuKernels, DepthwisePointwise) {
  Expect((kCases + 1) / 2, [&](int) {
    return RunDepthwisePointwise(random_, SquareWindow(3, 4 * Any(1, 25)),
                                 Any(1, std::min(kMostInTile, 64)));
  });
}

TEST_F(GpuKernels, MaxPool) {
  Expect(kCases, [&](int i) {
    const ImageWindow w = i % 2 == 0 ? SquareWindow(Any(2, 3), ManyChannels(70)) : AnyWindow(70);
    return RunMaxPool(random_, w);
  });
}

TEST_F(GpuKernels, MaxPoolBits) {
  Expect(kCases, [&](int) { return RunMaxPoolBits(random_, AnyWindow(9)); });
}

TEST_F(GpuKernels, PooledDepthwise) {
  Expect(kCases, [&](int) {
    const int filter = Any(2, 3), height = Any(3, 10) + filter, width = Any(3, 10) + filter;
    const int channels = 4 * Any(1, 17);
    const ImageWindow pool =
        MakeWindow(Any(1, 3), height, width, channels, filter, filter, 1, 1, Any(0, 1) != 0);
    const ImageWindow w = MakeWindow(pool.batch, pool.out_height.value, pool.out_width.value,
                                     channels, 3, 3, Any(1, 2), Any(1, 2), Any(0, 1) != 0);
    return RunPooledDepthwise(random_, pool, w);
  });
}

// Every third window contains a whole image, which is summed in parts.
TEST_F(GpuKernels, AveragePool) {
  Expect(kCases, [&](int i) {
    if (i % 3 == 1) return RunAveragePool(random_, AnyWindow(70));
    if (i % 3 == 2) return RunAveragePool(random_, SquareWindow(Any(2, 3), ManyChannels(70)));
    const int height = Any(1, 9), width = Any(1, 9), more = i % 2 * 4;
    return RunAveragePool(
        random_, MakeWindow(Any(1, 3), height, width, ManyChannels(70), height + more, width + more,
                            height, width, more > 0));
  });
}

// A warp may have fewer than 32 outputs.
TEST_F(GpuKernels, SignedDense) {
  Expect(kCases, [&](int i) {
    const int depth = Any(1, 30) * (i % 2 == 0 ? 4 : 1) + Any(0, 1) * 64;
    return RunSignedDense(random_, Any(1, 9), depth, Any(1, 70));
  });
}

TEST_F(GpuKernels, SignedDenseInt8) {
  Expect(kCases, [&](int i) {
    const int depth = Any(1, 30) * (i % 2 == 0 ? 4 : 1) + Any(0, 1) * 64;
    return RunSignedDenseInt8(random_, Any(1, 9), depth, Any(1, 70));
  });
}

TEST_F(GpuKernels, Bmatmul) {
  Expect(kCases,
         [&](int) { return RunBmatmul(random_, Any(1, 4), Any(1, 9), Any(1, 70), Any(1, 130)); });
}

TEST_F(GpuKernels, Softmax) {
  for (const int count : {1, 5, 31, 32, 33, 100, 1000}) {
    Expect(1, [&](int) { return RunSoftmax(random_, Any(1, 6), count); });
  }
}

TEST_F(GpuKernels, Pixels) {
  for (const Source source : {Source::kFloats, Source::kBits, Source::kInt8, Source::kUint8}) {
    Expect((kCases + 1) / 2,
           [&](int) { return RunPixels(random_, source, Any(1, 9), ManyChannels(70)); });
  }
}

TEST_F(GpuKernels, PixelsToSeveralBits) {
  Expect(static_cast<int>(kMaxBits),
         [&](int i) { return RunPlanes(random_, i + 1, Any(1, 9), ManyChannels(70)); });
}

TEST_F(GpuKernels, Unary) {
  Expect(1, [&](int) { return RunUnary(random_); });
}

TEST_F(GpuKernels, PackBytes) {
  for (const Packed packed : {Packed::kInt8, Packed::kBool, Packed::kPlanes}) {
    Expect((kCases + 1) / 2,
           [&](int) { return RunPackBytes(random_, packed, Any(1, 9), Any(1, 70)); });
  }
}

TEST_F(GpuKernels, UnpackBytes) {
  Expect(kCases, [&](int) { return RunUnpackBytes(random_, Any(1, 9), Any(1, 70)); });
}

TEST_F(GpuKernels, CopyChannels) {
  Expect(kCases, [&](int i) { return RunCopyChannels(random_, i % 2 == 0 ? 1 : 4, Any(1, 9)); });
}

TEST_F(GpuKernels, Broadcast) {
  Expect(kCases, [&](int i) { return RunBroadcast(random_, i % 2 == 0); });
}

TEST_F(GpuKernels, Pad) {
  Expect(kCases, [&](int i) {
    return i % 2 == 0 ? RunPadAround(random_) : RunPadOut(random_, i % 4 == 1 ? 1 : 4);
  });
}

TEST(Conv2dRows, TilesFillTheChip) {
  cuda::Conv2dArgs args{};
  args.window = MakeWindow(64, 56, 56, 64, 1, 1, 1, 1, true);
  args.out_channels = 128;
  const cuda::Chip chip{90, 132};
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_64x64);
  args.out_channels = 17;
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_128x32);
  args.out_channels = 16;
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_64x16);
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_64x64);
  args.window.batch = 1;
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_32x32);
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_32x32);
  // Two small tiles would compute the depthwise convolution twice.
  args.out_channels = 64;
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_64x64);
}

}  // namespace
}  // namespace larq_engine::testing
