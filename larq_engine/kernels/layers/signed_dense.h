// A dense layer whose weights are +-1 times a number for each output, on int8 or float inputs. It
// computes the sums of signed_sums.h, and then the outputs.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_SIGNED_DENSE_H_
#define LARQ_ENGINE_KERNELS_LAYERS_SIGNED_DENSE_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/shared_buffer.h"
#include "larq_engine/kernels/common/signed_dense_output.h"
#include "larq_engine/kernels/signed_sums/table.h"

namespace larq_engine {

// The signs of weights [units][depth], stored bit after bit without gaps, packed in the order that
// rows read.
class SignedWeights {
 public:
  using SignBit = size_t (*)(size_t lane, size_t input);

  SignedWeights(const uint32_t* bits, size_t units, size_t depth, SignBit sign_bit);

  size_t units() const { return units_; }
  size_t depth() const { return depth_; }
  size_t words() const { return words_; }
  size_t blocks() const { return blocks_; }
  const uint32_t* Block(size_t block) const {
    return packed_.data() + block * words_ * kSignedLanes;
  }

 private:
  size_t units_;
  size_t depth_;
  size_t words_;
  size_t blocks_;
  SharedBuffer<uint32_t> packed_;
};

// Computes the outputs of blocks [first_block, last_block) for input rows [first_row, last_row).
// `in` is the start of all inputs, `out` is the start of the first row's outputs. `scratch` has
// SignedDenseScratch bytes, and the alignment of a buffer.
size_t SignedDenseScratch(const SignedWeights& weights, size_t input_bytes);

struct SignedDenseRange {
  size_t first_row;
  size_t last_row;
  size_t first_block;
  size_t last_block;
};

void RunSignedDense(const SignedSums& sums, const SignedWeights& weights,
                    const FloatDenseOutput& output, const float* in, const SignedDenseRange& range,
                    std::byte* scratch, float* out);
void RunSignedDense(const SignedSums& sums, const SignedWeights& weights,
                    const Int8DenseOutput& output, const int8_t* in, const SignedDenseRange& range,
                    std::byte* scratch, int8_t* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_SIGNED_DENSE_H_
