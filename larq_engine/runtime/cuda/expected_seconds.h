// The times that a GPU and copies to and from it are expected to take; `device="auto"` chooses
// devices by them. The times of binary convolutions are in kernels/cuda/bconv2d_rows.cc.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// Names the times that are guesses because no device has measured them; users are shown this text.
// On chips other than cuda::kMeasuredChip all times are guesses.
inline constexpr char kGuessedSeconds[] =
    "copies by several threads, operators that share a launch, dense layers whose weights are bits";

// Returns the time of a copy between the host and the GPU, with `threads` threads that copy on the
// host's side. The copy is assumed to go through staging, because a plan is made before it is known
// where the inputs will be.
double CopySeconds(size_t bytes, int threads);

// Returns the time of each of `ops` for the program's current shapes, as if the GPU computed all of
// them. `fuse` allows one launch for several operators; `kernel` is that of binary convolutions.
std::vector<double> OpSeconds(const Program& program, std::span<const size_t> ops,
                              const cuda::Chip& chip, bool fuse, const std::string& kernel);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_
