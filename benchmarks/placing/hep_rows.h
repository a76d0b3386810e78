// Defines HEP-BNN's seven configurations as rows of binary convolutions, which are never chosen: a
// benchmark names them. bconv2d_rows.cc includes this file if Bazel's flag `more_kernels` says so.
#ifndef LARQ_ENGINE_BENCHMARKS_PLACING_HEP_ROWS_H_
#define LARQ_ENGINE_BENCHMARKS_PLACING_HEP_ROWS_H_

#include <cstdint>
#include <limits>

#include "benchmarks/placing/hep_mapping.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"

#define LARQ_ENGINE_MORE_BCONV2D_ROWS                                                             \
  HepRow<kHepX>(KernelId::hep_x), HepRow<kHepY>(KernelId::hep_y), HepRow<kHepZ>(KernelId::hep_z), \
      HepRow<kHepXy>(KernelId::hep_xy), HepRow<kHepXz>(KernelId::hep_xz),                         \
      HepRow<kHepYz>(KernelId::hep_yz), HepRow<kHepXyz>(KernelId::hep_xyz)

namespace larq_engine::cuda {

// A launch that asks for more threads fails.
inline constexpr int64_t kMostHepThreads = 1024;

template <HepMapping kMapping>
const char* HepRefusal(const Bconv2dArgs& a) {
  if (a.bits_in * a.bits_weights > 1) return "values or weights have more than one bit";
  if (a.output.after.planes > 1) return "its output is quantized to more than one bit";
  if (HepThreads(kMapping, a) <= kMostHepThreads) return nullptr;
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

inline double NeverChosen(const Bconv2dArgs&, const Chip&) {
  return std::numeric_limits<double>::infinity();
}

template <HepMapping kMapping>
constexpr Bconv2dRow HepRow(KernelId kernel) {
  return {.kernel = kernel,
          .first_chip = 75,
          .last_chip = std::numeric_limits<int>::max(),
          .refusal = HepRefusal<kMapping>,
          .size = HepSize<kMapping>,
          .seconds = NeverChosen};
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_BENCHMARKS_PLACING_HEP_ROWS_H_
