#include "larq_engine/kernels/arm64/bgemm_neon.h"

#include "larq_engine/kernels/arm64/bgemm_tile.h"

namespace larq_engine {
namespace {

// Two bytes hold a column's count of a step, up to 32 each: seven steps are 224.
constexpr size_t kStepsInBytes = 7;
// Sixteen bits hold 64 a step: 146 times seven steps are 65408.
constexpr size_t kBytesInHalves = 146;

// The counts of one pixel: 16 columns, of which each half of 8 has a vector.
struct Row {
  uint8x16_t bytes[2];
  uint16x8_t halves[2];

  void Clear() {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      bytes[h] = vdupq_n_u8(0);
      halves[h] = vdupq_n_u16(0);
    }
  }
  void Widen() {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      halves[h] = vpadalq_u8(halves[h], bytes[h]);
      bytes[h] = vdupq_n_u8(0);
    }
  }
  void AddTo(uint32_t (&total)[kTileCols]) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      uint32_t* to = total + 8 * h;
      vst1q_u32(to, vaddw_u16(vld1q_u32(to), vget_low_u16(halves[h])));
      vst1q_u32(to + 4, vaddw_high_u16(vld1q_u32(to + 4), halves[h]));
      halves[h] = vdupq_n_u16(0);
    }
  }
};

template <int kRows>
void CountRows(const BgemmArgs& args) {
  const uint32_t* rhs = args.rhs;
  const ptrdiff_t* const end = args.lhs + args.segments * kTileRows;
  const bool is_deep =
      args.segments * args.segment_words > kBytesInHalves * kStepsInBytes * kStepWords;
  for (size_t j = 0; j < args.n; j += kTileCols) {
    Row count[kRows];
    uint32_t total[kRows][kTileCols];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) count[i].Clear();
    if (is_deep) std::memset(total, 0, sizeof(total));
    size_t bytes_room = kStepsInBytes;
    size_t halves_room = kBytesInHalves;
    for (const ptrdiff_t* runs = args.lhs; runs != end; runs += kTileRows) {
      const uint32_t* row[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) row[i] = LhsRun(args.lhs_base, runs[i]);
      for (size_t k = 0; k < args.segment_words; k += kStepWords) {
        uint8x16_t left[kRows];
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) left[i] = LoadLeft(row[i] + k);
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
          uint8x16_t right[4];
#pragma GCC unroll 4
          for (int v = 0; v < 4; ++v) right[v] = LoadRight(rhs, 4 * h + v);
#pragma GCC unroll 4
          for (int i = 0; i < kRows; ++i) {
            const uint8x16_t two = vpaddq_u8(CountFour(left[i], right[0], right[1]),
                                             CountFour(left[i], right[2], right[3]));
            count[i].bytes[h] = vaddq_u8(count[i].bytes[h], two);
          }
        }
        rhs += kTileCols * kStepWords;
        if (--bytes_room == 0) {
          bytes_room = kStepsInBytes;
#pragma GCC unroll 4
          for (int i = 0; i < kRows; ++i) count[i].Widen();
          if (--halves_room == 0) {
            halves_room = kBytesInHalves;
#pragma GCC unroll 4
            for (int i = 0; i < kRows; ++i) count[i].AddTo(total[i]);
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      count[i].Widen();
      uint32x4_t wide[4];
      if (is_deep) {
        count[i].AddTo(total[i]);
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) wide[v] = vld1q_u32(total[i] + 4 * v);
      } else {
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
          wide[2 * h] = vmovl_u16(vget_low_u16(count[i].halves[h]));
          wide[2 * h + 1] = vmovl_high_u16(count[i].halves[h]);
        }
      }
      StoreColumns(args.acc + i * args.acc_stride + j, wide, args.n - j);
    }
  }
}

}  // namespace

// Smaller m takes a smaller tile rather than counting rows for nothing.
void BgemmI32_4x16x64Neon(const BgemmArgs& args) {
  switch (args.m) {
    case 1:
      return CountRows<1>(args);
    case 2:
      return CountRows<2>(args);
    case 3:
      return CountRows<3>(args);
    default:
      return CountRows<4>(args);
  }
}

}  // namespace larq_engine
