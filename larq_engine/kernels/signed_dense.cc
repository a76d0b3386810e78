#include "larq_engine/kernels/signed_dense.h"

#include <algorithm>
#include <cstring>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/memory_size.h"
#include "larq_engine/kernels/round_to_int8.h"

namespace larq_engine {
namespace {

// Blocks at a time, so that their weights are in the cache for all rows.
constexpr size_t kChunk = 8;
constexpr size_t kChunkSums = kChunk * kSignedLanes;

// The sums, and a row of inputs that is filled up to whole words.
static_assert(kChunkSums * sizeof(int32_t) % kBufferAlignment == 0);
static_assert(sizeof(int32_t) == sizeof(float));

inline float Clamp(float value, FloatRange range) {
  value = value < range.min ? range.min : value;
  return value > range.max ? range.max : value;
}

void Transform(const FloatDenseOutput& output, const float* sums, size_t first, size_t count,
               float* __restrict out) {
  const float* scale = output.scale.data() + first;
  const float* bias = output.bias.data() + first;
  const FloatRange range = output.range;
  for (size_t i = 0; i < count; ++i) out[i] = Clamp(sums[i] * scale[i] + bias[i], range);
}

void Transform(const Int8DenseOutput& output, const int32_t* sums, size_t first, size_t count,
               int8_t* __restrict out) {
  const int32_t* weight = output.weight.data() + first;
  const int32_t* bias = output.bias.data() + first;
  const float* multiplier = output.multiplier.data() + first;
  const FloatRange range = output.range;
  const int32_t zero_point = output.zero_point;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t sum = static_cast<uint32_t>(sums[i]) * static_cast<uint32_t>(weight[i]) +
                         static_cast<uint32_t>(bias[i]);
    const float value = static_cast<float>(static_cast<int32_t>(sum)) * multiplier[i];
    out[i] = RoundToInt8(value, range, zero_point);
  }
}

void Sum(const SignedSums& sums, const Int8SumsArgs& args) { sums.of_int8(args); }
void Sum(const SignedSums& sums, const FloatSumsArgs& args) { sums.of_float(args); }

template <typename Total, typename Output, typename Value>
void Run(const SignedSums& sums, const SignedWeights& weights, const Output& output,
         const Value* in, const SignedDenseRange& range, std::byte* scratch, Value* out) {
  const size_t depth = weights.depth(), filled = weights.words() * kWordBits;
  auto* of_chunk = reinterpret_cast<Total*>(scratch);
  auto* filled_up = reinterpret_cast<Value*>(scratch + kChunkSums * sizeof(Total));
  if (depth < filled) std::fill(filled_up + depth, filled_up + filled, Value{0});
  for (size_t block = range.first_block; block < range.last_block; block += kChunk) {
    const size_t blocks = std::min(kChunk, range.last_block - block);
    const size_t unit = block * kSignedLanes;
    const size_t units = std::min(blocks * kSignedLanes, weights.units() - unit);
    for (size_t row = range.first_row; row < range.last_row; ++row) {
      const Value* inputs = in + row * depth;
      if (depth < filled) {
        std::memcpy(filled_up, inputs, depth * sizeof(Value));
        inputs = filled_up;
      }
      Sum(sums, {.blocks = blocks,
                 .words = weights.words(),
                 .signs = weights.Block(block),
                 .inputs = inputs,
                 .sums = of_chunk});
      Transform(output, of_chunk, unit, units,
                out + (row - range.first_row) * weights.units() + unit);
    }
  }
}

}  // namespace

SignedWeights::SignedWeights(const uint32_t* bits, size_t units, size_t depth, SignBit sign_bit)
    : units_(units),
      depth_(depth),
      words_(WordsFor(depth)),
      blocks_((units + kSignedLanes - 1) / kSignedLanes),
      packed_(MemoryProduct(MemoryProduct(blocks_, words_), kSignedLanes)) {
  uint32_t places[kWordBits];
  for (size_t i = 0; i < kWordBits; ++i) places[i] = kBit[sign_bit(i)];
  std::fill_n(packed_.data(), packed_.size(), 0);
  for (size_t unit = 0; unit < units; ++unit) {
    uint32_t* to =
        packed_.data() + unit / kSignedLanes * words_ * kSignedLanes + unit % kSignedLanes;
    for (size_t w = 0; w < words_; ++w) {
      const size_t first = w * kWordBits;
      const uint32_t word =
          BitsFrom(bits, unit * depth + first, std::min(kWordBits, depth - first));
      uint32_t placed = 0;
      for (size_t i = 0; i < kWordBits; ++i) placed |= (word & kBit[i]) == 0 ? 0 : places[i];
      to[w * kSignedLanes] = placed;
    }
  }
}

size_t SignedDenseScratch(const SignedWeights& weights, size_t input_bytes) {
  return MemorySum(kChunkSums * sizeof(int32_t),
                   MemoryProduct(weights.words() * kWordBits, input_bytes));
}

void RunSignedDense(const SignedSums& sums, const SignedWeights& weights,
                    const FloatDenseOutput& output, const float* in, const SignedDenseRange& range,
                    std::byte* scratch, float* out) {
  Run<float>(sums, weights, output, in, range, scratch, out);
}

void RunSignedDense(const SignedSums& sums, const SignedWeights& weights,
                    const Int8DenseOutput& output, const int8_t* in, const SignedDenseRange& range,
                    std::byte* scratch, int8_t* out) {
  Run<int32_t>(sums, weights, output, in, range, scratch, out);
}

}  // namespace larq_engine
