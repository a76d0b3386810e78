#include "larq_engine/kernels/cuda/bconv2d_rows.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/cuda/bconv2d_tiles.h"
#ifdef LARQ_ENGINE_MORE_CUDA_ROWS  // a benchmark defines it
#include LARQ_ENGINE_MORE_CUDA_ROWS
#endif

namespace larq_engine::cuda {
namespace {

constexpr int kAnyChip = std::numeric_limits<int>::max();

// The last chip with products of bits in hardware. Newer ones emulate them by bytes, slowly.
constexpr int kLastChipOfBits = 90;

// The time of rows that are chosen only if no other row computes the layer, or by name.
constexpr double kNotChosen = 1e9;

int64_t Pixels(const Bconv2dArgs& a) { return int64_t{a.batch} * a.out_height * a.out_width; }

int64_t DepthWords(const Bconv2dArgs& a) {
  return int64_t{a.filter_height} * a.filter_width * a.tap_words;
}

// Returns the number of pairs of bit planes. Each is a product of bits: see bconv2d_planes.h.
int PlanePairs(const Bconv2dArgs& a) { return a.bits_in * a.bits_weights; }

int64_t BlocksFor(int64_t count, int64_t each) { return (count + each - 1) / each; }

// Returns the number of blocks, for tiles of `m` pixels and `n` output channels of a group.
int64_t TileBlocks(const Bconv2dArgs& a, int m, int n) {
  return BlocksFor(Pixels(a), m) * (a.out_channels / a.group_out_channels) *
         BlocksFor(a.group_out_channels, n);
}

const char* ServesAll(const Bconv2dArgs&) { return nullptr; }

// Returns a size with a warp for each 32 channels of a pixel.
LaunchSize PopcSize(const Bconv2dArgs& a, const Chip&) {
  constexpr uint32_t kThreads = BlockBounds{}.threads;
  return {.blocks = BlocksFor(Pixels(a) * BlocksFor(a.out_channels, 32), kThreads / 32),
          .threads = kThreads};
}

// Times are fits to what `make gpu-check` measured on an H100 (docs/gpu_results.md): layers A to D
// at batches 1 and 64, and products of 1,024 to 16,384. Seven of eight layers were within a quarter
// of these on 2026-11-26, and no GPU has run the epilogues and loads that kernels have got since
// then. For other chips, outputs and pads they are guesses.
constexpr double kNanosecond = 1e-9;
constexpr double kMicrosecond = 1e-6;

double OfMultiprocessor(double count, const Chip& chip) {
  return std::max(1.0, count / chip.multiprocessors);
}

// Returns the number of steps in the epilogue's program that read or write a tensor of floats. Bits
// by thresholds have no program; the other steps take little time beside these.
int TensorSteps(const Bconv2dArgs& a) {
  if (a.output.kind == Bconv2dOutput::kBits) return 0;
  const PixelStep* const steps = a.output.after.steps;
  const auto is_of_tensor = [](const PixelStep& step) {
    return step.kind == PixelStep::kAddTensor || step.kind == PixelStep::kMultiplyTensor ||
           step.kind == PixelStep::kStore;
  };
  return std::max(
      1, static_cast<int>(std::count_if(steps, steps + a.output.after.count, is_of_tensor)));
}

// Returns the number of times that a kernel waits for tensors: the loads of further steps are under
// way together with the first one.
int WaitsForTensors(const Bconv2dArgs& a) { return std::min(2, TensorSteps(a)); }

// Each thread waits for each word of its output; a few words are under way at once.
double PopcSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const double outputs = static_cast<double>(Pixels(a)) * static_cast<double>(a.out_channels);
  const double words = static_cast<double>(DepthWords(a)) * PlanePairs(a);
  return (3 + 0.7 * std::max(0, WaitsForTensors(a) - 1)) * kMicrosecond +
         0.55 * kNanosecond * OfMultiprocessor(outputs, chip) * words + 5 * kNanosecond * words;
}

// Returns the reason why kernels that find taps by bconv2d_window.h cannot compute the layer, or
// null.
const char* WindowRefusal(const Bconv2dArgs& a, int words_at_once) {
  if (a.tap_words % words_at_once != 0) {
    return "the words of a tap are no multiple of what it copies at once";
  }
  if (a.group_out_channels != a.out_channels && a.group_out_channels % 32 != 0) {
    return "the output channels of a group are no multiple of 32";
  }
  if (a.filter_height > kMaxFilterSize || a.filter_width > kMaxFilterSize) {
    return "the filter has more than 15 rows or columns";
  }
  for (const int32_t reach : {a.pad_top, a.pad_left, a.dilation_height, a.dilation_width,
                              a.stride_height, a.stride_width}) {
    if (reach > kMaxReach) return "a pad, stride or dilation is greater than 32768";
  }
  // The image's words up to the farthest one whose place is computed, whether it is inside or not,
  // must be countable in 32 bits: the last step may end 15 taps behind the filter's last tap.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t line_words = int64_t{a.in_width} * a.pixel_words;
  const int64_t lines =
      int64_t{a.batch} * a.in_height + int64_t{kMaxFilterSize + 16} * a.dilation_height;
  const int64_t columns = int64_t{kMaxFilterSize} * a.dilation_width;
  // An empty image may still have pads.
  if (line_words > kMost || (line_words > 0 && lines > kMost / line_words) ||
      lines * line_words + columns * a.pixel_words > kMost ||
      a.pad_top * line_words + int64_t{a.pad_left} * a.pixel_words > kMost) {
    return "the image is too large for 32 bits";
  }
  if (Pixels(a) > kMost - 128) return "the output is too large for 32 bits";
  return nullptr;
}

const char* OneBitRefusal(const Bconv2dArgs& a) {
  return PlanePairs(a) > 1 ? "values or weights have more than one bit" : nullptr;
}

template <MmaTile kTile>
const char* MmaRefusal(const Bconv2dArgs& a) {
  if constexpr (!kTile.has_planes) {
    if (const char* refusal = OneBitRefusal(a)) return refusal;
  }
  return WindowRefusal(a, kTile.copy_words);
}

template <MmaTile kTile>
LaunchSize MmaSize(const Bconv2dArgs& a, const Chip&) {
  return {.blocks = TileBlocks(a, kTile.m, kTile.n),
          .threads = kTile.threads(),
          .shared_bytes = kTile.shared_bytes()};
}

// The seconds that the blocks of a kernel on tensor cores take.
struct TileCosts {
  double begin;       // of beginning and ending
  double begin_step;  // of each wait for a tensor: see WaitsForTensors
  double bit;         // of a multiprocessor, for each output without steps with tensors
  double step;        // of a multiprocessor, for each step with tensors of each output
  double products;    // the rate: products of a multiprocessor in a second
  bool is_alone;      // whether a multiprocessor has one block at a time
};

// Returns the time of `blocks` tiles of `m` pixels and `n` channels.
double TileSeconds(const Bconv2dArgs& a, const Chip& chip, int m, int n, int64_t blocks,
                   const TileCosts& costs) {
  const double outputs = static_cast<double>(m) * n;
  const double products = outputs * 32 * a.filter_words * PlanePairs(a);
  const int steps = TensorSteps(a);
  const double rounds = costs.is_alone
                            ? static_cast<double>(BlocksFor(blocks, chip.multiprocessors))
                            : OfMultiprocessor(static_cast<double>(blocks), chip);
  return costs.begin + WaitsForTensors(a) * costs.begin_step +
         rounds *
             (outputs * (steps == 0 ? costs.bit : steps * costs.step) + products / costs.products);
}

template <MmaTile kTile>
double MmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  constexpr bool kIsWide = kTile.n > 64;
  return TileSeconds(a, chip, kTile.m, kTile.n, MmaSize<kTile>(a, chip).blocks,
                     {.begin = 3 * kMicrosecond,
                      .begin_step = 3 * kMicrosecond,
                      .bit = 0.14 * kNanosecond,
                      .step = (kIsWide ? 0.45 : 0.27) * kNanosecond,
                      .products = kIsWide ? 14e12 : 17e12,
                      .is_alone = false});
}

// Expanding bits to bytes takes time, and chips up to 9.0 do not need it.
template <MmaTile kTile>
double Int8Seconds(const Bconv2dArgs& a, const Chip& chip) {
  if (chip.compute_capability <= kLastChipOfBits) return kNotChosen;
  return TileSeconds(a, chip, kTile.m, kTile.n, MmaSize<kTile>(a, chip).blocks,
                     {.begin = 4 * kMicrosecond,
                      .begin_step = 3 * kMicrosecond,
                      .bit = 0.14 * kNanosecond,
                      .step = 0.27 * kNanosecond,
                      .products = 1.5e12,
                      .is_alone = false});
}

template <WgmmaTile kTile>
const char* WgmmaRefusal(const Bconv2dArgs& a) {
  if (const char* refusal = OneBitRefusal(a)) return refusal;
  return WindowRefusal(a, WgmmaTile::kCopyWords);
}

template <WgmmaTile kTile>
LaunchSize WgmmaSize(const Bconv2dArgs& a, const Chip&) {
  return {.blocks = TileBlocks(a, WgmmaTile::kM, kTile.n),
          .threads = WgmmaTile::kThreads,
          .shared_bytes = kTile.shared_bytes()};
}

template <WgmmaTile kTile>
double WgmmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  constexpr bool kIsWide = kTile.n > 128;
  return TileSeconds(a, chip, WgmmaTile::kM, kTile.n, WgmmaSize<kTile>(a, chip).blocks,
                     {.begin = 2 * kMicrosecond,
                      .begin_step = 1 * kMicrosecond,
                      .bit = (kIsWide ? 0.19 : 0.14) * kNanosecond,
                      .step = (kIsWide ? 0.55 : 0.33) * kNanosecond,
                      .products = kIsWide ? 36e12 : 23e12,
                      .is_alone = kIsWide});
}

const char* TmaRefusal(const Bconv2dArgs& a) {
  if (const char* refusal = OneBitRefusal(a)) return refusal;
  const bool is_plain = a.filter_height == 1 && a.filter_width == 1 && a.stride_height == 1 &&
                        a.stride_width == 1 && a.in_height == a.out_height &&
                        a.in_width == a.out_width && a.pad_top == 0 && a.pad_left == 0;
  if (!is_plain) return "the filter is not 1x1 with stride 1 and without pads";
  if (a.group_out_channels != a.out_channels) return "there is more than one group";
  return WindowRefusal(a, WgmmaTile::kCopyWords);
}

int64_t TmaTiles(const Bconv2dArgs& a) { return TileBlocks(a, TmaTile::kM, TmaTile::kN); }

// Returns a size with at most one block for each multiprocessor. A block computes one tile after
// the other.
template <TmaTile kTile>
LaunchSize TmaSize(const Bconv2dArgs& a, const Chip& chip) {
  return {.blocks = std::min<int64_t>(TmaTiles(a), chip.multiprocessors),
          .threads = TmaTile::kThreads,
          .shared_bytes = kTile.shared_bytes()};
}

double TmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  return TileSeconds(a, chip, TmaTile::kM, TmaTile::kN, TmaTiles(a),
                     {.begin = 2 * kMicrosecond,
                      .begin_step = 1 * kMicrosecond,
                      .bit = 0.17 * kNanosecond,
                      .step = 0.45 * kNanosecond,
                      .products = 54e12,
                      .is_alone = true});
}

template <HaloTile kTile>
const char* HaloRefusal(const Bconv2dArgs& a) {
  if (const char* refusal = OneBitRefusal(a)) return refusal;
  const bool is_3x3 = a.filter_height == HaloTile::kFilterSize &&
                      a.filter_width == HaloTile::kFilterSize && a.stride_height == 1 &&
                      a.stride_width == 1 && a.dilation_height == 1 && a.dilation_width == 1;
  if (!is_3x3) return "the filter is not 3x3 with stride 1 and without dilation";
  if (a.group_out_channels != a.out_channels) return "there is more than one group";
  if (a.tap_words != kTile.tap_words) return "it is for another number of input channels";
  return WindowRefusal(a, kTile.tap_words);
}

int64_t HaloTiles(const Bconv2dArgs& a) {
  return a.batch * BlocksFor(a.out_height, HaloTile::kHeight) *
         BlocksFor(a.out_width, HaloTile::kWidth);
}

// Returns a size with the number of blocks that run at once. Each keeps the filters of 64 channels.
template <HaloTile kTile>
LaunchSize HaloSize(const Bconv2dArgs& a, const Chip& chip) {
  const int64_t channel_tiles = BlocksFor(a.out_channels, HaloTile::kN);
  const int64_t blocks =
      std::max<int64_t>(1, int64_t{HaloTile::kBlocks} * chip.multiprocessors / channel_tiles);
  return {.blocks = channel_tiles * std::min(HaloTiles(a), blocks),
          .threads = HaloTile::kThreads,
          .shared_bytes = kTile.shared_bytes()};
}

// No GPU has measured this kernel, so that only its name chooses it.
double HaloSeconds(const Bconv2dArgs&, const Chip&) { return kNotChosen; }

template <SmallTile kTile>
const char* SmallRefusal(const Bconv2dArgs& a) {
  return WindowRefusal(a, kTile.load_words);
}

// The number of steps of the depth, and of the parts that the warps split them into.
struct SmallDepth {
  int64_t steps;
  int parts;

  template <SmallTile kTile>
  static SmallDepth Of(const Bconv2dArgs& a) {
    const int64_t steps = BlocksFor(DepthWords(a), kTile.step_words());
    return {steps, static_cast<int>(std::min<int64_t>(steps, SmallTile::kMaxWarps))};
  }
};

template <SmallTile kTile>
LaunchSize SmallSize(const Bconv2dArgs& a, const Chip&) {
  const int parts = SmallDepth::Of<kTile>(a).parts;
  const int warps = std::max(parts, SmallTile::kMinWarps);
  // The grid covers both halves of each word of channels.
  return {.blocks = BlocksFor(Pixels(a), SmallTile::kSize) * BlocksFor(a.out_channels, 32) * 2,
          .threads = static_cast<uint32_t>(warps * 32),
          .shared_bytes = static_cast<uint32_t>(SmallTile::SharedBytes(parts))};
}

// A block's time is that of its warps, each of which finds its places and adds up its sums; further
// steps of a warp take little. Layers of several bits were not measured: it is a guess that each
// further pair of planes takes a time for each word. Products of bytes take longer.
template <SmallTile kTile, bool kIsOfBytes>
double SmallSeconds(const Bconv2dArgs& a, const Chip& chip) {
  if (kIsOfBytes && chip.compute_capability <= kLastChipOfBits) return kNotChosen;
  const int more_tensors = std::max(0, TensorSteps(a) - 1);
  const double blocks = static_cast<double>(SmallSize<kTile>(a, chip).blocks);
  const auto [steps, parts] = SmallDepth::Of<kTile>(a);
  const double part = kTile.load_words == 4 ? 108 : kTile.load_words == 2 ? 99 : 114;
  const double word = kTile.load_words == 4 ? 5.5 : kTile.load_words == 2 ? 7.6 : 8.8;
  const double of_pairs = word * static_cast<double>(DepthWords(a) * (PlanePairs(a) - 1));
  const double further = 0.28 * part * static_cast<double>(steps - parts);
  const double depth = (part * parts + further + of_pairs) * (kIsOfBytes ? 1.7 : 1);
  return (2.7 + 0.8 * std::min(1, more_tensors)) * kMicrosecond +
         OfMultiprocessor(blocks, chip) * kNanosecond * (100 + 180 * more_tensors + depth);
}

template <Mma8Tile kTile>
const char* Mma8Refusal(const Bconv2dArgs& a) {
  return WindowRefusal(a, kTile.load_words);
}

template <Mma8Tile kTile>
LaunchSize Mma8Size(const Bconv2dArgs& a, const Chip&) {
  return {.blocks = TileBlocks(a, Mma8Tile::kSize, Mma8Tile::kSize),
          .threads = Mma8Tile::kThreads,
          .shared_bytes = Mma8Tile::kSharedBytes};
}

// This is a guess for compute capability 7.5: a warp waits 500 clocks for each load, a few blocks
// run at once, and a quarter of the 8,192 products a clock have operands from the L1 cache.
template <Mma8Tile kTile>
double Mma8Seconds(const Bconv2dArgs& a, const Chip& chip) {
  constexpr double kHertz = 1.7e9;
  constexpr int kXorRate = 2048;
  const int64_t rounds = BlocksFor(Mma8Size<kTile>(a, chip).blocks, chip.multiprocessors);
  const double products = double{Mma8Tile::kSize} * Mma8Tile::kSize * 32;
  const double loads =
      static_cast<double>(BlocksFor(DepthWords(a), 4 * kTile.load_words) * PlanePairs(a));
  const double product_clocks =
      static_cast<double>(rounds * DepthWords(a) * PlanePairs(a)) * products / kXorRate;
  const double wait_clocks = static_cast<double>(BlocksFor(rounds, 3)) * loads * 500;
  return 3.5 * kMicrosecond + std::max(product_clocks, wait_clocks) / kHertz;
}

template <MmaTile kTile>
constexpr Bconv2dRow MmaRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 80,
          .last_chip = kLastChipOfBits,
          .refusal = MmaRefusal<kTile>,
          .size = MmaSize<kTile>,
          .seconds = MmaSeconds<kTile>};
}

// Only compute capability 9.0 has these instructions; newer chips do not.
template <WgmmaTile kTile>
constexpr Bconv2dRow WgmmaRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 90,
          .last_chip = 90,
          .refusal = WgmmaRefusal<kTile>,
          .size = WgmmaSize<kTile>,
          .seconds = WgmmaSeconds<kTile>};
}

template <TmaTile kTile>
constexpr Bconv2dRow TmaRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 90,
          .last_chip = 90,
          .refusal = TmaRefusal,
          .size = TmaSize<kTile>,
          .seconds = TmaSeconds,
          .has_maps = true};
}

template <HaloTile kTile>
constexpr Bconv2dRow HaloRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 80,
          .last_chip = kLastChipOfBits,
          .refusal = HaloRefusal<kTile>,
          .size = HaloSize<kTile>,
          .seconds = HaloSeconds};
}

template <SmallTile kTile>
constexpr Bconv2dRow SmallRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 80,
          .last_chip = kLastChipOfBits,
          .refusal = SmallRefusal<kTile>,
          .size = SmallSize<kTile>,
          .seconds = SmallSeconds<kTile, false>};
}

template <MmaTile kTile>
constexpr Bconv2dRow Int8Row(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 80,
          .last_chip = kAnyChip,
          .refusal = MmaRefusal<kTile>,
          .size = MmaSize<kTile>,
          .seconds = Int8Seconds<kTile>};
}

template <SmallTile kTile>
constexpr Bconv2dRow SmallInt8Row(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 80,
          .last_chip = kAnyChip,
          .refusal = SmallRefusal<kTile>,
          .size = SmallSize<kTile>,
          .seconds = SmallSeconds<kTile, true>};
}

template <Mma8Tile kTile>
constexpr Bconv2dRow Mma8Row(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 75,
          .last_chip = 79,
          .refusal = Mma8Refusal<kTile>,
          .size = Mma8Size<kTile>,
          .seconds = Mma8Seconds<kTile>};
}

constexpr Bconv2dRow kRows[] = {
    {.kernel = KernelId::bconv2d_popc,
     .first_chip = 75,
     .last_chip = kAnyChip,
     .refusal = ServesAll,
     .size = PopcSize,
     .seconds = PopcSeconds},
    MmaRow<kMma128x128c16>(KernelId::bconv2d_mma_128x128_c16),
    MmaRow<kMma128x128c8>(KernelId::bconv2d_mma_128x128_c8),
    MmaRow<kMma128x128c4>(KernelId::bconv2d_mma_128x128_c4),
    MmaRow<kMma128x64c16>(KernelId::bconv2d_mma_128x64_c16),
    MmaRow<kMma128x64c8>(KernelId::bconv2d_mma_128x64_c8),
    MmaRow<kMma128x64c4>(KernelId::bconv2d_mma_128x64_c4),
    WgmmaRow<kWgmma128x128>(KernelId::bconv2d_wgmma_128x128),
    WgmmaRow<kWgmma128x256>(KernelId::bconv2d_wgmma_128x256),
    TmaRow<kTma128x256>(KernelId::bconv2d_tma_128x256),
    HaloRow<kHalo64>(KernelId::bconv2d_halo_64),
    HaloRow<kHalo128>(KernelId::bconv2d_halo_128),
    SmallRow<kSmallC16>(KernelId::bconv2d_small_c16),
    SmallRow<kSmallC8>(KernelId::bconv2d_small_c8),
    SmallRow<kSmallC4>(KernelId::bconv2d_small_c4),
    Int8Row<kMma64x64c16>(KernelId::bconv2d_int8_64x64_c16),
    Int8Row<kMma64x64c8>(KernelId::bconv2d_int8_64x64_c8),
    Int8Row<kMma64x64c4>(KernelId::bconv2d_int8_64x64_c4),
    SmallInt8Row<kSmallC16>(KernelId::bconv2d_small_int8_c16),
    SmallInt8Row<kSmallC8>(KernelId::bconv2d_small_int8_c8),
    SmallInt8Row<kSmallC4>(KernelId::bconv2d_small_int8_c4),
    Mma8Row<kMma8c16>(KernelId::bconv2d_mma8_64x64_c16),
    Mma8Row<kMma8c8>(KernelId::bconv2d_mma8_64x64_c8),
    Mma8Row<kMma8c4>(KernelId::bconv2d_mma8_64x64_c4),
#ifdef LARQ_ENGINE_MORE_CUDA_ROWS
    LARQ_ENGINE_MORE_BCONV2D_ROWS,
#endif
};

// Returns the reason why the row cannot compute the layer on the chip; empty if it can.
std::string Refusal(const Bconv2dRow& row, const Bconv2dArgs& args, const Chip& chip) {
  const auto dotted = [](int chip) {
    return std::to_string(chip / 10) + "." + std::to_string(chip % 10);
  };
  if (chip.compute_capability < row.first_chip || chip.compute_capability > row.last_chip) {
    return "it is for compute capability " + dotted(row.first_chip) +
           (row.last_chip == kAnyChip ? " and newer" : " to " + dotted(row.last_chip)) +
           ", this device has " + dotted(chip.compute_capability);
  }
  const char* refusal = row.refusal(args);
  return refusal == nullptr ? "" : refusal;
}

}  // namespace

std::span<const Bconv2dRow> Bconv2dRows() { return kRows; }

Bconv2dMaps MapsOf(const Bconv2dArgs& a) {
  const auto map = [](const uint32_t* words, int64_t rows, int64_t row_words, int box_rows) {
    return MatrixMap{.words = words,
                     .rows = rows,
                     .row_words = row_words,
                     .pitch_words = row_words,
                     .box_rows = box_rows,
                     .box_words = TmaTile::kStepWords,
                     .is_swizzled = true};
  };
  return {.image = map(a.image, Pixels(a), a.tap_words, TmaTile::kM),
          .filter = map(a.filter, a.out_channels, a.filter_words, TmaTile::kN)};
}

Bconv2dChoice SelectBconv2d(const Bconv2dArgs& args, const Chip& chip, std::string_view name) {
  Bconv2dChoice choice{nullptr, ""};
  double least = 0;
  for (const Bconv2dRow& row : kRows) {
    const std::string_view row_name = RowOf(row.kernel).name;
    if (name != kAutoRow && name != row_name) continue;
    const std::string refusal = Refusal(row, args, chip);
    if (!refusal.empty()) {
      choice.error = "kernel " + std::string(row_name) + ": " + refusal;
      continue;
    }
    if (name == row_name) return {&row, ""};
    const double seconds = row.seconds(args, chip);
    if (choice.row != nullptr && seconds >= least) continue;
    choice.row = &row;
    least = seconds;
  }
  if (choice.row == nullptr && choice.error.empty()) {
    choice.error = "there is no kernel '" + std::string(name) + "'";
  }
  return choice;
}

}  // namespace larq_engine::cuda
