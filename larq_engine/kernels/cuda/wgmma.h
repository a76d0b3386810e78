// Products of bits by the four warps of a warpgroup, which only chips of compute capability 9.0
// have: both matrices are in shared memory, and are multiplied while the threads do something else.
// As in ptx.h, each instruction has two bodies; its rule is in wgmma_rules.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_WGMMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_WGMMA_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/ptx.h"
#include "larq_engine/kernels/cuda/tma.h"
#include "larq_engine/kernels/cuda/wgmma_rules.h"

namespace larq_engine::cuda {

inline constexpr int kWarpgroup = 128;  // threads

// Kernels that need these products are also compiled for other chips, but are empty there.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHasWgmma = false;
#else
inline constexpr bool kHasWgmma = true;
#endif

// Returns the descriptor of a matrix of consecutive rows of 1024 bits, at a multiple of 1024 bytes,
// with 16-byte part p of row r at p ^ (r % 8). Adding 32 bytes advances by 256 bits along the rows.
LE_DEVICE uint64_t RowsDescriptor(uint32_t address) {
  constexpr uint64_t kLeading = 1;  // the chip ignores it
  constexpr uint64_t kStride = 8 * 128 / 16;
  return (address & 0x3ffff) >> 4 | kLeading << 16 | kStride << 32 | kSwizzle128Bytes << 62;
}

// Makes visible to products and to copies of boxes what this thread wrote to shared memory, or
// waited for after CopyAsync. The emulated GPU checks this only for copies and barriers.
LE_DEVICE void FenceForProducts() {
#ifdef __CUDACC__
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
#else
  emulated_gpu::FenceCopies();
  emulated_gpu::FencePhaseBarriers();
#endif
}

// Changes the number of registers of each thread of the warpgroup to kRegisters, fewer or more than
// the kernel began with. Warpgroups that take registers wait for others that give them.
template <int kRegisters>
LE_DEVICE void GiveRegisters() {
#ifdef __CUDACC__
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
#endif
}
template <int kRegisters>
LE_DEVICE void TakeRegisters() {
#ifdef __CUDACC__
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kRegisters));
#endif
}

#ifdef __CUDACC__
// Keeps the compiler from moving uses of `d` across this place, as it does not know of products
// that are still running.
template <int kRegisters>
LE_DEVICE void HoldRegisters(int32_t (&d)[kRegisters]) {
  LE_UNROLL
  for (int i = 0; i < kRegisters; ++i) asm volatile("" : "+r"(d[i])::"memory");
}
#endif

// Must be called before the first product, and again after anything else has touched its registers.
template <int kRegisters>
LE_DEVICE void WgmmaFence(int32_t (&d)[kRegisters]) {
#ifdef __CUDACC__
  HoldRegisters(d);
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#else
  (void)d;
  emulated_gpu::MyThread().registers_are_fenced = true;
#endif
}

#ifdef __CUDACC__
#define LE_REGISTERS_4(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define LE_REGISTERS_16(d, i)                                               \
  LE_REGISTERS_4(d, i), LE_REGISTERS_4(d, i + 4), LE_REGISTERS_4(d, i + 8), \
      LE_REGISTERS_4(d, i + 12)
#define LE_REGISTERS_32(d, i) LE_REGISTERS_16(d, i), LE_REGISTERS_16(d, i + 16)
#define LE_REGISTERS_64(d, i) LE_REGISTERS_32(d, i), LE_REGISTERS_32(d, i + 32)
#define LE_REGISTERS_128(d, i) LE_REGISTERS_64(d, i), LE_REGISTERS_64(d, i + 64)
#endif

// Adds to `d` the number of ones that a and b have in common, for 64 rows and kN columns with 256
// bits each, at some time before WgmmaWait returns. Unless `adds`, the products replace `d`. All
// threads of the warpgroup must call it.
template <int kN>
LE_DEVICE void WgmmaAnd(int32_t (&d)[kN / 2], uint64_t a, uint64_t b, bool adds = true) {
  static_assert(kN == 64 || kN == 128 || kN == 256);
#ifdef __CUDACC__
  if constexpr (kN == 64) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
        "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p;\n}\n"
        : LE_REGISTERS_32(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
  } else if constexpr (kN == 128) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
        "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
        "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p;\n}\n"
        : LE_REGISTERS_64(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
        "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
        "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "
        "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "
        "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "
        "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "
        "%126, %127}, "
        "%128, %129, p;\n}\n"
        : LE_REGISTERS_128(d, 0)
        : "l"(a), "l"(b), "r"(static_cast<int>(adds)));
  }
#else
  struct Operands {
    uint64_t a;
    uint64_t b;
  };
  const bool alike = emulated_gpu::Collective(Operands{a, b}, [](const Operands* all, int lane) {
    return all[lane].a == all[0].a && all[lane].b == all[0].b;
  });
  if (!alike) emulated_gpu::Fail("the lanes of a warp multiply different matrices");
  emulated_gpu::IssueProduct([&d, a, b, adds] {
    const auto part = [](uint32_t address) { return emulated_gpu::FencedSharedAt(address, 16); };
    const auto thread = static_cast<uint32_t>(emulated_gpu::MyThread().number % kWarpgroup);
    for (uint32_t i = 0; i < kN / 2; ++i) {
      d[i] = (adds ? d[i] : 0) + WgmmaAndRule(part, a, b, thread, i);
    }
  });
#endif
}

// Makes a group of the products since the last call.
LE_DEVICE void WgmmaCommit() {
#ifdef __CUDACC__
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
#else
  emulated_gpu::CommitProductGroup();
#endif
}

// Waits until all groups are done, except for the last kLeft. Before that no thread may read `d`.
template <int kLeft, int kRegisters>
LE_DEVICE void WgmmaWait(int32_t (&d)[kRegisters]) {
#ifdef __CUDACC__
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kLeft) : "memory");
  HoldRegisters(d);
#else
  (void)d;
  emulated_gpu::WaitForProductGroups(kLeft);
#endif
}

#undef LE_REGISTERS_4
#undef LE_REGISTERS_16
#undef LE_REGISTERS_32
#undef LE_REGISTERS_64
#undef LE_REGISTERS_128

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_WGMMA_H_
