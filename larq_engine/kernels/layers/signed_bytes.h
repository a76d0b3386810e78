// Computes a dense layer of signed_dense.h on many rows of int8 inputs as products of bytes.
// Weights are read once for many rows, but take eight times as many bytes.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_SIGNED_BYTES_H_
#define LARQ_ENGINE_KERNELS_LAYERS_SIGNED_BYTES_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/kernels/common/shared_buffer.h"
#include "larq_engine/kernels/common/unpack_weights.h"
#include "larq_engine/kernels/layers/signed_dense.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// Tells whether this row of products computes `input_rows` rows faster as bytes than row by row.
bool PrefersSignedBytes(const ByteRow& row, int64_t input_rows, int64_t weights);

class SignedBytes {
 public:
  // `weights` is [units][depth], with one scale for all units or one for each, which equal
  // output.weight. The object keeps no pointer to them. The row must take seven planes of weights.
  SignedBytes(const PackedWeights& weights, const Int8DenseOutput& output, const ByteRow& row,
              const PixelOps& ops);

  const char* kernel() const { return row_.name; }
  // Returns how many rows one Run computes best.
  size_t rows() const { return rows_; }
  size_t scratch_bytes() const;  // bytes for each concurrent Run, aligned to kBufferAlignment

  // Computes the same as RunSignedDense. The first block must be a multiple of kRhsPartColumns /
  // kSignedLanes.
  void Run(const int8_t* in, const SignedDenseRange& range, std::byte* scratch, int8_t* out) const;

 private:
  struct Scratch;
  Scratch TakeScratch(ScratchParts& parts) const;

  const Int8DenseOutput& output_;
  ByteRow row_;
  const PixelOps& ops_;
  uint8_t flip_;
  size_t units_;
  size_t depth_;
  size_t filled_;     // the depth as the row reads it
  size_t row_bytes_;  // bytes from a row of inputs to the next
  size_t rows_;
  size_t columns_;  // computed at once
  SharedBuffer<int8_t> packed_;
  AlignedBuffer<int32_t> start_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_SIGNED_BYTES_H_
