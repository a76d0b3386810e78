// The rules of instructions for test_ptx_rules.py.
#include "larq_engine/kernels/cuda/ptx_rules.h"

namespace {
using namespace larq_engine::cuda;
}

extern "C" void mma_and(const MmaOperands* all, FragmentC* c) {
  for (int lane = 0; lane < 32; ++lane) c[lane] = MmaAndRule(all, lane);
}

extern "C" void mma_bytes(const MmaOperands* all, FragmentC* c) {
  for (int lane = 0; lane < 32; ++lane) c[lane] = MmaBytesRule(all, lane);
}

extern "C" void mma_xor(const MmaXorOperands* all, XorFragmentC* c) {
  for (int lane = 0; lane < 32; ++lane) c[lane] = MmaXorRule(all, lane);
}

extern "C" int load_matrix_address_lane(int matrix, int lane) {
  return LoadMatrixRule(matrix, lane).address_lane;
}

extern "C" int load_matrix_word(int matrix, int lane) { return LoadMatrixRule(matrix, lane).word; }
