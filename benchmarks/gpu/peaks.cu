// Measures this GPU's highest rates: products of bits on tensor cores, population counts, copies,
// and nodes of a graph. Other measurements are given as fractions of these. Prints one object of
// JSON; exits with 2 if there is no GPU.
#include <cstdint>
#include <cstdio>
#include <string>

#include "benchmarks/gpu/loads.h"
#include "benchmarks/gpu/timing.h"

namespace {

using namespace larq_engine;
using namespace larq_engine::cuda;

constexpr int kRounds = 4096;
constexpr int kMostWarpgroups = 3;

__global__ void __launch_bounds__(512) MmaRate(int* out) { MultiplyByMma(kRounds, out); }

template <int kN>
__global__ void __launch_bounds__(kMostWarpgroups* kWarpgroup) WgmmaRate(int* out) {
  MultiplyByWgmma<kN>(kRounds / 4, out);
}

__global__ void __launch_bounds__(512) PopcountRate(int* out) {
  uint32_t x[kChains];
  LE_UNROLL
  for (int j = 0; j < kChains; ++j) x[j] = threadIdx.x * (j + 1);
  for (int i = 0; i < kRounds; ++i) {
    LE_UNROLL
    for (int j = 0; j < kChains; ++j) x[j] += __popc(x[j] ^ i);
  }
  uint32_t sum = 0;
  LE_UNROLL
  for (int j = 0; j < kChains; ++j) sum += x[j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(sum);
}

__global__ void Nothing(const int* p) {
  if (p == nullptr) __trap();
}

// Returns a field of JSON for each number of warpgroups.
template <int kN>
std::string WgmmaRates(cudaStream_t stream, int sms, int* out) {
  std::string fields;
  for (int warpgroups = 1; warpgroups <= kMostWarpgroups; ++warpgroups) {
    const double seconds = Seconds(stream, [&] {
      WgmmaRate<kN><<<sms, warpgroups * kWarpgroup, WgmmaSharedBytes(kN), stream>>>(out);
      CHECK(cudaGetLastError());
    });
    const double products = kWgmmaPairs<kN> * (kRounds / 4) * warpgroups * sms;
    char field[96];
    std::snprintf(field, sizeof(field), "\"wgmma_b1_n%d_%d_warpgroups_products_per_s\": %.4g, ", kN,
                  warpgroups, products / seconds);
    fields += field;
  }
  return fields;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const int sms = device.multiProcessorCount;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* out;
  CHECK(cudaMalloc(&out, size_t{64} << 20));

  const double products = kMmaPairs * kRounds * 16 * sms;  // 16 warps a block
  const double mma = products / Seconds(stream, [&] { MmaRate<<<sms, 512, 0, stream>>>(out); });
  std::string wgmma;
  if (device.major == 9 && device.minor == 0) {
    wgmma = WgmmaRates<64>(stream, sms, out) + WgmmaRates<128>(stream, sms, out) +
            WgmmaRates<256>(stream, sms, out);
  }
  const double words = double{512} * 4 * sms * kChains * kRounds;
  const double popcount =
      words / Seconds(stream, [&] { PopcountRate<<<4 * sms, 512, 0, stream>>>(out); });

  constexpr size_t kBytes = size_t{2} << 30;
  char *from, *to, *host;
  CHECK(cudaMalloc(&from, kBytes));
  CHECK(cudaMalloc(&to, kBytes));
  CHECK(cudaMallocHost(&host, kBytes / 8));
  const double copy = 2.0 * kBytes / Seconds(stream, [&] {
                        CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice, stream));
                      });
  const double upload =
      kBytes / 8.0 / Seconds(stream, [&] {
        CHECK(cudaMemcpyAsync(to, host, kBytes / 8, cudaMemcpyHostToDevice, stream));
      });
  const double download =
      kBytes / 8.0 / Seconds(stream, [&] {
        CHECK(cudaMemcpyAsync(host, to, kBytes / 8, cudaMemcpyDeviceToHost, stream));
      });
  const double small_upload =
      Seconds(stream, [&] { CHECK(cudaMemcpyAsync(to, host, 4, cudaMemcpyHostToDevice, stream)); });

  constexpr int kNodes = 100;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kNodes; ++i) Nothing<<<1, 32, 0, stream>>>(out);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const double node = Seconds(stream, [&] { CHECK(cudaGraphLaunch(exec, stream)); }) / kNodes;

  int clock_khz = 0;
  CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  std::printf(
      "{\"device\": \"%s\", \"sms\": %d, \"clock_ghz\": %.3f, \"l2_mib\": %d, "
      "\"mma_b1_products_per_s\": %.4g, %s\"popcount_words_per_s\": %.4g, "
      "\"copy_bytes_per_s\": %.4g, \"upload_bytes_per_s\": %.4g, \"download_bytes_per_s\": %.4g, "
      "\"upload_latency_s\": %.3g, \"graph_node_s\": %.3g}\n",
      device.name, sms, clock_khz * 1e-6, device.l2CacheSize >> 20, mma, wgmma.c_str(), popcount,
      copy, upload, download, small_upload, node);
  return 0;
}
