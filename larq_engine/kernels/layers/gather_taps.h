// Chooses the form that a pixel's taps, and likewise the filters, have in the product. If a tap is
// whole steps of the kernel, runs are taps where they lie in the image. Otherwise the words of taps
// are copied to one run. If few channels leave most of a tap's word empty, the bits of taps are put
// together.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_GATHER_TAPS_H_
#define LARQ_ENGINE_KERNELS_LAYERS_GATHER_TAPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/scratch_parts.h"

namespace larq_engine {

// Returns the product that one group asks for, as SelectBgemm needs it.
BgemmShape ProductShape(const Bconv2dSpec& spec);

class TapGatherer {
 public:
  TapGatherer(const Bconv2dSpec& spec, const BgemmRow& row);

  bool in_place() const { return in_place_; }
  bool packs_bits() const { return packs_bits_; }
  size_t filter_words() const { return filter_words_; }  // words of one filter in the product

  // Returns filters with the bits of their taps put together; requires packs_bits().
  std::vector<uint32_t> PackFilters(const uint32_t* filters, size_t count) const;

  // The memory that one worker needs.
  struct Scratch {
    uint64_t* bits;      // [mr]: the word that is being filled, and the bits that do not fit it
    uint32_t* gathered;  // [mr][k_words]
  };
  Scratch TakeScratch(ScratchParts& parts) const;

  // Gathers the runs of a tile, so that each pixel has one run. Must not be called if in_place().
  void Gather(const Scratch& scratch, BgemmArgs& tile) const;

 private:
  void GatherWords(const BgemmArgs& tile, uint32_t* gathered) const;
  void GatherBits(const BgemmArgs& tile, const Scratch& scratch) const;
  void AppendLine(const uint32_t* base, const ptrdiff_t* runs, size_t m, size_t shift,
                  uint64_t* bits) const;

  size_t mr_;
  size_t channels_;   // channels of a group
  size_t tap_words_;  // words of a tap in the file
  size_t taps_;       // taps of a filter
  size_t filter_width_;
  size_t fresh_taps_;  // taps of a filter line that the pixel before does not have
  bool packs_bits_;
  bool in_place_;
  bool rolls_lines_;  // see RollsLines
  size_t filter_words_;
  size_t k_words_;                        // filter_words_, filled up to the kernel's steps
  std::vector<ptrdiff_t> gathered_runs_;  // [mr]
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_GATHER_TAPS_H_
