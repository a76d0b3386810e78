// The times that a GPU and the copies to it are expected to take. `device="auto"` chooses devices
// by them. kernels/cuda/bconv2d_rows.cc has the times of binary convolutions, which are used here
// too.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_
#define LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// Users are told that these times are guesses: no device has measured them. On other chips than
// cuda::kMeasuredChip all times are guesses.
inline constexpr char kGuessedSeconds[] =
    "copies by several threads, operators that share a launch, dense layers whose weights are bits";

// Returns the time of a copy between the host and the GPU. `threads` make its side in the host's
// memory. The copy goes through pinned memory, because a plan is made before anyone says where the
// inputs will be.
double CopySeconds(size_t bytes, int threads);

// Returns the time of each of `ops` for the program's current shapes, as if the GPU computed all of
// them. `fuse` allows one launch for several operators.
std::vector<double> OpSeconds(const Program& program, std::span<const size_t> ops,
                              const cuda::Chip& chip, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_EXPECTED_SECONDS_H_
