// The kernels of binary convolutions: a row each, and the choice among them.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ROWS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ROWS_H_

#include <span>
#include <string>
#include <string_view>

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/kernel_table.h"

namespace larq_engine::cuda {

// The chip that kernels run on.
struct Chip {
  int compute_capability;  // 90 for 9.0
  int multiprocessors;
};

// The compute capability of the chip whose measured times choose kernels and devices. For others
// they are guesses.
inline constexpr int kMeasuredChip = 90;

struct Bconv2dRow {
  KernelId kernel;
  // Of chips: the first, and the last that computes it as it is meant.
  int first_chip;
  int last_chip;
  // Why it cannot compute a layer; null where it can.
  const char* (*refusal)(const Bconv2dArgs& args);
  LaunchSize (*size)(const Bconv2dArgs& args, const Chip& chip);
  // What it is expected to take on the chip, to choose among rows.
  double (*seconds)(const Bconv2dArgs& args, const Chip& chip);
  // Its parameter is Bconv2dTmaArgs, with the tensor maps of MapsOf.
  bool has_maps = false;
};

std::span<const Bconv2dRow> Bconv2dRows();

struct Bconv2dMaps {
  MatrixMap image;
  MatrixMap filter;
};
Bconv2dMaps MapsOf(const Bconv2dArgs& args);

struct Bconv2dChoice {
  const Bconv2dRow* row;  // null: see error
  std::string error;
};

inline constexpr std::string_view kAutoRow = "auto";

// The fastest by `seconds`, or the row of that name. A pure function.
Bconv2dChoice SelectBconv2d(const Bconv2dArgs& args, const Chip& chip, std::string_view name);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ROWS_H_
