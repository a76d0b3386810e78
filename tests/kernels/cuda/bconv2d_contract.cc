// This program ends with 0 if every kernel of a binary convolution keeps what it has to:
// test_planted_faults.py compiles it with kernels that are broken on purpose.
#include <cstdio>
#include <random>
#include <string_view>

#include "tests/kernels/cuda/bconv2d_case.h"

namespace {

using namespace larq_engine;
using namespace larq_engine::testing;

bool Keeps(const GpuLayer& layer, cuda::KernelId kernel) {
  std::mt19937_64 random(1);
  const GpuCase gpu_case(layer, random);
  for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
    if (row.kernel != kernel) continue;
    for (int order = 0; order < 5; ++order) {
      for (const bool early : {false, true}) {
        emulated_gpu::Counters counters;
        const std::string difference = gpu_case.Run(
            row, {static_cast<emulated_gpu::Options::Order>(order), 1, early}, &counters);
        if (!difference.empty()) std::printf("%s\n", difference.c_str());
        if (counters.bank_conflicts > 0) std::printf("there are bank conflicts\n");
        if (!difference.empty() || counters.bank_conflicts > 0) return false;
      }
    }
  }
  return true;
}

}  // namespace

int main() {
  GpuLayer layer;
  layer.height = 5;
  layer.width = 6;
  layer.spec.in_channels = 256;  // more steps than stages, so that stages are used twice
  layer.spec.out_channels = 40;
  layer.spec.window = SquareWindow({.taps = 3, .padding = {.same = true}});
  bool keeps = Keeps(layer, cuda::KernelId::bconv2d_mma_128x64_c16);
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_small_c16);
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_mma8_64x64_c16);
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_small_int8_c16);
  GpuLayer words = layer;  // whole words of channels, and several images
  words.batch = 3;
  words.spec.out_channels = 64;
  words.fused = Fused::kResidual;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  words.fused = Fused::kSum;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_small_c16);
  words.fused = Fused::kResidual;
  words.kind = OutputKind::kBits;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  words.batch = 1;
  words.spec.in_channels = 128;
  words.spec.out_channels = 96;  // half of a tile is behind the last channel
  words.spec.window.height.dilation = 2;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  words.spec.pad_value = PadValue::kZero;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  words.kind = OutputKind::kFloat;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  words.fused = Fused::kLevels;
  words.level_bits = 2;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_mma_128x64_c16);
  layer.spec.in_channels = 640;  // more steps than there are warps
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_small_c16);
  layer.spec.in_channels = 32;
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_mma_128x64_c4);
  GpuLayer planes = layer;  // an odd number of planes on one side, and in the output
  planes.height = 3;
  planes.spec.in_channels = 128;
  planes.spec.pad_value = PadValue::kZero;
  planes.spec.bits_in = 2;
  planes.spec.bits_weights = 3;
  planes.fused = Fused::kLevels;
  planes.level_bits = 3;
  keeps = keeps && Keeps(planes, cuda::KernelId::bconv2d_mma_128x128_c16);
  keeps = keeps && Keeps(planes, cuda::KernelId::bconv2d_small_c16);
  keeps = keeps && Keeps(planes, cuda::KernelId::bconv2d_mma8_64x64_c16);
  keeps = keeps && Keeps(planes, cuda::KernelId::bconv2d_popc);
  planes.spec.out_channels = 64;  // whole words
  planes.fused = Fused::kSum;
  keeps = keeps && Keeps(planes, cuda::KernelId::bconv2d_mma_128x128_c16);
  layer.height = layer.width = 9;  // rows for the second warpgroup as well
  layer.spec.in_channels = 512;    // longer steps
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_wgmma_128x128);
  words.fused = Fused::kSum;
  words.spec.pad_value = PadValue::kOne;
  keeps = keeps && Keeps(words, cuda::KernelId::bconv2d_wgmma_128x128);
  layer.spec = {};
  layer.spec.in_channels = 4 * 1024 + 128;  // more steps than stages; the last step is short
  layer.spec.out_channels = 260;
  layer.batch = 2;  // more tiles of the product than blocks
  layer.kind = OutputKind::kBits;
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_tma_128x256);
  layer.spec.in_channels = 128;
  layer.spec.out_channels = 288;  // whole words
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_tma_128x256);
  layer.spec.in_channels = 3 * 1024;  // several steps before a tile's bits are made
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_tma_128x256);
  layer.spec.in_channels = 128;
  layer.spec.out_channels = 544;  // a block has two tiles, and its lanes exchange nothing
  layer.kind = OutputKind::kFloat;
  layer.fused = Fused::kNothing;
  keeps = keeps && Keeps(layer, cuda::KernelId::bconv2d_tma_128x256);
  GpuLayer halos;  // more tiles than blocks; the last tiles reach outside the image
  halos.batch = 2;
  halos.height = 9;
  halos.width = 33;
  halos.spec.in_channels = 64;
  halos.spec.out_channels = 96;
  halos.spec.window = SquareWindow({.taps = 3, .padding = {.same = true}});
  halos.spec.pad_value = PadValue::kZero;
  halos.fused = Fused::kResidual;
  keeps = keeps && Keeps(halos, cuda::KernelId::bconv2d_halo_64);
  halos.spec.in_channels = 128;
  halos.kind = OutputKind::kBits;
  keeps = keeps && Keeps(halos, cuda::KernelId::bconv2d_halo_128);
  return keeps ? 0 : 1;
}
