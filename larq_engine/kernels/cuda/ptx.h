// Instructions that C++ has no expression for. Each is a function with two bodies: the instruction
// where nvcc compiles it for a GPU, and its rule for the emulated GPU.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PTX_H_
#define LARQ_ENGINE_KERNELS_CUDA_PTX_H_

#include <cstring>

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/ptx_rules.h"

namespace larq_engine::cuda {

// The products of the chip that is compiled for. Every row of kernels.inc is compiled for every
// chip, and a kernel that needs other products is empty there. Chips of compute capability 10.0 and
// newer emulate MmaAnd by bytes, slowly; 7.5 has only xor; asynchronous copies came with 8.0.
#ifdef __CUDA_ARCH__
inline constexpr bool kHasMmaXor = __CUDA_ARCH__ < 800;
inline constexpr bool kHasMmaAnd = __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1000;
inline constexpr bool kHasMmaBytes = __CUDA_ARCH__ >= 800;
#else
inline constexpr bool kHasMmaXor = true;
inline constexpr bool kHasMmaAnd = true;
inline constexpr bool kHasMmaBytes = true;
#endif

// Adds the number of ones that a and b have in common to c. All lanes of the warp must call it.
LE_DEVICE void MmaAnd(FragmentC& c, const FragmentA& a, const FragmentB& b) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+r"(c.r[0]), "+r"(c.r[1]), "+r"(c.r[2]), "+r"(c.r[3])
      : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
#else
  c = emulated_gpu::Collective(MmaOperands{a, b, c}, MmaAndRule);
  if (emulated_gpu::MyThread().lane() == 0) ++emulated_gpu::MyBlock().products;
#endif
}

// Adds a * b, of signed bytes, to c. All lanes of the warp must call it.
LE_DEVICE void MmaBytes(FragmentC& c, const FragmentA& a, const FragmentB& b) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+r"(c.r[0]), "+r"(c.r[1]), "+r"(c.r[2]), "+r"(c.r[3])
      : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
#else
  c = emulated_gpu::Collective(MmaOperands{a, b, c}, MmaBytesRule);
  if (emulated_gpu::MyThread().lane() == 0) ++emulated_gpu::MyBlock().products;
#endif
}

// Adds the number of bits that differ in a and b to c. All lanes of the warp must call it.
LE_DEVICE void MmaXor(XorFragmentC& c, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%0, %1};\n"
      : "+r"(c.r[0]), "+r"(c.r[1])
      : "r"(a), "r"(b));
#else
  c = emulated_gpu::Collective(MmaXorOperands{a, b, c}, MmaXorRule);
  if (emulated_gpu::MyThread().lane() == 0) ++emulated_gpu::MyBlock().products;
#endif
}

// Returns the address within shared memory of what `p` points to.
LE_DEVICE uint32_t SharedAddress(const void* p) {
#ifdef __CUDACC__
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
#else
  return static_cast<uint32_t>(static_cast<const unsigned char*>(p) - emulated_gpu::SharedMemory());
#endif
}

// Loads four matrices of 8 rows of 16 bytes; each lane gives the address of a row. All lanes of the
// warp must call it.
LE_DEVICE void LoadMatrix4(uint32_t (&r)[4], uint32_t address) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
#else
  struct Words {
    uint32_t r[4];
  };
  const Words words = emulated_gpu::Collective(address, [](const uint32_t* all, int lane) {
    Words result;
    for (int i = 0; i < 4; ++i) {
      const MatrixWord from = LoadMatrixRule(i, lane);
      std::memcpy(&result.r[i], emulated_gpu::SharedAt(all[from.address_lane], 16) + 4 * from.word,
                  4);
      if (lane == 0) emulated_gpu::MyBlock().bank_conflicts += LoadMatrixConflicts(all, i);
    }
    return result;
  });
  std::memcpy(r, words.r, sizeof(r));
#endif
}

// Copies kBytes (4, 8 or 16) to shared memory, at some time before the thread has waited for its
// group: `from_bytes` of them from `from`, and zeros for the rest. On sm_75 it copies whole words
// at once.
template <int kBytes>
LE_DEVICE void CopyAsync(uint32_t to, const void* from, int from_bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  auto* const words = static_cast<uint32_t*>(__cvta_shared_to_generic(to));
  for (int i = 0; i < kBytes / 4; ++i) {
    words[i] = 4 * i < from_bytes ? static_cast<const uint32_t*>(from)[i] : 0;
  }
#elif defined(__CUDACC__)
  if constexpr (kBytes == 16) {  // not through L1: no other block of this SM reads them
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
                 "r"(from_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(to), "l"(from),
                 "n"(kBytes), "r"(from_bytes)
                 : "memory");
  }
#else
  emulated_gpu::IssueCopy({emulated_gpu::SharedAt(to, kBytes),
                           static_cast<const unsigned char*>(from), kBytes,
                           static_cast<size_t>(from_bytes)});
#endif
}

// Prefetches the 128 bytes around `p` into the L2 cache. This is only a hint to a GPU, but on the
// emulated GPU the bytes must exist.
LE_DEVICE void PrefetchToSecondCache(const void* p) {
#ifdef __CUDACC__
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(p));
#else
  (void)*static_cast<const volatile unsigned char*>(p);
#endif
}

// Makes a group of the copies that this thread has begun since the last call.
LE_DEVICE void CommitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#elif defined(__CUDACC__)
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#else
  emulated_gpu::CommitCopyGroup();
#endif
}

// Waits until all groups of this thread have arrived, except for the last kLeft.
template <int kLeft>
LE_DEVICE void WaitCopies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#elif defined(__CUDACC__)
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft) : "memory");
#else
  emulated_gpu::WaitForCopyGroups(kLeft);
#endif
}

// Waits until all earlier launches are complete and their writes are visible.
LE_DEVICE void WaitForEarlierLaunches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#elif defined(__CUDACC__)
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#else
  emulated_gpu::WaitForEarlierLaunches();
#endif
}

// Lets the next launch begin, if it is one that begins early, once all blocks of this launch have
// called this or ended.
LE_DEVICE void LetNextLaunchBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PTX_H_
