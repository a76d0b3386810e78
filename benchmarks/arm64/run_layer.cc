// Runs one of the convolutions A to D several times, for a tool that counts the cost:
//
//   run_layer ROW LAYER IN OUT TIMES      ROW: auto or a kernel row; IN and OUT: bits or float
//
// Floats that come in are quantized, as LceQuantize does before a layer.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "benchmarks/kernels/conv_problem.h"
#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"

namespace larq_engine::benchmarks {
namespace {

int Main(int argc, char** argv) {
  const auto fail = [](const char* what, const char* got) {
    std::fprintf(stderr, "run_layer: expected %s, got '%s'\n", what, got);
    return 2;
  };
  if (argc != 6) return fail("ROW LAYER IN OUT TIMES", argc > 1 ? argv[1] : "");
  const std::string_view row = argv[1], in = argv[3], out = argv[4];
  const Layer* layer = nullptr;
  for (const Layer& candidate : kLayers) {
    if (std::string_view(argv[2]) == candidate.name) layer = &candidate;
  }
  if (layer == nullptr) return fail("a layer from A to D", argv[2]);
  if (in != "bits" && in != "float") return fail("bits or float to come in", argv[3]);
  if (out != "bits" && out != "float") return fail("bits or float to come out", argv[4]);
  const int times = std::atoi(argv[5]);

  const CpuFeatures cpu = DetectCpuFeatures();
  const BgemmShape shape{.n = layer->channels, .k_bits = 9 * layer->channels};
  const BgemmChoice choice = SelectBgemm(BgemmRows(), cpu, shape, row);
  if (choice.row == nullptr) return fail(choice.error.c_str(), argv[1]);
  ConvProblem problem(*layer, out == "bits" ? OutputKind::kBits : OutputKind::kFloat);
  problem.Use(*choice.row);
  const size_t pixels = static_cast<size_t>(layer->size * layer->size);
  const size_t channels = static_cast<size_t>(layer->channels);
  const std::vector<float> floats(pixels * channels, -0.5f);
  std::vector<uint32_t> packed(pixels * WordsFor(channels));
  const PixelOps& ops = SelectPixelOps(AllowedFeatures(cpu, row));
  for (int i = 0; i < times; ++i) {
    if (in == "float") ops.bitpack_float(floats.data(), pixels, channels, packed.data());
    problem.Run(1);
  }
  std::printf("%s\n", choice.row->name);
  return 0;
}

}  // namespace
}  // namespace larq_engine::benchmarks

int main(int argc, char** argv) { return larq_engine::benchmarks::Main(argc, argv); }
