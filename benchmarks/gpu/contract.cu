// Do a GPU's instructions do what ptx_rules.h and wgmma_rules.h say? Each runs on random registers,
// and every bit is compared with the rule that the emulated GPU runs. Prints a line of JSON for
// each; exits with 1 if one differs, and with 2 if there is no GPU to ask.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "larq_engine/kernels/cuda/ptx.h"
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

// Memory of the device with a copy here.
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
    // One register at a time is zero, which tells what is where.
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
  LoadMatrix4(r, SharedAddress(rows + threadIdx.x * 7 % kLanes * 4));  // rows in another order
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
    RunWgmma(const uint32_t* in, int words, uint64_t a, uint64_t b, int32_t* out) {
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
    WgmmaAnd<kN>(d, a + base, b + base);
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
  // With addresses from the beginning of shared memory; see RowsDescriptor.
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
      RunWgmma<kN><<<1, kWarpgroup, kBytes>>>(in.there, kBytes / 4, a, b, out.there);
      CHECK(cudaGetLastError());
      out.Fetch();
      const auto part = [&](uint32_t at) { return &in.here[at / 4]; };
      for (uint32_t thread = 0; thread < kWarpgroup; ++thread) {
        for (uint32_t i = 0; i < kN / 2; ++i) {
          const int32_t want = static_cast<int32_t>(i) + WgmmaAndRule(part, a, b, thread, i);
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

}  // namespace

int main() {
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
  }
  return differing != 0;
}
