// From fragments of a product, as tensor cores leave them in registers, to a convolution's output.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"

namespace larq_engine::cuda {

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

// body(Constant<i>), by few branches: registers are chosen by constants alone.
template <int kFirst, int kEnd, class Body>
LE_DEVICE void CallWithConstant(int i, const Body& body) {
  if constexpr (kEnd - kFirst == 1) {
    body(Constant<kFirst>{});
  } else {
    constexpr int kMiddle = (kFirst + kEnd) / 2;
    if (i < kMiddle) {
      CallWithConstant<kFirst, kMiddle>(i, body);
    } else {
      CallWithConstant<kMiddle, kEnd>(i, body);
    }
  }
}

// Where the lanes of a warp exchange values, so that a lane has a channel and a warp writes a whole
// row of 32. 8-byte writes of 4 rows at once go to different banks.
struct Corner {
  int32_t values[16][40];
};

// Neighbours, loaded or stored at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T v[2];
};

// What a lane has of two fragments, of 16 rows and 16 columns, as tensor cores leave them: of rows
// g and g + 8 the columns 2t, 2t + 1, 2t + 8 and 2t + 9, which are channels here. More at once
// would need more registers than blocks that share a multiprocessor have.
inline constexpr int kOwnRows = 2;
inline constexpr int kOwnChannels = 4;
inline constexpr int kOwnSums = kOwnRows * kOwnChannels;

LE_DEVICE constexpr int OwnColumn(int i) { return 8 * (i / 2) + i % 2; }  // from 2t on

template <class T>
LE_DEVICE void LoadOwn(const T* from, T (&to)[kOwnChannels]) {
  LE_UNROLL
  for (int i = 0; i < kOwnChannels; i += 2) {
    const auto pair = *reinterpret_cast<const Pair<T>*>(from + OwnColumn(i));
    to[i] = pair.v[0];
    to[i + 1] = pair.v[1];
  }
}

// Values that take the steps together: see PixelColumn.
struct PixelFragments {
  float (&y)[kOwnRows][kOwnChannels];
  bool (&inside)[kOwnRows];
  int64_t at;  // the first value's place in a tensor of `channels`
  int channels;
  int channel;

  LE_DEVICE int64_t Row(int h) const { return at + static_cast<int64_t>(8 * h) * channels; }

  template <class Compute>
  LE_DEVICE void ForEach(const Compute& compute) const {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], Row(h) + OwnColumn(i));
    }
  }
  template <class Compute>
  LE_DEVICE void WithChannels(const float* values, const Compute& compute) const {
    float own[kOwnChannels];
    LoadOwn(values + channel, own);
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], own[i]);
    }
  }
  template <class Compute>
  LE_DEVICE void WithTensor(const float* values, const Compute& compute) const {
    float own[kOwnRows][kOwnChannels] = {};
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      if (inside[h]) LoadOwn(values + Row(h), own[h]);
    }
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], own[h][i]);
    }
  }
  LE_DEVICE void Store(float* out) const {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      if (!inside[h]) continue;
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; i += 2) {
        *reinterpret_cast<Pair<float>*>(out + Row(h) + OwnColumn(i)) = {{y[h][i], y[h][i + 1]}};
      }
    }
  }
};

// Whether layers are finished by FinishOwnFloats, or by FinishOwnBits.
LE_DEVICE bool HasOwnFloats(const Bconv2dArgs& a) {
  return a.group_out_channels % kWarp == 0 && a.output.kind == Bconv2dOutput::kFloat &&
         a.output.after.planes == 1;
}
template <bool kMayBeOutside>
LE_DEVICE bool HasOwnBits(const Bconv2dArgs& a) {
  // Four times the depth has 32 bits.
  return a.group_out_channels % kWarp == 0 && a.output.kind == Bconv2dOutput::kBits &&
         (!kMayBeOutside || a.corner_ones == nullptr) && Depth(a) < 1 << 28;
}

// From two fragments of sums to float outputs and to the signs of these, of words of channels that
// are whole: each lane of what it has, without an exchange. `sums`: register e of fragment j is at
// 4 j + e. `pixel` and `channel` are the lane's first, `ones` those of its rows. `bits`
// become those of a row that the lane has, of columns 2t, ... from bit 0 on.
template <bool kMayBeOutside>
LE_DEVICE void FinishOwnFloats(const Bconv2dArgs& a, int pixel, int pixels, int channel,
                               const int32_t (&sums)[kOwnSums], const int32_t (&ones)[kOwnRows],
                               uint32_t (&bits)[kOwnRows]) {
  const Bconv2dOutput& output = a.output;
  bool inside[kOwnRows];
  int32_t dots[kOwnRows][kOwnChannels];
  int32_t filter_ones[kOwnChannels];
  LoadOwn(a.filter_ones + channel, filter_ones);
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    bits[h] = 0;
    inside[h] = pixel + 8 * h < pixels;
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      const int32_t acc = filter_ones[i] - 2 * sums[4 * (i / 2) + 2 * h + i % 2] + ones[h];
      dots[h][i] = Dot(Depth(a), acc);
    }
    if constexpr (kMayBeOutside) {
      const OutputPixel place = MakeOutputPixel(a, pixel + 8 * h);
      if (place.is_inner) continue;
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i)
        dots[h][i] -= Outside(a, place, channel + OwnColumn(i));
    }
  }
  float multiplier[kOwnChannels];
  float bias[kOwnChannels];
  LoadOwn(output.multiplier + channel, multiplier);
  LoadOwn(output.bias + channel, bias);
  float y[kOwnRows][kOwnChannels];
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      y[h][i] = ToFloat(output, dots[h][i], multiplier[i], bias[i]);
    }
  }
  const int64_t at = static_cast<int64_t>(pixel) * a.out_channels + channel;
  RunSteps(output.after, PixelFragments{y, inside, at, a.out_channels, channel});
  if (output.after.bits == nullptr) return;
  const bool has_limits = output.after.limits != nullptr;
  float limits[kOwnChannels] = {};
  uint32_t signs[kOwnChannels] = {};
  if (has_limits) {
    LoadOwn(output.after.limits + channel, limits);
    LoadOwn(output.after.signs + channel, signs);
  }
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    LE_UNROLL
    for (int i = 0; i < kOwnChannels; ++i) {
      const bool is_minus =
          has_limits ? IsSmaller(y[h][i], signs[i], limits[i]) : IsNegative(y[h][i]);
      if (is_minus) bits[h] |= 1u << OwnColumn(i);
    }
  }
}

// Writes what lanes found for a whole word of channels. All lanes of the warp call it.
LE_DEVICE void StoreOwnBits(const Bconv2dArgs& a, int pixel, int pixels, int word, int lane,
                            uint32_t (&bits)[kOwnRows]) {
  uint32_t* const out = OutputBits(a);
  if (out == nullptr) return;
  const int t = lane % 4;
  LE_UNROLL
  for (int h = 0; h < kOwnRows; ++h) {
    bits[h] <<= 2 * t;
    bits[h] |= __shfl_xor_sync(~0u, bits[h], 1);
    bits[h] |= __shfl_xor_sync(~0u, bits[h], 2);
  }
  // Lanes 0 and 1 of four write a row each.
  if (t >= kOwnRows || pixel + 8 * t >= pixels) return;
  const int64_t words = a.out_channels / kWarp;
  out[(pixel + 8 * t) * words + word] = t == 0 ? bits[0] : bits[1];
}

// From all of a warp's fragments of sums to bits by thresholds, if no tap is outside the image or
// those outside count +1: see FinishFragments. Each lane of what it has, and all of it unrolled,
// as it is little.
template <int kFragmentsM, int kFragmentsN, class Value, class Ones>
LE_DEVICE void FinishOwnBits(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                             const Value& value, const Ones& ones) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int own_row = row + lane / 4;
  const int pixels = a.batch * a.out_height * a.out_width;
  const int depth = Depth(a);
  int32_t twice_ones[kFragmentsM][kOwnRows];
  LE_UNROLL
  for (int i = 0; i < kFragmentsM; ++i) {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) twice_ones[i][h] = 2 * ones(own_row + 16 * i + 8 * h);
  }
  LE_UNROLL
  for (int j = 0; j < kFragmentsN; j += 4) {
    const int n = block.n0 + column + 8 * j;  // in the group
    if (n >= a.group_out_channels) break;     // the whole warp
    const int channel = block.first_channel + n + lane % 4 * 2;
    // dot < limit, solved for the sum of products: dot = depth - 2 (filter_ones - 2 sum + ones).
    int32_t limits[2][kOwnChannels];
    LE_UNROLL
    for (int half = 0; half < 2; ++half) {
      int32_t filter_ones[kOwnChannels];
      LoadOwn(a.output.dot_limit + channel + 16 * half, limits[half]);
      LoadOwn(a.filter_ones + channel + 16 * half, filter_ones);
      LE_UNROLL
      for (int c = 0; c < kOwnChannels; ++c) {
        int32_t limit = limits[half][c] > -depth ? limits[half][c] : -depth;
        limit = limit < depth + 1 ? limit : depth + 1;
        limits[half][c] = limit - depth + 2 * filter_ones[c];
      }
    }
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      uint32_t bits[kOwnRows] = {};
      LE_UNROLL
      for (int k = 0; k < 4; ++k) {
        LE_UNROLL
        for (int e = 0; e < 4; ++e) {
          const int32_t sum = 4 * value(i, j + k, e) - twice_ones[i][e / 2];
          const bool is_minus = sum < limits[k / 2][k % 2 * 2 + e % 2];
          if (is_minus) bits[e / 2] |= 1u << (8 * k + e % 2);
        }
      }
      StoreOwnBits(a, block.m0 + own_row + 16 * i, pixels, (block.first_channel + n) / kWarp, lane,
                   bits);
    }
  }
}

// Puts two fragments of sums, as above, where other lanes find them.
LE_DEVICE void PutIntoCorner(Corner& corner, int column, int lane,
                             const int32_t (&sums)[kOwnSums]) {
  LE_UNROLL
  for (int e = 0; e < kOwnSums; ++e) {
    const int row = lane / 4 + 8 * (e % 4 / 2);
    corner.values[row][column + 8 * (e / 4) + 2 * (lane % 4) + e % 2] = sums[e];
  }
}

// From a word of channels of 16 pixels' sums to the output, any output: a lane has a channel.
// `pixel` and `channel` are the first, `channels` how many are left; ones(row) are a pixel's.
template <bool kMayBeOutside, class Ones>
LE_DEVICE void FinishCorner(const Bconv2dArgs& a, int pixel, int pixels, int channel, int channels,
                            int lane, const Corner& corner, const Ones& ones) {
  const bool inside = lane < channels;
  const int filter_ones = inside ? a.filter_ones[channel + lane] : 0;
  constexpr int kRows = 4;  // at once: more need more registers
  LE_NO_UNROLL
  for (int r = 0; r < 16; r += kRows) {
    if (pixel + r >= pixels) break;
    int32_t acc[kRows];
    LE_UNROLL
    for (int k = 0; k < kRows; ++k) {
      acc[k] = filter_ones - 2 * corner.values[r + k][lane] + ones(r + k);
    }
    const int rows = pixels - pixel - r < kRows ? pixels - pixel - r : kRows;
    FinishWords<kMayBeOutside>(a, pixel + r, rows, channel / kWarp, lane, inside, acc);
  }
}

// A warp's fragments of 16 rows and 8 columns, the first at `row` and `column` of the block.
// value(i, j, e) is register e of a fragment, ones(row) the ones of a row of the block. Unless
// kMayBeOutside, all taps are inside the image.
template <int kFragmentsM, int kFragmentsN, bool kMayBeOutside = true, class Value, class Ones>
LE_DEVICE void FinishFragments(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                               Corner& corner, const Value& value, const Ones& ones) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int own_row = lane / 4;
  const int own_column = lane % 4 * 2;
  const int pixels = a.batch * a.out_height * a.out_width;
  if (HasOwnBits<kMayBeOutside>(a)) {
    FinishOwnBits<kFragmentsM, kFragmentsN>(a, block, row, column, value, ones);
    return;
  }
  const bool has_own_floats = HasOwnFloats(a);
  static_assert(kFragmentsN % 4 == 0);  // whole words of channels
  constexpr int kPairs = kFragmentsN / 2;
  uint32_t low_bits[kOwnRows] = {};
  // One copy of the code for all fragments, which unrolled is more than a cache of instructions.
  LE_NO_UNROLL
  for (int chunk = 0; chunk < kFragmentsM * kPairs; ++chunk) {
    int32_t sums[kOwnSums];
    CallWithConstant<0, kFragmentsM * kPairs>(chunk, [&](auto constant) {
      constexpr int kChunk = decltype(constant)::value;
      LE_UNROLL
      for (int e = 0; e < kOwnSums; ++e) {
        sums[e] = value(kChunk / kPairs, 2 * (kChunk % kPairs) + e / 4, e % 4);
      }
    });
    const int half = chunk % 2;                                    // of a word of channels
    const int n = block.n0 + column + chunk % kPairs / 2 * kWarp;  // in the group
    const int channel = block.first_channel + n;
    const int first_row = row + chunk / kPairs * 16;
    const int pixel = block.m0 + first_row;
    // The whole warp has a channel and a pixel, or none.
    if (n >= a.group_out_channels || pixel >= pixels) continue;
    if (has_own_floats) {
      const int32_t own_ones[kOwnRows] = {ones(first_row + own_row), ones(first_row + own_row + 8)};
      uint32_t bits[kOwnRows];
      FinishOwnFloats<kMayBeOutside>(a, pixel + own_row, pixels, channel + 16 * half + own_column,
                                     sums, own_ones, bits);
      LE_UNROLL
      for (int h = 0; h < kOwnRows; ++h) {
        bits[h] = half == 0 ? bits[h] : bits[h] << 16 | low_bits[h];
        low_bits[h] = bits[h];
      }
      if (half == 0) continue;
      StoreOwnBits(a, pixel + own_row, pixels, channel / kWarp, lane, bits);
    } else {
      if (half == 0) __syncwarp();  // all have read what was there before
      PutIntoCorner(corner, 16 * half, lane, sums);
      if (half == 0) continue;
      __syncwarp();
      FinishCorner<kMayBeOutside>(a, pixel, pixels, channel, a.group_out_channels - n, lane, corner,
                                  [&](int r) { return ones(first_row + r); });
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
