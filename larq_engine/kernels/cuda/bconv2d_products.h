// The products of fragments of bits. Kernels on tensor cores are templates over these classes.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PRODUCTS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PRODUCTS_H_

#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// Add adds to columns j and j + 1 of c the ones that the rows `a` and the columns `b` have in
// common. `b` has two words of each column, as FragmentB has them.
struct BitProducts {
  static constexpr bool kAreThere = kHasMmaAnd;

  template <int kRows, int kColumns>
  LE_DEVICE static void Add(FragmentC (&c)[kRows][kColumns], int j, const FragmentA (&a)[kRows],
                            const uint32_t (&b)[4]) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      MmaAnd(c[i][j], a[i], {{b[0], b[1]}});
      MmaAnd(c[i][j + 1], a[i], {{b[2], b[3]}});
    }
  }
};

// Expands bits to bytes of 0 and 1 in registers. A product is the same in any order of the depth,
// if both sides have the same order: so each product takes every eighth bit of each word, and uses
// the same fragments as MmaAnd.
struct ByteProducts {
  static constexpr bool kAreThere = kHasMmaBytes;

  LE_DEVICE static uint32_t EighthBits(uint32_t word, int first) {
    return word >> first & 0x01010101u;
  }

  template <int kRows, int kColumns>
  LE_DEVICE static void Add(FragmentC (&c)[kRows][kColumns], int j, const FragmentA (&a)[kRows],
                            const uint32_t (&b)[4]) {
    LE_NO_UNROLL
    for (int first = 0; first < 8; ++first) {
      FragmentB columns[2];
      LE_UNROLL
      for (int e = 0; e < 4; ++e) columns[e / 2].r[e % 2] = EighthBits(b[e], first);
      LE_UNROLL
      for (int i = 0; i < kRows; ++i) {
        FragmentA rows;
        LE_UNROLL
        for (int e = 0; e < 4; ++e) rows.r[e] = EighthBits(a[i].r[e], first);
        MmaBytes(c[i][j], rows, columns[0]);
        MmaBytes(c[i][j + 1], rows, columns[1]);
      }
    }
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PRODUCTS_H_
