// Checks that the instructions of a GPU do what ptx_rules.h, wgmma_rules.h and tma_rules.h say.
// Each runs on random registers or memory, and every bit is compared with the rule that the
// emulated GPU runs. Prints a line of JSON for each; exits with 1 if one differs, and with 2 if
// there is no GPU.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "larq_engine/kernels/cuda/ptx.h"
#include "larq_engine/kernels/cuda/tma.h"
#include "larq_engine/kernels/cuda/wgmma.h"

namespace {

using namespace larq_engine::cuda;

constexpr int kLanes = 32;
constexpr int kRounds = 64;

void Check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("{\"error\": \"%s: %s\"}\n", call, cudaGetErrorString(error));
  std::exit(2);
}
#define CHECK(call) Check((call), #call)

// Memory of the device, with a copy on the host.
template <class T>
class Shared {
 public:
  explicit Shared(size_t count) : here(count) { CHECK(cudaMalloc(&there, count * sizeof(T))); }
  ~Shared() { cudaFree(there); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  void Send() {
    CHECK(cudaMemcpy(there, here.data(), here.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  void Fetch() {
    CHECK(cudaMemcpy(here.data(), there, here.size() * sizeof(T), cudaMemcpyDeviceToHost));
  }

  std::vector<T> here;
  T* there = nullptr;
};

template <class T>
void Randomize(std::vector<T>& values, std::mt19937& random) {
  std::vector<uint32_t> words(values.size() * sizeof(T) / sizeof(uint32_t));
  for (uint32_t& word : words) word = random();
  std::memcpy(static_cast<void*>(values.data()), words.data(), words.size() * sizeof(uint32_t));
}

int differing = 0;

void Report(const char* instruction, int wrong) {
  std::printf("{\"instruction\": \"%s\", \"wrong\": %d}\n", instruction, wrong);
  differing += wrong != 0;
}

struct OfBits {
  static constexpr const char* kName = "mma.m16n8k256.b1.and.popc";
  static constexpr auto kRule = MmaAndRule;
  LE_DEVICE static void Run(FragmentC& c, const FragmentA& a, const FragmentB& b) {
    MmaAnd(c, a, b);
  }
};

struct OfBytes {
  static constexpr const char* kName = "mma.m16n8k32.s8";
  static constexpr auto kRule = MmaBytesRule;
  LE_DEVICE static void Run(FragmentC& c, const FragmentA& a, const FragmentB& b) {
    MmaBytes(c, a, b);
  }
};

template <class Product>
__global__ void RunMma(const MmaOperands* in, FragmentC* out) {
  FragmentC c = in[threadIdx.x].c;
  Product::Run(c, in[threadIdx.x].a, in[threadIdx.x].b);
  out[threadIdx.x] = c;
}

template <class Product>
void TestMma(std::mt19937& random) {
  Shared<MmaOperands> in(kLanes);
  Shared<FragmentC> out(kLanes);
  int wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    Randomize(in.here, random);
    // In the first half of the rounds one register is zero, which shows a mistake in the places of
    // registers.
    if (round < kRounds / 2) {
      for (MmaOperands& lane : in.here)
        (round % 6 < 4 ? lane.a.r[round % 6] : lane.b.r[round % 6 - 4]) = 0;
    }
    in.Send();
    RunMma<Product><<<1, kLanes>>>(in.there, out.there);
    out.Fetch();
    for (int lane = 0; lane < kLanes; ++lane) {
      const FragmentC want = Product::kRule(in.here.data(), lane);
      for (int i = 0; i < 4; ++i) wrong += out.here[lane].r[i] != want.r[i];
    }
  }
  Report(Product::kName, wrong);
}

__global__ void RunLoadMatrix(const uint32_t* in, uint32_t* out) {
  __shared__ __align__(16) uint32_t rows[kLanes * 4];
  for (int i = threadIdx.x; i < kLanes * 4; i += kLanes) rows[i] = in[i];
  __syncwarp();
  uint32_t r[4];
  LoadMatrix4(r, SharedAddress(rows + threadIdx.x * 7 % kLanes * 4));  // in another order
  LE_UNROLL
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = r[i];
}

void TestLoadMatrix(std::mt19937& random) {
  Shared<uint32_t> in(kLanes * 4);
  Shared<uint32_t> out(kLanes * 4);
  Randomize(in.here, random);
  in.Send();
  RunLoadMatrix<<<1, kLanes>>>(in.there, out.there);
  out.Fetch();
  int wrong = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const MatrixWord from = LoadMatrixRule(i, lane);
      wrong += out.here[lane * 4 + i] != in.here[from.address_lane * 7 % kLanes * 4 + from.word];
    }
  }
  Report("ldmatrix.m8n8.x4.b16", wrong);
}

template <int kBytes>
__global__ void RunCopy(const unsigned char* in, uint32_t* out, int from_bytes) {
  __shared__ __align__(16) unsigned char to[16];
  for (int i = 0; i < 16; ++i) to[i] = 0xA5;
  CopyAsync<kBytes>(SharedAddress(to), in, from_bytes);
  CommitCopies();
  WaitCopies<0>();
  LE_UNROLL
  for (int i = 0; i < 4; ++i) out[i] = reinterpret_cast<const uint32_t*>(to)[i];
}

template <int kBytes>
int WrongCopies(std::mt19937& random) {
  Shared<unsigned char> in(16);
  Shared<uint32_t> out(4);
  int wrong = 0;
  for (int from_bytes : {0, kBytes}) {
    Randomize(in.here, random);
    in.Send();
    RunCopy<kBytes><<<1, 1>>>(in.there, out.there, from_bytes);
    out.Fetch();
    unsigned char got[16];
    std::memcpy(got, out.here.data(), sizeof(got));
    for (int i = 0; i < 16; ++i) {
      wrong += got[i] != (i < from_bytes ? in.here[i] : i < kBytes ? 0 : 0xA5);
    }
  }
  return wrong;
}

template <int kN>
__global__ void __launch_bounds__(kWarpgroup)
    RunWgmma(const uint32_t* in, int words, uint64_t a, uint64_t b, bool adds, int32_t* out) {
  if constexpr (kHasWgmma) {
    LE_SHARED_DYNAMIC(shared);
    for (int i = threadIdx.x; i < words; i += kWarpgroup) {
      reinterpret_cast<uint32_t*>(shared)[i] = in[i];
    }
    FenceForProducts();
    __syncthreads();
    const uint64_t base = SharedAddress(shared) >> 4;
    int32_t d[kN / 2];
    LE_UNROLL
    for (int i = 0; i < kN / 2; ++i) d[i] = i;
    WgmmaFence(d);
    WgmmaAnd<kN>(d, a + base, b + base, adds);
    WgmmaCommit();
    WgmmaWait<0>(d);
    LE_UNROLL
    for (int i = 0; i < kN / 2; ++i) out[threadIdx.x * (kN / 2) + i] = d[i];
  }
}

template <int kN>
void TestWgmma(std::mt19937& random) {
  constexpr int kBytes = 40 << 10;
  constexpr uint32_t kB = 8 << 10;  // where the second matrix begins
  // Makes a descriptor whose addresses count from the beginning of shared memory; see
  // RowsDescriptor.
  const auto descriptor = [](uint64_t start) {
    return start / 16 | uint64_t{1} << 16 | uint64_t{1024 / 16} << 32 | kSwizzle128Bytes << 62;
  };
  Shared<uint32_t> in(kBytes / 4);
  Shared<int32_t> out(kWarpgroup * (kN / 2));
  for (uint32_t along = 0; along < 128; along += 32) {
    const uint64_t a = descriptor(along);
    const uint64_t b = descriptor(kB + along);
    int wrong = 0;
    for (int round = 0; round < 4; ++round) {
      Randomize(in.here, random);
      in.Send();
      const bool adds = round % 2 == 0;
      RunWgmma<kN><<<1, kWarpgroup, kBytes>>>(in.there, kBytes / 4, a, b, adds, out.there);
      CHECK(cudaGetLastError());
      out.Fetch();
      const auto part = [&](uint32_t at) { return &in.here[at / 4]; };
      for (uint32_t thread = 0; thread < kWarpgroup; ++thread) {
        for (uint32_t i = 0; i < kN / 2; ++i) {
          const int32_t before = adds ? static_cast<int32_t>(i) : 0;
          const int32_t want = before + WgmmaAndRule(part, a, b, thread, i);
          wrong += out.here[thread * (kN / 2) + i] != want;
        }
      }
    }
    char instruction[96];
    std::snprintf(instruction, sizeof(instruction), "wgmma.m64n%dk256.b1.and.popc, %u bytes along",
                  kN, along);
    Report(instruction, wrong);
  }
}

// Makes a tensor map with the driver's function, which CUDA's runtime finds.
TensorMap MakeTensorMap(const MatrixMap& matrix) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found));
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.row_words),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t pitches[] = {static_cast<cuuint64_t>(matrix.pitch_words) * 4};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(matrix.box_words),
                            static_cast<cuuint32_t>(matrix.box_rows)};
  const cuuint32_t each[] = {1, 1};
  CUtensorMap made;
  const CUresult result =
      encode == nullptr
          ? CUDA_ERROR_NOT_FOUND
          : encode(&made, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, const_cast<uint32_t*>(matrix.words),
                   sizes, pitches, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   matrix.is_swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::printf("{\"error\": \"cuTensorMapEncodeTiled: %d\"}\n", static_cast<int>(result));
    std::exit(2);
  }
  TensorMap map;
  static_assert(sizeof(map) == sizeof(made));
  std::memcpy(&map, &made, sizeof(map));
  return map;
}

constexpr uint32_t kRubbish = 0xa5a5a5a5;

template <int kThreads>
__global__ void RunBox(const __grid_constant__ TensorMap map, int x, int y, int words,
                       uint32_t* out) {
  if constexpr (kHasWgmma) {
    LE_SHARED_DYNAMIC(shared);
    auto* const box = reinterpret_cast<uint32_t*>(shared);
    const uint32_t barrier = SharedAddress(shared) + static_cast<uint32_t>(words) * 4;
    for (int i = threadIdx.x; i < words; i += kThreads) box[i] = kRubbish;
    if (threadIdx.x == 0) MakeBarrier(barrier, 1);
    FenceForProducts();
    __syncthreads();
    if (threadIdx.x == 0) {
      ArriveAndExpect(barrier, words * 4);
      CopyBox(SharedAddress(shared), map, x, y, barrier);
    }
    WaitForPhase(barrier, 0);
    for (int i = threadIdx.x; i < words; i += kThreads) out[i] = box[i];
  }
}

// Tests copies of a box of 64 rows, inside a matrix and beyond each of its ends.
void TestBoxes(std::mt19937& random, bool is_swizzled) {
  constexpr int kThreads = 64;
  constexpr int kRows = 100;
  constexpr int kPitch = 76;
  Shared<uint32_t> in(kRows * kPitch);
  MatrixMap matrix{.words = in.there,
                   .rows = kRows,
                   .row_words = 72,
                   .pitch_words = kPitch,
                   .box_rows = 64,
                   .box_words = 32,
                   .is_swizzled = is_swizzled};
  const TensorMap map = MakeTensorMap(matrix);
  matrix.words = in.here.data();
  const int words = static_cast<int>(BoxBytes(matrix)) / 4;
  Shared<uint32_t> out(words);
  int wrong = 0;
  for (const int x : {0, 32, -8, 60, 200}) {
    for (const int y : {0, 5, -3, 90, 200}) {
      Randomize(in.here, random);
      in.Send();
      RunBox<kThreads><<<1, kThreads, words * 4 + kBarrierBytes>>>(map, x, y, words, out.there);
      CHECK(cudaGetLastError());
      out.Fetch();
      std::vector<uint32_t> want(words, kRubbish);
      for (uint32_t r = 0; r < 64; ++r) {
        for (uint32_t i = 0; i < 32; ++i) {
          want[BoxAddressRule(matrix, 0, r, i) / 4] = BoxWordRule(matrix, x, y, r, i);
        }
      }
      for (int i = 0; i < words; ++i) wrong += out.here[i] != want[i];
    }
  }
  Report(is_swizzled ? "cp.async.bulk.tensor.2d, swizzled" : "cp.async.bulk.tensor.2d", wrong);
}

// One warp writes and another reads, in turns. If the phases follow another rule than ours, the
// kernel never ends.
template <int kRounds>
__global__ void RunPhases(int* out) {
  if constexpr (kHasWgmma) {
    __shared__ __align__(8) unsigned char barriers[2 * kBarrierBytes];
    __shared__ int values[kLanes];
    const uint32_t full = SharedAddress(barriers);
    const uint32_t empty = full + kBarrierBytes;
    const int me = static_cast<int>(threadIdx.x);
    if (me == 0) {
      MakeBarrier(full, kLanes);
      MakeBarrier(empty, kLanes);
    }
    __syncthreads();
    for (int round = 0; round < kRounds; ++round) {
      const uint32_t parity = static_cast<uint32_t>(round) % 2;
      if (me < kLanes) {
        WaitForPhase(empty, parity ^ 1);
        values[me] = round * 100 + me;
        Arrive(full);
      } else {
        WaitForPhase(full, parity);
        out[round * kLanes + me - kLanes] = values[(me + 5) % kLanes];
        Arrive(empty);
      }
    }
  }
}

void TestPhases() {
  constexpr int kTurns = 1000;
  Shared<int> out(kTurns * kLanes);
  RunPhases<kTurns><<<1, 2 * kLanes>>>(out.there);
  CHECK(cudaGetLastError());
  out.Fetch();
  PhaseRule rule{.arrivals = kLanes};
  int wrong = 0;
  for (int round = 0; round < kTurns; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      wrong += out.here[round * kLanes + i] != round * 100 + (i + 5) % kLanes;
      rule.Arrive(0);
    }
    wrong += !rule.HasEnded(static_cast<uint32_t>(round) % 2);
  }
  Report("mbarrier, phases by turns", wrong);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // for kernels that never end
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::mt19937 random(1);
  TestMma<OfBits>(random);
  TestMma<OfBytes>(random);
  TestLoadMatrix(random);
  Report("cp.async 4 bytes, zeros", WrongCopies<4>(random));
  Report("cp.async 8 bytes, zeros", WrongCopies<8>(random));
  Report("cp.async 16 bytes, zeros", WrongCopies<16>(random));
  int major = 0;
  int minor = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  if (major == 9 && minor == 0) {
    TestWgmma<64>(random);
    TestWgmma<128>(random);
    TestWgmma<256>(random);
    TestPhases();
    TestBoxes(random, false);
    TestBoxes(random, true);
  }
  return differing != 0;
}
