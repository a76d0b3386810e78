// The rules of the instructions of ptx.h, by NVIDIA's "PTX ISA": pure functions from the registers
// of all lanes of a warp to those of one, which the emulated GPU follows.
//
// Fragments of mma.m16n8k256 with single bits, where g = lane / 4 and t = lane % 4:
//   A r[i], bit j   row g + 8 * (i % 2),  k = 128 * (i / 2) + 32 * t + j
//   B r[i], bit j   column g,             k = 128 * i + 32 * t + j
//   C r[i]          row g + 8 * (i / 2),  column 2 * t + i % 2
// Fragments of mma.m16n8k32 with bytes, the lowest byte of a register first; C is as above:
//   A r[i], byte j  row g + 8 * (i % 2),  k = 16 * (i / 2) + 4 * t + j
//   B r[i], byte j  column g,             k = 16 * i + 4 * t + j
// Fragments of mma.m8n8k128 with single bits:
//   A, bit j        row g,                k = 32 * t + j
//   B, bit j        column g,             k = 32 * t + j
//   C r[i]          row g,                column 2 * t + i
#ifndef LARQ_ENGINE_KERNELS_CUDA_PTX_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_PTX_RULES_H_

#include <cstdint>

namespace larq_engine::cuda {

struct FragmentA {
  uint32_t r[4];
};
struct FragmentB {
  uint32_t r[2];
};
struct FragmentC {
  int32_t r[4];
};

struct MmaOperands {
  FragmentA a;
  FragmentB b;
  FragmentC c;
};

// Returns C + the number of ones that A and B have in common.
inline FragmentC MmaAndRule(const MmaOperands* all, int lane) {
  FragmentC sum = all[lane].c;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + 8 * (i / 2);
    const int column = 2 * (lane % 4) + i % 2;
    for (int k = 0; k < 256; k += 32) {
      const int t = k / 32 % 4;
      const int half = k / 128;
      const uint32_t a = all[row % 8 * 4 + t].a.r[row / 8 + 2 * half];
      const uint32_t b = all[column * 4 + t].b.r[half];
      sum.r[i] += __builtin_popcount(a & b);
    }
  }
  return sum;
}

// Returns C + A * B.
inline FragmentC MmaBytesRule(const MmaOperands* all, int lane) {
  const auto byte = [](uint32_t word, int j) {
    return static_cast<int32_t>(static_cast<int8_t>(word >> (8 * j) & 0xff));
  };
  FragmentC sum = all[lane].c;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + 8 * (i / 2);
    const int column = 2 * (lane % 4) + i % 2;
    for (int k = 0; k < 32; k += 4) {
      const int t = k / 4 % 4;
      const int half = k / 16;
      const uint32_t a = all[row % 8 * 4 + t].a.r[row / 8 + 2 * half];
      const uint32_t b = all[column * 4 + t].b.r[half];
      for (int j = 0; j < 4; ++j) sum.r[i] += byte(a, j) * byte(b, j);
    }
  }
  return sum;
}

struct XorFragmentC {
  int32_t r[2];
};

struct MmaXorOperands {
  uint32_t a;
  uint32_t b;
  XorFragmentC c;
};

// Returns C + the number of bits that differ in A and B.
inline XorFragmentC MmaXorRule(const MmaXorOperands* all, int lane) {
  XorFragmentC sum = all[lane].c;
  for (int i = 0; i < 2; ++i) {
    for (int t = 0; t < 4; ++t) {
      const uint32_t a = all[lane / 4 * 4 + t].a;
      const uint32_t b = all[(2 * (lane % 4) + i) * 4 + t].b;
      sum.r[i] += __builtin_popcount(a ^ b);
    }
  }
  return sum;
}

// The word that a lane gets from ldmatrix. Row r of matrix i begins at the address of lane 8 * i +
// r, and a lane gets word lane % 4 of row lane / 4 of each matrix.
struct MatrixWord {
  int address_lane;
  int word;
};
inline MatrixWord LoadMatrixRule(int matrix, int lane) { return {8 * matrix + lane / 4, lane % 4}; }

// Returns how many times more than once a matrix is read. Its rows are read at once, but rows in
// the same 16 of 128 bytes one after the other.
inline int LoadMatrixConflicts(const uint32_t* addresses, int matrix) {
  int rows[8] = {};
  int most = 0;
  for (int r = 0; r < 8; ++r) {
    const int count = ++rows[addresses[8 * matrix + r] / 16 % 8];
    most = count > most ? count : most;
  }
  return most - 1;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PTX_RULES_H_
