#include "larq_engine/kernels/cuda/bconv2d_rows.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/cuda/bconv2d_hep_mapping.h"
#include "larq_engine/kernels/cuda/bconv2d_tiles.h"

namespace larq_engine::cuda {
namespace {

constexpr int kAnyChip = std::numeric_limits<int>::max();

int64_t Pixels(const Bconv2dArgs& a) { return int64_t{a.batch} * a.out_height * a.out_width; }

int64_t DepthWords(const Bconv2dArgs& a) {
  return int64_t{a.filter_height} * a.filter_width * a.tap_words;
}

// Each is a product of bits. See bconv2d_planes.h.
int PlanePairs(const Bconv2dArgs& a) { return a.bits_in * a.bits_weights; }

int64_t BlocksFor(int64_t count, int64_t each) { return (count + each - 1) / each; }

// For tiles of `m` pixels and `n` output channels of a group.
int64_t TileBlocks(const Bconv2dArgs& a, int m, int n) {
  return BlocksFor(Pixels(a), m) * (a.out_channels / a.group_out_channels) *
         BlocksFor(a.group_out_channels, n);
}

const char* ServesAll(const Bconv2dArgs&) { return nullptr; }

// A warp for 32 channels of a pixel.
LaunchSize PopcSize(const Bconv2dArgs& a, const Chip&) {
  constexpr uint32_t kThreads = 128;
  return {.blocks = BlocksFor(Pixels(a) * BlocksFor(a.out_channels, 32), kThreads / 32),
          .threads = kThreads};
}

constexpr double kHertz = 1.7e9;

// 16 population counts a clock and multiprocessor, of two a word of depth; and a thread waits for
// each word, a guess of 8 clocks as some are on their way at once. 1 us to begin and end.
double PopcSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const double words = static_cast<double>(Pixels(a)) * static_cast<double>(a.out_channels) *
                       static_cast<double>(DepthWords(a)) * PlanePairs(a);
  return 1e-6 + 2 * words / (16 * kHertz * chip.multiprocessors) +
         8 * static_cast<double>(DepthWords(a)) * PlanePairs(a) / kHertz;
}

// What the kernels on tensor cores have in common; see bconv2d_window.h.
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
  // Words between the image's first and the farthest that a place is computed of, inside or not:
  // the last step may end 15 taps behind the filter's last.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int64_t line_words = int64_t{a.in_width} * a.pixel_words;
  const int64_t lines =
      int64_t{a.batch} * a.in_height + int64_t{kMaxFilterSize + 16} * a.dilation_height;
  const int64_t columns = int64_t{kMaxFilterSize} * a.dilation_width;
  // An image may be empty, and its pads not.
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

// How many bits the tensor cores multiply a clock and multiprocessor. Guesses: half of the 17,700
// that an H100 was seen to do; half of the 1,024 bytes that chips of 8.6 to 12.0 are said to do, as
// unpacking takes its time, and half of that where few products share what is unpacked; a quarter
// of the 8,192 of 7.5, as the first cache does not bring more.
constexpr int kBitRate = 8850;
constexpr int kByteRate = 512;
constexpr int kSmallByteRate = 256;
constexpr int kXorRate = 2048;

// 2 us to begin and end. The last blocks have as long as all before them.
template <MmaTile kTile, int kRate>
double MmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const int64_t rounds = BlocksFor(MmaSize<kTile>(a, chip).blocks, chip.multiprocessors);
  const double products = double{kTile.m} * kTile.n * 32 * a.filter_words * PlanePairs(a);
  return 2e-6 + static_cast<double>(rounds) * products / (kRate * kHertz);
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

// A guess: half of the 32,768 products a clock and multiprocessor, of which the bytes of shared
// memory allow 9 of 10 for 256 channels and 2 of 3 for 128. 4 us to begin and end. The last blocks
// have as long as all before them.
template <WgmmaTile kTile>
double WgmmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const int64_t rounds = BlocksFor(WgmmaSize<kTile>(a, chip).blocks, chip.multiprocessors);
  const double products = double{WgmmaTile::kM} * kTile.n * 32 * a.filter_words;
  constexpr int kRate = kTile.n == 256 ? 14500 : 11000;
  return 4e-6 + static_cast<double>(rounds) * products / (kRate * kHertz);
}

const char* TmaRefusal(const Bconv2dArgs& a) {
  if (const char* refusal = OneBitRefusal(a)) return refusal;
  const bool is_plain = a.filter_height == 1 && a.filter_width == 1 && a.stride_height == 1 &&
                        a.stride_width == 1 && a.in_height == a.out_height &&
                        a.in_width == a.out_width && a.pad_top == 0 && a.pad_left == 0;
  if (!is_plain) return "the filter is not 1x1 with stride 1 and without pads";
  if (a.group_out_channels != a.out_channels) return "there is more than one group";
  if (a.tap_dot > kMaxTmaDepth) return "the input has more than 65535 channels";
  return WindowRefusal(a, WgmmaTile::kCopyWords);
}

int64_t TmaTiles(const Bconv2dArgs& a) { return TileBlocks(a, TmaTile::kM, TmaTile::kN); }

// One part of the product after the other: a block for each multiprocessor.
template <TmaTile kTile>
LaunchSize TmaSize(const Bconv2dArgs& a, const Chip& chip) {
  return {.blocks = std::min<int64_t>(TmaTiles(a), chip.multiprocessors),
          .threads = TmaTile::kThreads,
          .shared_bytes = kTile.shared_bytes()};
}

// A guess: more than the kernel above, as nobody waits for copies to be begun nor for outputs. 5 us
// to begin and end.
double TmaSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const int64_t rounds = BlocksFor(TmaTiles(a), chip.multiprocessors);
  const double products = double{TmaTile::kM} * TmaTile::kN * 32 * a.filter_words;
  return 5e-6 + static_cast<double>(rounds) * products / (18000 * kHertz);
}

template <SmallTile kTile>
const char* SmallRefusal(const Bconv2dArgs& a) {
  return WindowRefusal(a, kTile.load_words);
}

template <SmallTile kTile>
LaunchSize SmallSize(const Bconv2dArgs& a, const Chip&) {
  const int64_t steps = BlocksFor(DepthWords(a), kTile.step_words());
  const int warps = static_cast<int>(std::min<int64_t>(steps, SmallTile::kMaxWarps));
  // Both halves of each word of channels.
  return {.blocks = BlocksFor(Pixels(a), SmallTile::kSize) * BlocksFor(a.out_channels, 32) * 2,
          .threads = static_cast<uint32_t>(warps * 32),
          .shared_bytes = static_cast<uint32_t>(SmallTile::SharedBytes(warps))};
}

// A guess: all operands come from the second cache with 64 bytes a clock and multiprocessor, once
// a block, and single words with a half of it, or the products take longer; and 1 us to begin and
// end.
template <SmallTile kTile, int kRate>
double SmallSeconds(const Bconv2dArgs& a, const Chip& chip) {
  const double words = static_cast<double>(SmallSize<kTile>(a, chip).blocks) * SmallTile::kSize *
                       static_cast<double>(DepthWords(a)) * PlanePairs(a);
  const double load_clocks = (kTile.load_words == 1 ? 2 : 1) * words * 2 * 4 / 64;
  const double product_clocks = words * SmallTile::kSize * 32 / kRate;
  return 1e-6 + std::max(load_clocks, product_clocks) / (kHertz * chip.multiprocessors);
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

// A guess: a warp waits 500 clocks for each load, a few blocks at once; 1 us to begin and end.
template <Mma8Tile kTile>
double Mma8Seconds(const Bconv2dArgs& a, const Chip& chip) {
  const int64_t rounds = BlocksFor(Mma8Size<kTile>(a, chip).blocks, chip.multiprocessors);
  const double products = double{Mma8Tile::kSize} * Mma8Tile::kSize * 32;
  const double loads =
      static_cast<double>(BlocksFor(DepthWords(a), 4 * kTile.load_words) * PlanePairs(a));
  const double product_clocks =
      static_cast<double>(rounds * DepthWords(a) * PlanePairs(a)) * products / kXorRate;
  const double wait_clocks = static_cast<double>(BlocksFor(rounds, 3)) * loads * 500;
  return 1e-6 + std::max(product_clocks, wait_clocks) / kHertz;
}

// A launch that asks for more threads fails.
constexpr int64_t kMostThreads = 1024;

template <HepMapping kMapping>
const char* HepRefusal(const Bconv2dArgs& a) {
  if (const char* refusal = OneBitRefusal(a)) return refusal;
  if (a.output.after.planes > 1) return "its output is quantized to more than one bit";
  if (HepThreads(kMapping, a) <= kMostThreads) return nullptr;
  if (IsHepDense(a)) return "a block has a thread for each output, and there are more than 1024";
  return kMapping.y ? "a block has a thread for each output row, and there are more than 1024"
                    : "a block has a thread for each output pixel of an image, and there are more "
                      "than 1024";
}

template <HepMapping kMapping>
LaunchSize HepSize(const Bconv2dArgs& a, const Chip&) {
  return {.blocks = HepBlocks(kMapping, a),
          .threads = static_cast<uint32_t>(HepThreads(kMapping, a))};
}

// Products of bits: chips of 10.0 and newer have them by way of bytes, slowly.
template <MmaTile kTile>
constexpr Bconv2dRow MmaRow(KernelId kernel) {
  return {kernel, 80, 90, MmaRefusal<kTile>, MmaSize<kTile>, MmaSeconds<kTile, kBitRate>};
}

// The chip has its own instructions, which no newer one understands.
template <WgmmaTile kTile>
constexpr Bconv2dRow WgmmaRow(KernelId kernel) {
  return {kernel, 90, 90, WgmmaRefusal<kTile>, WgmmaSize<kTile>, WgmmaSeconds<kTile>};
}

template <TmaTile kTile>
constexpr Bconv2dRow TmaRow(KernelId kernel) {
  return {kernel, 90, 90, TmaRefusal, TmaSize<kTile>, TmaSeconds, /*has_maps=*/true};
}

template <SmallTile kTile>
constexpr Bconv2dRow SmallRow(KernelId kernel) {
  return {kernel, 80, 90, SmallRefusal<kTile>, SmallSize<kTile>, SmallSeconds<kTile, kBitRate>};
}

template <MmaTile kTile>
constexpr Bconv2dRow Int8Row(KernelId kernel) {
  return {kernel, 80, kAnyChip, MmaRefusal<kTile>, MmaSize<kTile>, MmaSeconds<kTile, kByteRate>};
}

template <SmallTile kTile>
constexpr Bconv2dRow SmallInt8Row(KernelId kernel) {
  return {kernel,           80,
          kAnyChip,         SmallRefusal<kTile>,
          SmallSize<kTile>, SmallSeconds<kTile, kSmallByteRate>};
}

template <Mma8Tile kTile>
constexpr Bconv2dRow Mma8Row(KernelId kernel) {
  return {kernel, 75, 79, Mma8Refusal<kTile>, Mma8Size<kTile>, Mma8Seconds<kTile>};
}

template <HepMapping kMapping>
constexpr Bconv2dRow HepRow(KernelId kernel) {
  return {kernel, 75, kAnyChip, HepRefusal<kMapping>, HepSize<kMapping>, nullptr};
}

constexpr Bconv2dRow kRows[] = {
    {KernelId::bconv2d_popc, 75, kAnyChip, ServesAll, PopcSize, PopcSeconds},
    MmaRow<kMma128x128c16>(KernelId::bconv2d_mma_128x128_c16),
    MmaRow<kMma128x128c8>(KernelId::bconv2d_mma_128x128_c8),
    MmaRow<kMma128x128c4>(KernelId::bconv2d_mma_128x128_c4),
    MmaRow<kMma128x64c16>(KernelId::bconv2d_mma_128x64_c16),
    MmaRow<kMma128x64c8>(KernelId::bconv2d_mma_128x64_c8),
    MmaRow<kMma128x64c4>(KernelId::bconv2d_mma_128x64_c4),
    WgmmaRow<kWgmma128x128>(KernelId::bconv2d_wgmma_128x128),
    WgmmaRow<kWgmma128x256>(KernelId::bconv2d_wgmma_128x256),
    TmaRow<kTma128x256>(KernelId::bconv2d_tma_128x256),
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
    HepRow<kHepX>(KernelId::hep_x),
    HepRow<kHepY>(KernelId::hep_y),
    HepRow<kHepZ>(KernelId::hep_z),
    HepRow<kHepXy>(KernelId::hep_xy),
    HepRow<kHepXz>(KernelId::hep_xz),
    HepRow<kHepYz>(KernelId::hep_yz),
    HepRow<kHepXyz>(KernelId::hep_xyz),
};

// Empty where the row can compute the layer on the chip.
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
    if (name == kAutoRow ? row.is_baseline() : name != row_name) continue;
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
