#include "larq_engine/kernels/cuda/bconv2d_rows.h"

#include <limits>

namespace larq_engine::cuda {
namespace {

constexpr int kAnyChip = std::numeric_limits<int>::max();

int64_t Pixels(const Bconv2dArgs& a) { return int64_t{a.batch} * a.out_height * a.out_width; }

int64_t BlocksFor(int64_t count, int64_t each) { return (count + each - 1) / each; }

const char* ServesAll(const Bconv2dArgs&) { return nullptr; }

// A warp for 32 channels of a pixel.
LaunchSize PopcSize(const Bconv2dArgs& a) {
  constexpr uint32_t kThreads = 128;
  return {.blocks_x = BlocksFor(Pixels(a) * BlocksFor(a.out_channels, 32), kThreads / 32),
          .threads = kThreads};
}

// 16 population counts a clock and multiprocessor, of two a word of depth.
double PopcSeconds(const Bconv2dArgs& a, const Chip& chip) {
  constexpr double kHertz = 1.7e9;
  const double words = static_cast<double>(Pixels(a)) * static_cast<double>(a.out_channels) *
                       a.filter_height * a.filter_width * a.tap_words;
  return 2 * words / (16 * kHertz * chip.multiprocessors);
}

constexpr Bconv2dRow kRows[] = {
    {KernelId::bconv2d_popc, 75, kAnyChip, ServesAll, PopcSize, PopcSeconds},
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
