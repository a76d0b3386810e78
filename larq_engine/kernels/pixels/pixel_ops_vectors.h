// The loops of PixelOps over floats, written once for all ISAs that have vectors. Everything here
// is internal to the file that includes it, as in pixel_ops_loops.h.
//
// A Vec is a vector of an ISA, all of whose functions are static. It offers
//
//   Floats, Ints                 kLanes floats, or 32-bit integers
//   kBlock                       how many vectors are computed at a time
//   kClampsAreCheap              each end of a clamp takes one instruction
//   kHoldsChannels               values of channels stay in registers from row to row
//   kMasksLanes                  loads and stores can leave out lanes
//   Set, Load, LoadInts, Store, StoreInts, Add, Multiply, Divide, AddInts, ShiftUp, And
//   Greater(a, b), Lesser(a, b)  a > b ? a : b and a < b ? a : b
//   Prelu(x, slope)              x < 0 ? x * slope : x
//   InOneRegister(pointer)       the same pointer, for loads of neighbouring vectors
//   ForRest(n, body)             calls body(v, at) for n values that fill no vector: v is OneLane
//                                for each of them, or the first n lanes of a vector
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_VECTORS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_VECTORS_H_

#include <cstring>

#include "larq_engine/kernels/pixels/pixel_ops_loops.h"

namespace larq_engine {
namespace {

// A vector of one lane, which is no register of its own.
struct OneLane {
  using Floats = float;
  using Ints = int32_t;
  static constexpr size_t kLanes = 1;
  static float Set(float value) { return value; }
  static float Load(const float* from) { return *from; }
  static int32_t LoadInts(const void* from) {
    int32_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  static void Store(float* to, float x) { *to = x; }
  static void StoreInts(void* to, int32_t x) { std::memcpy(to, &x, sizeof(x)); }
  static float Add(float a, float b) { return a + b; }
  static float Multiply(float a, float b) { return a * b; }
  static float Divide(float a, float b) { return a / b; }
  static float Greater(float a, float b) { return a > b ? a : b; }
  static float Lesser(float a, float b) { return a < b ? a : b; }
  static float Prelu(float x, float slope) { return PreluOf(x, slope); }
  static int32_t AddInts(int32_t a, int32_t b) { return a + b; }
  static int32_t ShiftUp(int32_t x, int bits) { return x << bits; }
  static int32_t And(int32_t a, int32_t b) { return a & b; }
};

template <typename Body>
inline void ForSingleLanes(size_t count, const Body& body) {
  for (size_t i = 0; i < count; ++i) body(OneLane(), i);
}

// Returns the arguments for some channels of a transform; `out_bytes` is the offset of their output
// in a row.
inline TransformArgs ChannelsOf(const TransformArgs& args, size_t first, size_t count,
                                size_t out_bytes) {
  TransformArgs part = args;
  part.channels = count;
  part.acc += first;
  if (args.multiplier != nullptr) {
    part.multiplier += first;
    part.bias += first;
  }
  if (args.dot_limit != nullptr) part.dot_limit += first;
  if (args.sum.addend != nullptr) part.sum.addend += first;
  if (args.sum.gate != nullptr) {
    part.sum.gate += first;
    part.sum.slopes += first;
  }
  part.out = static_cast<unsigned char*>(args.out) + out_bytes;
  return part;
}

// Calls body<n>(v, at) for n vectors at a time; returns the first value that is left. gcc 12 turns
// loops over values into loops of one vector, which take twice as long in L1.
template <typename Vec, typename Body>
inline size_t ForWholeVectors(size_t count, const Body& body) {
  constexpr size_t kValues = Vec::kBlock * Vec::kLanes;
  size_t at = 0;
  for (; at + kValues <= count; at += kValues) body.template operator()<Vec::kBlock>(Vec(), at);
  for (; at + Vec::kLanes <= count; at += Vec::kLanes) body.template operator()<1>(Vec(), at);
  return at;
}

// Does the same for all values.
template <typename Vec, typename Body>
inline void ForVectors(size_t count, const Body& body) {
  const size_t done = ForWholeVectors<Vec>(count, body);
  Vec::ForRest(count - done, [&](auto v, size_t at) { body.template operator()<1>(v, done + at); });
}

// Stores value(v, at). All vectors of a block are computed before any is stored, so that neighbours
// can be loaded and stored in pairs.
template <typename Vec, typename Value>
inline void StoreValues(size_t count, const Value& value, float* out) {
  ForVectors<Vec>(count, [&]<size_t kCount>(auto v, size_t at) {
    typename decltype(v)::Floats y[kCount];
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) y[k] = value(v, at + k * v.kLanes);
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) v.Store(out + at + k * v.kLanes, y[k]);
  });
}

// Does the same as Clamp of float_range.h, for an end or both.
template <bool kMin, bool kMax>
struct ClampTo {
  FloatRange range;
  template <typename V, typename Floats>
  Floats operator()(V v, Floats x) const {
    if (kMin) x = v.Greater(v.Set(range.min), x);
    if (kMax) x = v.Lesser(v.Set(range.max), x);
    return x;
  }
};

// Calls run(clamp). Most sums of a residual network have no range, or that of a ReLU.
template <typename Vec, typename Run>
[[gnu::always_inline]] inline void WithClamp(FloatRange range, const Run& run) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (Vec::kClampsAreCheap || range.max != kInfinity) return run(ClampTo<true, true>{range});
  if (range.min != -kInfinity) return run(ClampTo<true, false>{range});
  run(ClampTo<false, false>{range});
}

template <typename Vec>
void AddVectors(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  WithClamp<Vec>(range, [&](auto clamp) {
    const auto sum = [&](auto v, size_t at) {
      return clamp(v, v.Add(v.Load(a + at), v.Load(b + at)));
    };
    StoreValues<Vec>(count, sum, out);
  });
}

template <typename Vec>
void MultiplyVectors(const float* a, const float* b, size_t count, FloatRange range, float* out) {
  WithClamp<Vec>(range, [&](auto clamp) {
    const auto product = [&](auto v, size_t at) {
      return clamp(v, v.Multiply(v.Load(a + at), v.Load(b + at)));
    };
    StoreValues<Vec>(count, product, out);
  });
}

template <typename Vec>
void ClampVectors(const float* in, size_t count, FloatRange range, float* out) {
  WithClamp<Vec>(range, [&](auto clamp) {
    StoreValues<Vec>(
        count, [&](auto v, size_t at) { return clamp(v, v.Load(in + at)); }, out);
  });
}

// out = op(v, a, b) with one value of b a channel.
template <typename Vec, typename Op>
inline void ForChannels(const float* a, const float* b, size_t rows, size_t channels, float* out,
                        const Op& op) {
  if (rows == 0) return;  // b may be null then
  const auto all_rows = [&]<size_t kCount>(auto v, size_t c) {
    typename decltype(v)::Floats of_channels[kCount];
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) of_channels[k] = v.Load(b + c + k * v.kLanes);
    const float* x = a + c;
    float* y = out + c;
    for (size_t i = 0; i < rows; ++i, x += channels, y += channels) {
#pragma GCC unroll 8
      for (size_t k = 0; k < kCount; ++k) {
        v.Store(y + k * v.kLanes, op(v, v.Load(x + k * v.kLanes), of_channels[k]));
      }
    }
  };
  if (Vec::kMasksLanes) return ForVectors<Vec>(channels, all_rows);
  const size_t done = Vec::kHoldsChannels ? ForWholeVectors<Vec>(channels, all_rows) : 0;
  if (done == channels) return;
  for (size_t i = 0; i < rows; ++i, a += channels, out += channels) {
    const float *x = a + done, *y = b + done;
    const auto value = [x, y, &op](auto v, size_t c) {
      return op(v, v.Load(x + c), v.Load(y + c));
    };
    StoreValues<Vec>(channels - done, value, out + done);
  }
}

template <typename Vec>
void AddChannelVectors(const float* a, const float* b, size_t rows, size_t channels,
                       FloatRange range, float* out) {
  WithClamp<Vec>(range, [&](auto clamp) {
    ForChannels<Vec>(a, b, rows, channels, out,
                     [&](auto v, auto x, auto y) { return clamp(v, v.Add(x, y)); });
  });
}

template <typename Vec>
void MultiplyChannelVectors(const float* a, const float* b, size_t rows, size_t channels,
                            FloatRange range, float* out) {
  WithClamp<Vec>(range, [&](auto clamp) {
    ForChannels<Vec>(a, b, rows, channels, out,
                     [&](auto v, auto x, auto y) { return clamp(v, v.Multiply(x, y)); });
  });
}

template <typename Vec>
void PreluVectors(const float* in, const float* slopes, size_t rows, size_t channels, float* out) {
  ForChannels<Vec>(in, slopes, rows, channels, out,
                   [](auto v, auto x, auto slope) { return v.Prelu(x, slope); });
}

// Reduces all taps of some values, which stay in registers from the first tap to the last.
// load(v, from, at) loads values from a tap at value `at`, begin(v, x) reduces the first tap alone,
// reduce(v, so_far, x) reduces one more, and store(v, to, reduced) stores what all taps give.
template <typename Vec, typename T, typename Load, typename Begin, typename Reduce, typename Store>
inline void ReduceTaps(const T* const* taps, size_t tap_count, size_t count, const Load& load,
                       const Begin& begin, const Reduce& reduce, const Store& store, T* out) {
  ForVectors<Vec>(count, [&]<size_t kCount>(auto v, size_t at) {
    using Values = decltype(load(v, taps[0], at));
    Values reduced[kCount];
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) {
      reduced[k] = begin(v, load(v, taps[0] + at + k * v.kLanes, at + k * v.kLanes));
    }
    for (size_t tap = 1; tap < tap_count; ++tap) {
      const T* from = taps[tap] + at;
      if (kCount > 1) from = Vec::InOneRegister(from);
      Values x[kCount];
#pragma GCC unroll 8
      for (size_t k = 0; k < kCount; ++k) {
        x[k] = load(v, from + k * v.kLanes, at + k * v.kLanes);
      }
#pragma GCC unroll 8
      for (size_t k = 0; k < kCount; ++k) reduced[k] = reduce(v, reduced[k], x[k]);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) store(v, out + at + k * v.kLanes, reduced[k]);
  });
}

template <typename Vec>
void MaxBitVectors(const uint32_t* const* taps, size_t tap_count, size_t words, uint32_t* out) {
  ReduceTaps<Vec>(
      taps, tap_count, words, [](auto v, const uint32_t* from, size_t) { return v.LoadInts(from); },
      [](auto, auto first) { return first; },
      [](auto v, auto most, auto x) { return v.And(most, x); },  // 1 is -1
      [](auto v, uint32_t* to, auto most) { v.StoreInts(to, most); }, out);
}

template <typename Vec, typename Load>
inline void MaxOfTaps(const float* const* taps, size_t tap_count, size_t count, const Load& load,
                      float* out) {
  ReduceTaps<Vec>(
      taps, tap_count, count, load, [](auto, auto first) { return first; },
      [](auto v, auto most, auto x) { return v.Greater(x, most); },
      [](auto v, float* to, auto most) { v.Store(to, most); }, out);
}

template <typename Vec>
void MaxFloatVectors(const float* const* taps, size_t tap_count, size_t count, float* out) {
  MaxOfTaps<Vec>(
      taps, tap_count, count, [](auto v, const float* from, size_t) { return v.Load(from); }, out);
}

template <typename Vec>
void MaxProductVectors(const float* const* taps, size_t tap_count, const float* factors,
                       size_t count, float* out) {
  const auto product = [factors](auto v, const float* from, size_t at) {
    return v.Multiply(v.Load(from), v.Load(factors + at));
  };
  MaxOfTaps<Vec>(taps, tap_count, count, product, out);
}

template <typename Vec>
void AverageVectors(const float* const* taps, size_t tap_count, size_t count, float divisor,
                    float* out) {
  const auto average = [divisor](auto v, auto sum) {
    return divisor == 1.0f ? sum : v.Divide(sum, v.Set(divisor));
  };
  ReduceTaps<Vec>(
      taps, tap_count, count, [](auto v, const float* from, size_t) { return v.Load(from); },
      [](auto v, auto first) { return v.Add(v.Set(0.0f), first); },  // the sum of -0.0 is 0.0
      [](auto v, auto sum, auto x) { return v.Add(sum, x); },
      [&](auto v, float* to, auto sum) { v.Store(to, average(v, sum)); }, out);
}

template <typename Vec>
void AddShiftedVectors(const int32_t* in, size_t count, int shift, int32_t* acc) {
  ForVectors<Vec>(count, [&]<size_t kCount>(auto v, size_t at) {
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k, at += v.kLanes) {
      const auto shifted = v.ShiftUp(v.LoadInts(in + at), shift);
      v.StoreInts(acc + at, v.AddInts(v.LoadInts(acc + at), shifted));
    }
  });
}

// Computes a row of a dense layer; the sums of a block hide each other's latency.
template <typename Vec>
void DenseVectors(const float* in, const float* weights, size_t depth, size_t units, float* out) {
  ForVectors<Vec>(units, [&]<size_t kCount>(auto v, size_t unit) {
    typename decltype(v)::Floats sums[kCount];
#pragma GCC unroll 8
    for (auto& sum : sums) sum = v.Set(0.0f);
    const float* row = weights + unit;
#pragma GCC unroll 2
    for (size_t d = 0; d < depth; ++d, row += units) {
      const auto x = v.Set(in[d]);
#pragma GCC unroll 8
      for (size_t k = 0; k < kCount; ++k) {
        sums[k] = v.Add(sums[k], v.Multiply(x, v.Load(row + k * v.kLanes)));
      }
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < kCount; ++k) v.Store(out + unit + k * v.kLanes, sums[k]);
  });
}

// Returns what GreatestOf returns. gcc 12 makes single values of its lanes: half of a softmax's
// time.
template <typename Vec>
float GreatestOfVectors(const float* in, size_t count, float sign) {
  constexpr size_t kLanes = Vec::kLanes;
  if (count < kLanes) return GreatestOf(in, count, sign);
  const auto signed_values = [&](size_t at) {
    return Vec::Multiply(Vec::Set(sign), Vec::Load(in + at));
  };
  auto most = Vec::Set(-std::numeric_limits<float>::infinity());
  for (size_t at = 0; at + kLanes <= count; at += kLanes) {
    most = Vec::Greater(signed_values(at), most);
  }
  most = Vec::Greater(signed_values(count - kLanes), most);
  float lanes[kLanes];
  Vec::Store(lanes, most);
  return GreatestOf(lanes, kLanes, 1.0f);
}

// The members of PixelOps that the loops above compute; the others are those of pixel_ops_loops.h.
template <typename Vec>
constexpr PixelOps WithVectors() {
  PixelOps ops = kPixelOpsLoops;
  ops.add_shifted = AddShiftedVectors<Vec>;
  ops.max_bits = MaxBitVectors<Vec>;
  ops.max_float = MaxFloatVectors<Vec>;
  ops.max_products = MaxProductVectors<Vec>;
  ops.average = AverageVectors<Vec>;
  ops.dense = DenseVectors<Vec>;
  ops.add = AddVectors<Vec>;
  ops.multiply = MultiplyVectors<Vec>;
  ops.add_channels = AddChannelVectors<Vec>;
  ops.multiply_channels = MultiplyChannelVectors<Vec>;
  ops.clamp = ClampVectors<Vec>;
  ops.prelu = PreluVectors<Vec>;
  ops.softmax = Softmax<GreatestOfVectors<Vec>>;
  return ops;
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_VECTORS_H_
