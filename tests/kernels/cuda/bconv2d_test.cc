// Runs every row of binary convolutions on the emulated GPU, against the reference.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/bconv2d_tiles.h"
#include "tests/common/seed.h"
#include "tests/kernels/cuda/bconv2d_case.h"
#include "tests/kernels/cuda/emulated_kernels.h"

namespace larq_engine::testing {
namespace {

using cuda::Bconv2dRow;
using cuda::Bconv2dRows;
using cuda::KernelId;
using emulated_gpu::Options;

// The number of runs of each row, by which a row that never runs is noticed.
using RunsByName = std::map<std::string, int>;

std::string NameOf(const Bconv2dRow& row) { return cuda::RowOf(row.kernel).name; }

Options RandomOptions(std::mt19937_64& random) {
  return {.order = static_cast<Options::Order>(random() % 5),
          .seed = random(),
          .early_copies = random() % 2 == 0};
}

// Runs every `step`-th row of those that take the layer, beginning with a random one.
void ExpectRowsAgree(const GpuLayer& layer, std::mt19937_64& random, RunsByName& runs,
                     uint64_t step = 1) {
  const GpuCase gpu_case(layer, random);
  uint64_t place = random();
  for (const Bconv2dRow& row : Bconv2dRows()) {
    if (row.refusal(ShapeOf(layer)) != nullptr || ++place % step > 0) continue;
    emulated_gpu::Counters counters;
    ASSERT_EQ(gpu_case.Run(row, RandomOptions(random), &counters), "");
    ASSERT_EQ(counters.bank_conflicts, 0) << NameOf(row) << ": " << Describe(layer);
    ASSERT_EQ(counters.products > 0, row.kernel != KernelId::bconv2d_popc) << NameOf(row);
    ++runs[NameOf(row)];
  }
}

GpuLayer Square(int64_t size, int64_t in_channels, int64_t out_channels, int64_t filter) {
  GpuLayer layer;
  layer.height = layer.width = size;
  layer.spec.in_channels = in_channels;
  layer.spec.out_channels = out_channels;
  layer.spec.window = SquareWindow({.taps = filter, .padding = {.same = true}});
  return layer;
}

// Returns a dense layer, whose rows are `pixels` pixels as a 1x1 filter sees them.
GpuLayer Dense(int64_t pixels, int64_t in_channels, int64_t out_channels) {
  GpuLayer layer = Square(1, in_channels, out_channels, 1);
  layer.batch = pixels;
  return layer;
}

// Tells whether the row takes only products without a window.
bool IsPlain(const Bconv2dRow& row) { return row.kernel == KernelId::bconv2d_tma_128x256; }

// Tells whether the row takes only 3x3 taps of the number of channels in its name.
bool IsHalo(const Bconv2dRow& row) { return NameOf(row).starts_with("bconv2d_halo_"); }

// Returns a layer with more lines and columns than a tile, and with more tiles than blocks.
GpuLayer HaloLayer(const Bconv2dRow& row, int64_t out_channels) {
  GpuLayer layer = Square(18, row.kernel == KernelId::bconv2d_halo_64 ? 64 : 128, out_channels, 3);
  layer.batch = 2;
  return layer;
}

bool IsForOneBit(const Bconv2dRow& row) {
  const std::string name = NameOf(row);
  return IsPlain(row) || IsHalo(row) || name.starts_with("bconv2d_wgmma_") ||
         name.starts_with("bconv2d_mma_128x64_");
}

TEST(GpuBconv2d, RowsEqualTheReference) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  const int layers = IsFull() ? 300 / kShare : std::max(10 / kShare, 1);
  for (int i = 0; i < layers; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(RandomLayer(random), random, runs));
  }
}

// Covers each epilogue with whole words of channels and others, inside the image and at borders, in
// groups, and with each optional step present and absent; rows finish any number of pixels at once
// that they can.
TEST(GpuBconv2d, Epilogues) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  constexpr int kEpilogues = 4;
  uint64_t number = random() % kEpilogues;
  for (const int64_t out_channels : {64, 96, 40}) {
    GpuLayer layer = Square(5, 128, out_channels, 3);
    if (out_channels == 96 && random() % 2 == 0) {
      layer.spec.groups = 3;
      layer.spec.in_channels = 3 * 128;
    }
    for (const PadValue pad : {PadValue::kZero, PadValue::kMinusOne, PadValue::kOne}) {
      if (kShare > 1 && random() % 2 == 0) continue;
      layer.spec.pad_value = pad;
      layer.kind = number % kEpilogues == 0 ? OutputKind::kBits : OutputKind::kFloat;
      constexpr Fused kAfter[kEpilogues] = {Fused::kNothing, Fused::kNothing, Fused::kSum,
                                            Fused::kResidual};
      layer.fused = kAfter[number % kEpilogues];
      layer.steps = RandomSteps(random);
      ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs, IsFull() ? 1 : 2));
      ++number;
    }
  }
  for (const int64_t channels : {256, 300}) {
    GpuLayer plain = Dense(130, 128, channels);
    plain.fused = Fused::kSum;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(plain, random, runs, kShare));
    plain.kind = OutputKind::kBits;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(plain, random, runs, kShare));
  }
}

// Persistent blocks make the bits of a tile while they multiply the next one, if its sums fit into
// the registers that hold them. The tiles have one step, two steps, and more steps than stages.
TEST(GpuBconv2d, BitsOfPartsThatWait) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  std::vector<int64_t> depths = {128, 1152, 4992};
  if (kShare > 1) depths = {1152};
  if (IsFull()) depths.insert(depths.end(), {1024, 65535, 65536});
  for (const int64_t depth : depths) {
    GpuLayer layer = Dense(depth > 8192 ? 3 : 130, depth, depth > 8192 ? 64 : 544);
    layer.kind = OutputKind::kBits;
    for (const Bconv2dRow& row : Bconv2dRows()) {
      if (!IsPlain(row)) continue;
      ASSERT_EQ(GpuCase(layer, random).Run(row, RandomOptions(random)), "");
    }
  }
}

// Several pairs of planes are one product, whose epilogue fetches its constants once.
TEST(GpuBconv2d, ConstantsAreCopiedOnce) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  for (const Bconv2dRow& row : Bconv2dRows()) {
    const std::string name = NameOf(row);
    if (!name.starts_with("bconv2d_mma_128x128_") && !name.starts_with("bconv2d_int8_")) continue;
    const auto copies = [&](int64_t bits) {
      GpuLayer layer = Dense(3, 128, 64);
      layer.spec.bits_in = bits;
      emulated_gpu::Counters counters;
      EXPECT_EQ(GpuCase(layer, random).Run(row, RandomOptions(random), &counters), "");
      return counters.copies;
    };
    const int64_t one = copies(1);
    const int64_t two = copies(2);
    EXPECT_GT(two, one) << name;
    EXPECT_LT(two, 2 * one) << name;
    EXPECT_EQ(copies(3) - two, two - one) << name;
  }
}

// Covers every remainder of a size by that of a tile, a word and a copy, for every kind of output.
TEST(GpuBconv2d, ChannelsOfEveryRemainder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  constexpr int64_t kStep = 6 * kShare;
  const int64_t first = static_cast<int64_t>(random() % kStep) + 1;
  for (int64_t channels = first; channels <= 130; channels += kStep) {
    GpuLayer layer = Square(4, 1 + static_cast<int64_t>(random() % 130), channels, 2);
    layer.kind = static_cast<OutputKind>(channels % 3);
    layer.fused = layer.kind == OutputKind::kFloat ? Fused::kBatchNorm : Fused::kNothing;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
  }
}

// There are more steps than stages, so that stages are used again, and several blocks on each side.
TEST(GpuBconv2d, EveryOrderOfThreadsAndCopies) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
#ifdef __SANITIZE_THREAD__
  const std::vector<int> orders = {0};  // the system's order
#else
  // All orders take a minute: each run takes another one of those that take turns and of the greedy
  // ones.
  std::vector<int> orders = {0, 1, 2, 3, 4};
  if (!IsFull()) orders = {static_cast<int>(random() % 2), static_cast<int>(2 + random() % 3)};
#endif
  const GpuCase any(kShare > 1 ? Square(5, 512, 40, 3) : Square(12, 512, 80, 3), random);
  const GpuCase plain(kShare > 1 ? Dense(130, 3968, 270) : Dense(300, 4992, 270), random);
  std::map<KernelId, GpuCase> halos;
  for (const Bconv2dRow& row : Bconv2dRows()) {
    if (IsHalo(row)) halos.emplace(row.kernel, GpuCase(HaloLayer(row, 80), random));
  }
  uint64_t place = random();
  for (const Bconv2dRow& row : Bconv2dRows()) {
    // ThreadSanitizer takes a second for a row, so each run takes another half of the rows.
    if (kShare == 10 && !IsFull() && ++place % 2 > 0) continue;
    const GpuCase& gpu_case = IsPlain(row) ? plain : IsHalo(row) ? halos.at(row.kernel) : any;
    for (const int order : orders) {
      const bool first_early = random() % 2 == 0;
      for (int i = 0; i < (IsFull() ? 2 : 1); ++i) {
        const Options options{static_cast<Options::Order>(order), random(),
                              first_early != (i == 1)};
        ASSERT_EQ(gpu_case.Run(row, options), "");
      }
    }
  }
}

#ifndef __SANITIZE_THREAD__

// Has a layer for the limits of each row: groups, and taps of one word, two words and four words.
TEST(GpuBconv2d, NoRowIsLeftOut) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  std::vector<int64_t> all_channels = {32, 96, 64, 128, 256, 512, 1024};
  // All of them take a minute, and several minutes under a sanitizer. One of the four smallest
  // shows a sanitizer what most rows do.
  const bool is_sample = kShare > 1 && !IsFull();
  if (is_sample) {
    all_channels = {all_channels[random() % 4]};
  } else if (!IsFull()) {
    const auto one_of_two = [&](size_t first) { return all_channels[first + random() % 2]; };
    all_channels = {one_of_two(0), one_of_two(2), one_of_two(4)};
  }
  for (const int64_t in_channels : all_channels) {
    GpuLayer layer = Square(5, in_channels, 64, 3);
    layer.spec.pad_value = PadValue::kZero;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
    layer.spec.groups = 2;
    layer.spec.in_channels *= 2;
    layer.kind = OutputKind::kBits;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
    GpuLayer words = Square(5, in_channels, 96, 3);
    words.spec.pad_value = PadValue::kZero;
    words.spec.window.height.dilation = 2;
    words.fused = Fused::kResidual;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(words, random, runs));
    words.spec.pad_value = PadValue::kOne;
    words.kind = OutputKind::kBits;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(words, random, runs));
  }
  if (is_sample) return;
  for (const int64_t in_channels : {128, 2048}) {
    GpuLayer layer = Dense(20, in_channels, 64);
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
    layer.spec.window = SquareWindow({.padding = {.same = true}});  // which is 0 here
    layer.spec.pad_value = PadValue::kZero;
    layer.kind = OutputKind::kBits;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
  }
  for (const Bconv2dRow& row : Bconv2dRows()) {
    if (IsHalo(row)) continue;  // tested by TilesWithHalos
    EXPECT_GT(runs[NameOf(row)], 1) << NameOf(row);
  }
}

// Images end at a tile's border, before it and behind it, in each dimension, with every output and
// pad, and with windows that reach outside the image or lie in it.
TEST(GpuBconv2d, TilesWithHalos) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  const auto pick = [&](std::vector<int64_t> values) { return values[random() % values.size()]; };
  for (const Bconv2dRow& row : Bconv2dRows()) {
    if (!IsHalo(row)) continue;
    for (int i = 0; i < (IsFull() ? 60 : 12) / kShare + 1; ++i) {
      GpuLayer layer = HaloLayer(row, pick({1, 32, 33, 64, 65, 96, 128}));
      layer.batch = pick({1, 2, 3});
      layer.height = pick({1, 3, 7, 8, 9, 17, 25});
      layer.width = pick({1, 3, 15, 16, 17, 18, 33});
      const int64_t pad = pick({0, 1, 1, 2, 5});
      AxisPadding& above = layer.spec.window.height.padding;
      above = {.before = pad, .after = pick({pad, pad + 1})};
      layer.spec.window.width.padding = {.before = pick({1, 2, 3}), .after = pick({1, 2})};
      if (layer.height < 3) above.before = above.after = 1;
      layer.spec.pad_value = static_cast<PadValue>(static_cast<int>(i % 3) - 1);
      layer.kind = static_cast<OutputKind>(i / 3 % 3);
      if (layer.kind == OutputKind::kFloat) layer.fused = static_cast<Fused>(random() % 5);
      ASSERT_EQ(row.refusal(ShapeOf(layer)), nullptr);
      ASSERT_EQ(GpuCase(layer, random).Run(row, RandomOptions(random)), "");
    }
  }
}

TEST(GpuBconv2d, HalosAreForTheirLayersAlone) {
  const cuda::Chip h100{.compute_capability = 90, .multiprocessors = 132};
  const auto refusal = [&](const GpuLayer& layer) {
    const std::string error = SelectBconv2d(ShapeOf(layer), h100, "bconv2d_halo_64").error;
    return error.empty() ? "" : error.substr(std::string("kernel bconv2d_halo_64: ").size());
  };
  EXPECT_EQ(refusal(Square(5, 64, 8, 3)), "");
  EXPECT_EQ(refusal(Square(5, 40, 8, 3)), "");
  const std::string window = "the filter is not 3x3 with stride 1 and without dilation";
  EXPECT_EQ(refusal(Square(5, 64, 8, 2)), window);
  GpuLayer strided = Square(5, 64, 8, 3);
  strided.spec.window.height.stride = 2;
  EXPECT_EQ(refusal(strided), window);
  GpuLayer dilated = Square(5, 64, 8, 3);
  dilated.spec.window.width.dilation = 2;
  EXPECT_EQ(refusal(dilated), window);
  EXPECT_EQ(refusal(Square(5, 128, 8, 3)), "it is for another number of input channels");
  GpuLayer grouped = Square(5, 128, 64, 3);
  grouped.spec.groups = 2;
  EXPECT_EQ(refusal(grouped), "there is more than one group");

  // Blocks are persistent, with the same number for each 64 channels.
  const cuda::Bconv2dRow* row =
      SelectBconv2d(ShapeOf(Square(5, 64, 8, 3)), h100, "bconv2d_halo_64").row;
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->size(ShapeOf(Square(17, 64, 65, 3)), h100).blocks, 2 * 3 * 2);
  EXPECT_EQ(row->size(ShapeOf(Square(560, 64, 129, 3)), h100).blocks, 3 * 132);
}

// Four times the depth needs more than 32 bits. All rows take half a minute; sanitizers run less
// depth.
TEST(GpuBconv2d, SumsOfMostBits) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  GpuLayer deep = Dense(3, kShare > 1 && !IsFull() ? 192 : 4160, 64);
  deep.spec.bits_in = deep.spec.bits_weights = kMaxBits;
  deep.kind = OutputKind::kBits;
  ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(deep, random, runs, IsFull() ? 1 : 4));
  EXPECT_FALSE(runs.empty());
}

// Covers planes on either side and on both, and taps of one, two and four words; with every kind of
// padding and output, and with more and fewer steps of a pair than stages.
TEST(GpuBconv2d, SeveralBits) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  constexpr int64_t kBits[][2] = {{1, 2}, {2, 1}, {2, 2}, {3, 4}, {kMaxBits, 1}, {1, kMaxBits}};
  size_t number = random() % 9;
  const bool is_sample = kShare > 1 && !IsFull();  // takes a third of them
  size_t pair = random() % 3;
  for (const auto& [bits_in, bits_weights] : kBits) {
    if (is_sample && pair++ % 3 > 0) continue;
    GpuLayer layer = Square(3, 32 << number % 3, 40, 3);
    layer.spec.bits_in = bits_in;
    layer.spec.bits_weights = bits_weights;
    layer.spec.pad_value = static_cast<PadValue>(static_cast<int>(number % 3) - 1);
    layer.kind = static_cast<OutputKind>(number / 3 % 3);
    layer.fused = layer.kind == OutputKind::kFloat ? Fused::kLevels : Fused::kNothing;
    layer.level_bits = 1 + static_cast<int64_t>(random() % kMaxBits);
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, random, runs));
    ++number;
  }
  const bool takes_dense = random() % 2 == 0;
  if (!is_sample || !takes_dense) {
    GpuLayer grouped = Square(4, 256, 64, 2);
    grouped.spec.groups = 2;
    grouped.spec.bits_in = 2;
    grouped.spec.bits_weights = 3;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(grouped, random, runs));
  }
  if (!is_sample || takes_dense) {
    GpuLayer dense = Dense(3, 3000, 70);
    dense.spec.bits_in = 3;
    dense.spec.bits_weights = 2;
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(dense, random, runs));
  }
  if (is_sample) return;
  for (const Bconv2dRow& row : Bconv2dRows()) {
    EXPECT_EQ(runs[NameOf(row)] > 1, !IsForOneBit(row)) << NameOf(row);
  }
}

// Runs a dense layer, and the greatest filter that the rows on tensor cores take.
TEST(GpuBconv2d, DeepAndWide) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937_64 random(TestSeed());
  RunsByName runs;
  ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(Dense(3, 9000, 70), random, runs));
  GpuLayer wide = Square(3, 32, 8, 15);
  wide.spec.pad_value = PadValue::kMinusOne;
  ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(wide, random, runs));
  wide.spec.window.width.taps = 16;
  runs.clear();
  ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(wide, random, runs));
  for (const Bconv2dRow& row : Bconv2dRows()) {
    EXPECT_EQ(runs[NameOf(row)], row.kernel == KernelId::bconv2d_popc) << NameOf(row);
  }
}

#endif

TEST(GpuBconv2d, RowsAreKernelsAndFitThem) {
  size_t kernels = 0;
  for (const EmulatedKernel& kernel : EmulatedKernels()) {
    kernels += kernel.name.starts_with("bconv2d_");
  }
  EXPECT_EQ(kernels, Bconv2dRows().size());
  // One of these layers needs the most shared memory that a row can need.
  const GpuLayer deep = Square(9, 4096, 8, 3);
  GpuLayer high = Square(1, 128, 1, 3);
  high.height = 1024;
  const GpuLayer plain = Dense(1, 128, 1);
  const GpuLayer halo_64 = Square(9, 64, 1, 3);
  const GpuLayer halo_128 = Square(9, 128, 1, 3);
  const GpuLayer* const layers[] = {&deep, &high, &plain, &halo_64, &halo_128};
  const cuda::Chip h100{.compute_capability = 90, .multiprocessors = 132};
  for (const Bconv2dRow& row : Bconv2dRows()) {
    uint32_t threads = 0;
    uint32_t shared_bytes = 0;
    for (const GpuLayer* layer : layers) {
      if (row.refusal(ShapeOf(*layer)) != nullptr) continue;
      const cuda::LaunchSize size = row.size(ShapeOf(*layer), h100);
      threads = std::max(threads, size.threads);
      shared_bytes = std::max(shared_bytes, size.shared_bytes);
    }
    EXPECT_EQ(threads, cuda::RowOf(row.kernel).threads) << NameOf(row);
    EXPECT_EQ(shared_bytes, cuda::RowOf(row.kernel).shared_bytes) << NameOf(row);
    // Every chip has 48 KiB without being asked, and chips of 9.0 have 227 KiB.
    EXPECT_LE(shared_bytes, (row.first_chip < 90 ? 48u : 227u) << 10) << NameOf(row);
  }
}

TEST(GpuBconv2d, RefusalsNameTheLimit) {
  const cuda::Chip h100{.compute_capability = 90, .multiprocessors = 132};
  const auto refusal = [&](const cuda::Bconv2dArgs& args) {
    return SelectBconv2d(args, h100, "bconv2d_mma_128x64_c16").error;
  };
  const std::string kernel = "kernel bconv2d_mma_128x64_c16: ";
  EXPECT_EQ(refusal(ShapeOf(Square(2, 64, 8, 1))),
            kernel + "the words of a tap are no multiple of what it copies at once");
  GpuLayer layer = Square(2, 256, 6, 1);
  layer.spec.groups = 2;
  EXPECT_EQ(refusal(ShapeOf(layer)),
            kernel + "the output channels of a group are no multiple of 32");
  EXPECT_EQ(refusal(ShapeOf(Square(2, 128, 8, 16))),
            kernel + "the filter has more than 15 rows or columns");

  cuda::Bconv2dArgs a = ShapeOf(Square(2, 128, 8, 3));
  EXPECT_EQ(refusal(a), "");
  a.dilation_width = cuda::kMaxReach + 1;
  EXPECT_EQ(refusal(a), kernel + "a pad, stride or dilation is greater than 32768");
  a.dilation_width = 1;
  a.in_height = a.in_width = 1 << 15;
  EXPECT_EQ(refusal(a), kernel + "the image is too large for 32 bits");
  a.in_height = a.in_width = 1 << 10;
  a.out_height = a.out_width = 1 << 16;
  EXPECT_EQ(refusal(a), kernel + "the output is too large for 32 bits");
}

TEST(GpuBconv2d, SomeRowsAreForOneBit) {
  GpuLayer layer = Dense(2, 128, 8);
  layer.spec.bits_in = 2;
  const cuda::Bconv2dArgs args = ShapeOf(layer);
  for (const Bconv2dRow& row : Bconv2dRows()) {
    const char* refusal = row.refusal(args);
    EXPECT_EQ(refusal == nullptr ? "" : std::string(refusal),
              IsForOneBit(row) ? "values or weights have more than one bit" : "")
        << NameOf(row);
  }
}

TEST(GpuBconv2d, PlainProductsAreNamedAsSuch) {
  const cuda::Chip h100{.compute_capability = 90, .multiprocessors = 132};
  const auto refusal = [&](const GpuLayer& layer, int compute_capability = 90) {
    const cuda::Chip chip{.compute_capability = compute_capability, .multiprocessors = 132};
    const std::string error = SelectBconv2d(ShapeOf(layer), chip, "bconv2d_tma_128x256").error;
    return error.empty() ? "" : error.substr(std::string("kernel bconv2d_tma_128x256: ").size());
  };
  EXPECT_EQ(refusal(Dense(2, 128, 8)), "");
  EXPECT_EQ(refusal(Square(3, 128, 8, 1)), "");
  EXPECT_EQ(refusal(Square(3, 128, 8, 2)), "the filter is not 1x1 with stride 1 and without pads");
  GpuLayer padded = Square(3, 128, 8, 1);
  padded.spec.window.height.padding = {.after = 1};
  EXPECT_EQ(refusal(padded), "the filter is not 1x1 with stride 1 and without pads");
  GpuLayer strided = Square(3, 128, 8, 1);
  strided.spec.window.width.stride = 2;
  EXPECT_EQ(refusal(strided), "the filter is not 1x1 with stride 1 and without pads");
  GpuLayer grouped = Square(3, 256, 64, 1);
  grouped.spec.groups = 2;
  EXPECT_EQ(refusal(grouped), "there is more than one group");
  EXPECT_EQ(refusal(Dense(1, 65536, 1)), "");
  EXPECT_EQ(refusal(Dense(1, 64, 1)),
            "the words of a tap are no multiple of what it copies at once");
  EXPECT_EQ(refusal(Dense(1, 128, 1), 100),
            "it is for compute capability 9.0 to 9.0, this device has 10.0");

  // Blocks are persistent: there are never more of them than multiprocessors.
  const cuda::Bconv2dRow* row =
      SelectBconv2d(ShapeOf(Dense(1, 128, 1)), h100, "bconv2d_tma_128x256").row;
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->size(ShapeOf(Dense(129, 128, 257)), h100).blocks, 4);
  EXPECT_EQ(row->size(ShapeOf(Dense(2000, 128, 3000)), h100).blocks, 132);
}

// Covers few pixels, many pixels, and each family of chips.
TEST(GpuBconv2d, ChoosesByExpectedTime) {
  const auto chosen = [&](const GpuLayer& layer, int32_t batch, int compute_capability) {
    const cuda::Chip chip{.compute_capability = compute_capability,
                          .multiprocessors = compute_capability < 80 ? 40 : 132};
    cuda::Bconv2dArgs args = ShapeOf(layer);
    args.batch = batch;
    return NameOf(*SelectBconv2d(args, chip, cuda::kAutoRow).row);
  };
  EXPECT_EQ(chosen(Square(7, 512, 512, 3), 1, 90), "bconv2d_small_c16");
  EXPECT_EQ(chosen(Square(14, 256, 256, 3), 1, 80), "bconv2d_small_c16");
  EXPECT_EQ(chosen(Square(14, 64, 256, 3), 1, 90), "bconv2d_small_c8");
  EXPECT_EQ(chosen(Square(7, 512, 512, 3), 256, 80), "bconv2d_mma_128x64_c16");
  EXPECT_EQ(chosen(Square(7, 512, 512, 3), 256, 90), "bconv2d_wgmma_128x128");
  EXPECT_EQ(chosen(Square(14, 256, 256, 3), 64, 90), "bconv2d_wgmma_128x128");
  // Steps with channels take little time, and no chip with products of bits chooses bytes or
  // counting.
  for (const int channel_steps : {0, 3, 8}) {
    for (const int tensor_steps : {1, 2, 4}) {
      for (const auto& [layer, batch] :
           {std::pair(Square(56, 64, 64, 3), 1), std::pair(Square(56, 64, 64, 3), 64),
            std::pair(Square(14, 64, 64, 3), 1), std::pair(Square(28, 128, 128, 3), 64)}) {
        cuda::Bconv2dArgs args = ShapeOf(layer);
        args.batch = batch;
        for (int i = 0; i < channel_steps + tensor_steps; ++i) {
          args.output.after.steps[args.output.after.count++].kind =
              i < channel_steps ? cuda::PixelStep::kPrelu : cuda::PixelStep::kAddTensor;
        }
        const cuda::Chip chip{.compute_capability = 90, .multiprocessors = 132};
        const std::string name = NameOf(*SelectBconv2d(args, chip, cuda::kAutoRow).row);
        EXPECT_EQ(name.find("popc"), std::string::npos) << tensor_steps << " " << batch;
        EXPECT_EQ(name.find("int8"), std::string::npos) << tensor_steps << " " << batch;
      }
    }
  }
  GpuLayer to_bits = Square(14, 1024, 1024, 3);
  to_bits.kind = OutputKind::kBits;
  EXPECT_EQ(chosen(to_bits, 64, 90), "bconv2d_wgmma_128x256");
  EXPECT_EQ(chosen(Dense(1, 8192, 8192), 8192, 90), "bconv2d_tma_128x256");
  // The eight words of its depth fill only half of a step of 16.
  EXPECT_EQ(chosen(Square(14, 256, 256, 1), 8, 90), "bconv2d_small_c8");
  EXPECT_EQ(chosen(Square(56, 64, 256, 3), 64, 90), "bconv2d_mma_128x64_c8");
  EXPECT_EQ(chosen(Square(14, 96, 256, 3), 64, 86), "bconv2d_mma_128x64_c4");
  EXPECT_EQ(chosen(Square(56, 64, 64, 3), 256, 89), "bconv2d_mma_128x64_c8");
  for (const int chip : {100, 103, 120, 121}) {
    EXPECT_EQ(chosen(Square(7, 512, 512, 3), 1, chip), "bconv2d_small_int8_c16");
    EXPECT_EQ(chosen(Square(14, 64, 256, 3), 1, chip), "bconv2d_small_int8_c8");
    EXPECT_EQ(chosen(Square(56, 64, 64, 3), 256, chip), "bconv2d_int8_64x64_c8");
    EXPECT_EQ(chosen(Square(14, 256, 256, 3), 64, chip), "bconv2d_int8_64x64_c16");
    EXPECT_EQ(chosen(Square(14, 96, 256, 3), 64, chip), "bconv2d_int8_64x64_c4");
  }
  EXPECT_EQ(chosen(Square(7, 512, 512, 3), 256, 75), "bconv2d_mma8_64x64_c16");
  EXPECT_EQ(chosen(Square(28, 64, 64, 3), 8, 75), "bconv2d_mma8_64x64_c8");
  EXPECT_EQ(chosen(Square(14, 96, 256, 3), 8, 75), "bconv2d_mma8_64x64_c4");
  EXPECT_EQ(chosen(Square(1, 32, 32, 1), 1, 75), "bconv2d_popc");
  EXPECT_EQ(chosen(Square(3, 32, 8, 16), 1, 90), "bconv2d_popc");
}

// The times are from docs/gpu_results/layers_of_all_rows.json: microseconds to bits at batch 64,
// for loads of four words, two words and one; 0 where the row refuses the layer. These blocks fill
// the chip and have one warp for each part of the depth, up to nine.
TEST(GpuBconv2d, SmallTilesTakeWhatTheirWarpsDid) {
  struct Measured {
    GpuLayer layer;
    std::array<double, 3> microseconds;
  };
  const Measured measured[] = {{Square(56, 64, 64, 3), {0, 156.8, 169.7}},
                               {Square(28, 128, 128, 3), {83.56, 119.9, 131.1}},
                               {Square(14, 256, 256, 3), {64.69, 96.79, 109}},
                               {Square(7, 512, 512, 3), {53.49, 61.48, 69.74}}};
  const std::array<const char*, 3> rows = {"bconv2d_small_c16", "bconv2d_small_c8",
                                           "bconv2d_small_c4"};
  const cuda::Chip h100{.compute_capability = 90, .multiprocessors = 132};
  for (const Measured& own : measured) {
    cuda::Bconv2dArgs args = ShapeOf(own.layer);
    args.batch = 64;
    args.output.kind = cuda::Bconv2dOutput::kBits;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (own.microseconds[i] == 0) continue;
      const double expected = SelectBconv2d(args, h100, rows[i]).row->seconds(args, h100) * 1e6;
      EXPECT_NEAR(expected / own.microseconds[i], 1, 0.05)
          << rows[i] << " " << own.layer.spec.out_channels;
    }
  }
}

// A row runs only on its chips, also if it is chosen by name.
TEST(GpuBconv2d, NamesReachRowsThatAreNeverChosen) {
  const cuda::Bconv2dArgs layer = ShapeOf(Square(14, 256, 256, 3));
  const auto error = [&](int compute_capability, const char* name) {
    return SelectBconv2d(layer, {.compute_capability = compute_capability, .multiprocessors = 132},
                         name)
        .error;
  };
  EXPECT_EQ(error(90, "bconv2d_int8_64x64_c16"), "");
  EXPECT_EQ(error(90, "hep_xyz"), "there is no kernel 'hep_xyz'");
  EXPECT_EQ(
      error(75, "bconv2d_int8_64x64_c16"),
      "kernel bconv2d_int8_64x64_c16: it is for compute capability 8.0 and newer, this device "
      "has 7.5");
  EXPECT_EQ(error(100, "bconv2d_small_c16"),
            "kernel bconv2d_small_c16: it is for compute capability 8.0 to 9.0, this device has "
            "10.0");
  EXPECT_EQ(error(80, "bconv2d_mma8_64x64_c16"),
            "kernel bconv2d_mma8_64x64_c16: it is for compute capability 7.5 to 7.9, this device "
            "has 8.0");
}

}  // namespace
}  // namespace larq_engine::testing
