// Describes how HEP-BNN's seven configurations spread a binary convolution over blocks and threads:
// X gives each image blocks of its own, Y each column of the output, Z each output channel. A
// block's threads are the remaining pixels, rows first; a thread loops over the dimensions that no
// letter names. The file has only plain data and arithmetic, for the host and for devices.
#ifndef LARQ_ENGINE_BENCHMARKS_PLACING_HEP_MAPPING_H_
#define LARQ_ENGINE_BENCHMARKS_PLACING_HEP_MAPPING_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/bconv2d_args.h"

#ifdef __CUDACC__
#define LE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define LE_HOST_DEVICE inline
#endif

namespace larq_engine::cuda {

struct HepMapping {
  bool x;
  bool y;
  bool z;
};

inline constexpr HepMapping kHepX{true, false, false};
inline constexpr HepMapping kHepY{false, true, false};
inline constexpr HepMapping kHepZ{false, false, true};
inline constexpr HepMapping kHepXy{true, true, false};
inline constexpr HepMapping kHepXz{true, false, true};
inline constexpr HepMapping kHepYz{false, true, true};
inline constexpr HepMapping kHepXyz{true, true, true};

// Returns the number of channels that a thread computes together: those of a word if bits are made,
// as two threads cannot write into one word.
LE_HOST_DEVICE int HepChannelsAtOnce(const Bconv2dArgs& a) {
  const bool makes_bits = a.output.kind == Bconv2dOutput::kBits || a.output.after.bits != nullptr;
  return makes_bits ? 32 : 1;
}

LE_HOST_DEVICE int HepChannelSets(const Bconv2dArgs& a) {
  const int at_once = HepChannelsAtOnce(a);
  return (a.out_channels + at_once - 1) / at_once;
}

// Tells whether a layer is dense. Its mapping differs: the threads of a block are its outputs, in a
// square, and the letters tell only if each image has a block.
LE_HOST_DEVICE bool IsHepDense(const Bconv2dArgs& a) {
  return a.in_height == 1 && a.in_width == 1 && a.filter_height == 1 && a.filter_width == 1 &&
         a.out_height == 1 && a.out_width == 1;
}

LE_HOST_DEVICE int64_t HepThreads(const HepMapping& mapping, const Bconv2dArgs& a) {
  if (!IsHepDense(a)) return static_cast<int64_t>(a.out_height) * (mapping.y ? 1 : a.out_width);
  int64_t side = 1;
  while (side * side < HepChannelSets(a)) ++side;
  return side * side;
}

LE_HOST_DEVICE int64_t HepBlocks(const HepMapping& mapping, const Bconv2dArgs& a) {
  const int64_t images = mapping.x ? a.batch : 1;
  if (IsHepDense(a)) return images;
  return images * (mapping.y ? a.out_width : 1) * (mapping.z ? HepChannelSets(a) : 1);
}

// The part of a thread: some images and sets of channels of one output pixel.
struct HepPart {
  int row;
  int column;
  int first_image;
  int images;
  int first_set;
  int sets;
};

LE_HOST_DEVICE HepPart FindHepPart(const HepMapping& mapping, const Bconv2dArgs& a, int block,
                                   int thread) {
  HepPart part{0, 0, 0, a.batch, 0, HepChannelSets(a)};
  if (mapping.x) {
    part.first_image = block % a.batch;
    part.images = 1;
    block /= a.batch;
  }
  if (IsHepDense(a)) {
    part.first_set = thread;
    part.sets = thread < part.sets ? 1 : 0;
    return part;
  }
  part.row = thread % a.out_height;
  part.column = thread / a.out_height;
  if (mapping.y) {
    part.column = block % a.out_width;
    block /= a.out_width;
  }
  if (mapping.z) {
    part.first_set = block;
    part.sets = 1;
  }
  return part;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_BENCHMARKS_PLACING_HEP_MAPPING_H_
