// Computes binary convolutions as HEP-BNN's configurations do, for comparison: one thread a value,
// no shared memory, no tiles.
#ifndef LARQ_ENGINE_BENCHMARKS_PLACING_HEP_KERNEL_H_
#define LARQ_ENGINE_BENCHMARKS_PLACING_HEP_KERNEL_H_

#include "benchmarks/placing/hep_mapping.h"
#include "larq_engine/kernels/cuda/bconv2d_popc.h"

namespace larq_engine::cuda {

template <HepMapping kMapping>
LE_DEVICE void Bconv2dHep(const Bconv2dArgs& a) {
  const HepPart part =
      FindHepPart(kMapping, a, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
  const int at_once = HepChannelsAtOnce(a);
  const int sets = HepChannelSets(a);
  for (int image = part.first_image; image < part.first_image + part.images; ++image) {
    const int64_t pixel =
        (static_cast<int64_t>(image) * a.out_height + part.row) * a.out_width + part.column;
    for (int set = part.first_set; set < part.first_set + part.sets; ++set) {
      uint32_t bits = 0;
      for (int i = 0; i < at_once && set * at_once + i < a.out_channels; ++i) {
        const int channel = set * at_once + i;
        const int32_t excess[1] = {
            ExcessOfBitsThatDiffer(a, image, part.row, part.column, channel)};
        uint32_t bit[1];
        FinishRows(a, pixel, 1, channel, excess, bit);
        bits |= (bit[0] & 1u) << i;
      }
      if (OutputBits(a) != nullptr) OutputBits(a)[pixel * sets + set] = bits;
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_BENCHMARKS_PLACING_HEP_KERNEL_H_
