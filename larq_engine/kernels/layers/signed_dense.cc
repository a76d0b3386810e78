#include "larq_engine/kernels/layers/signed_dense.h"

#include <algorithm>
#include <cstring>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/kernels/common/round_to_int8.h"

namespace larq_engine {
namespace {

// Number of blocks computed before the transform, so that their sums are still in the cache.
constexpr size_t kChunk = 8;
constexpr size_t kChunkSums = kChunk * kSignedLanes;

// Scratch holds the sums, the tables, and a row of inputs that is filled up to whole words.
static_assert(kChunkSums * sizeof(int32_t) % kBufferAlignment == 0);
static_assert(alignof(Int8Tables) <= kBufferAlignment);
static_assert(sizeof(int32_t) == sizeof(float));

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

// Makes the row's tables in `scratch` (int8 only), and returns the arguments that all blocks share.
Int8SumsArgs ArgsOfRow(const SignedSums& sums, const int8_t* inputs, size_t words,
                       std::byte* scratch) {
  auto* tables = reinterpret_cast<Int8Tables*>(scratch);
  Int8SumsArgs args = {};
  args.words = words;
  args.tables = tables;
  args.base = sums.make_tables(inputs, words, tables);
  return args;
}

FloatSumsArgs ArgsOfRow(const SignedSums&, const float* inputs, size_t words, std::byte*) {
  FloatSumsArgs args = {};
  args.words = words;
  args.inputs = inputs;
  return args;
}

size_t TableBytes(size_t words, size_t input_bytes) {
  return input_bytes == sizeof(int8_t) ? MemoryProduct(words, sizeof(Int8Tables)) : 0;
}

template <typename Total, typename Output, typename Value>
void Run(const SignedSums& sums, const SignedWeights& weights, const Output& output,
         const Value* in, const SignedDenseRange& range, std::byte* scratch, Value* out) {
  const size_t depth = weights.depth(), filled = weights.words() * kWordBits;
  auto* of_chunk = reinterpret_cast<Total*>(scratch);
  std::byte* tables = scratch + kChunkSums * sizeof(Total);
  auto* filled_up = reinterpret_cast<Value*>(tables + TableBytes(weights.words(), sizeof(Value)));
  if (depth < filled) std::fill(filled_up + depth, filled_up + filled, Value{0});
  for (size_t row = range.first_row; row < range.last_row; ++row) {
    const Value* inputs = in + row * depth;
    if (depth < filled) {
      std::memcpy(filled_up, inputs, depth * sizeof(Value));
      inputs = filled_up;
    }
    auto args = ArgsOfRow(sums, inputs, weights.words(), tables);
    for (size_t block = range.first_block; block < range.last_block; block += kChunk) {
      const size_t unit = block * kSignedLanes;
      args.blocks = std::min(kChunk, range.last_block - block);
      args.signs = weights.Block(block);
      args.sums = of_chunk;
      Sum(sums, args);
      Transform(output, of_chunk, unit,
                std::min(args.blocks * kSignedLanes, weights.units() - unit),
                out + (row - range.first_row) * weights.units() + unit);
    }
  }
}

}  // namespace

SignedWeights::SignedWeights(const uint32_t* bits, size_t units, size_t depth, SignBit sign_bit)
    : units_(units),
      depth_(depth),
      words_(WordsFor(depth)),
      blocks_((units + kSignedLanes - 1) / kSignedLanes) {
  AlignedBuffer<uint32_t> packed(MemoryProduct(MemoryProduct(blocks_, words_), kSignedLanes));
  std::fill_n(packed.data(), packed.size(), 0);
  for (size_t unit = 0; unit < units; ++unit) {
    const size_t lane = unit % kSignedLanes;
    size_t places[kWordBits];
    for (size_t i = 0; i < kWordBits; ++i) places[i] = sign_bit(lane, i);
    uint32_t* to = packed.data() + unit / kSignedLanes * words_ * kSignedLanes;
    for (size_t w = 0; w < words_; ++w, to += kSignedLanes) {
      const size_t first = w * kWordBits;
      const uint32_t word =
          BitsFrom(bits, unit * depth + first, std::min(kWordBits, depth - first));
      for (size_t i = 0; i < kWordBits; ++i) {
        to[places[i] / kWordBits] |= (word >> i & 1) << places[i] % kWordBits;
      }
    }
  }
  packed_ = SharedBuffer(std::move(packed));
}

size_t SignedDenseScratch(const SignedWeights& weights, size_t input_bytes) {
  const size_t tables = TableBytes(weights.words(), input_bytes);
  return MemorySum(MemorySum(kChunkSums * sizeof(int32_t), tables),
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
