// The table of kernels of binary convolutions, one row for each, and the choice among them.
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

// The compute capability of the chip on which the times were measured that kernels and devices are
// chosen by. On other chips these times are guesses.
inline constexpr int kMeasuredChip = 90;

struct Bconv2dRow {
  KernelId kernel;
  // The first chip that can run the kernel, and the last one that has its instructions in hardware.
  int first_chip;
  int last_chip;
  // Returns the reason why the kernel cannot compute a layer, or null if it can.
  const char* (*refusal)(const Bconv2dArgs& args);
  LaunchSize (*size)(const Bconv2dArgs& args, const Chip& chip);
  // Returns the time that the layer is expected to take on the chip, to choose among rows.
  double (*seconds)(const Bconv2dArgs& args, const Chip& chip);
  // Tells whether the kernel's parameter is a Bconv2dTmaArgs, with the tensor maps of MapsOf.
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

// Returns the row with the least `seconds`, or the row called `name`. A pure function.
Bconv2dChoice SelectBconv2d(const Bconv2dArgs& args, const Chip& chip, std::string_view name);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ROWS_H_
