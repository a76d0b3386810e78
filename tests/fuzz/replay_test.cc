// Runs the fuzzer's cases without libFuzzer: the seeds, and a fixed sequence of damaged seeds and
// of made-up graphs. LARQ_ENGINE_TEST_FULL=1 runs more of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/signed_sums/select.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/fuzz_case.h"
#include "tests/fuzz/fuzz_graph.h"
#include "tests/host/tflite_file.h"

namespace larq_engine::testing {
namespace {

const char* const kSeeds[] = {"channels_4.float",    "pointwise_odd_channels.float",
                              "dilated.float",       "valid_5x5_stride2.float",
                              "maxpool_chain.float", "bitpacked_chain.float"};

std::vector<uint8_t> Seed(const std::string& name) {
  return ReadFileBytes("tests/interop/data/" + name + ".tflite");
}

int Cases(int in_sample) {
  return std::getenv("LARQ_ENGINE_TEST_FULL") == nullptr ? in_sample : 10 * in_sample;
}

TEST(FuzzReplay, SeedsRun) {
  for (const char* name : kSeeds) EXPECT_TRUE(RunFuzzCase(Seed(name))) << name;
}

TEST(FuzzReplay, DamagedFiles) {
  std::mt19937 random(20);
  int ran = 0;
  const int cases = Cases(1000);
  for (int i = 0; i < cases; ++i) {
    std::vector<uint8_t> bytes = Seed(kSeeds[random() % 4]);  // one of the small ones
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const uint8_t edges[] = {0, 1, 2, 4, 0x7f, 0x80, 0xff, static_cast<uint8_t>(random())};
      bytes[8 + random() % (bytes.size() - 8)] = edges[random() % 8];
    }
    if (random() % 8 == 0) bytes.resize(8 + random() % (bytes.size() - 8));
    ran += RunFuzzCase(bytes);
  }
  // Both outcomes must be common, else the damage is too small or too large to find anything.
  EXPECT_GT(ran, cases / 20);
  EXPECT_LT(ran, cases * 19 / 20);
}

TEST(FuzzReplay, MadeUpGraphs) {
  std::mt19937 random(21);
  int ran = 0;
  const int cases = Cases(3000);
  for (int i = 0; i < cases; ++i) {
    std::vector<uint8_t> bytes(120);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    ran += RunFuzzCase(bytes);
  }
  EXPECT_GT(ran, cases / 5);
  EXPECT_LT(ran, cases * 4 / 5);
}

// Counts only graphs that ran. The plug-in takes convolutions and dense layers if the CPU has
// faster rows for them than portable ones.
TEST(FuzzReplay, MadeUpGraphsHaveEveryForm) {
  std::mt19937 random(22);
  std::set<int> kinds, inputs;
  std::set<std::string> names;
  int unpacked_filters = 0;  // unpacked filters of convolutions
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bytes(120);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (!RunFuzzCase(bytes)) continue;
    ByteSource source(bytes);
    source.Byte();  // decides about threads
    const Graph graph = MakeFuzzGraph(&source);
    inputs.insert(graph.tensors[0].type);
    for (const GraphOperator& op : graph.operators) {
      kinds.insert(op.builtin_code);
      names.insert(op.custom_name);
      unpacked_filters += op.builtin_code == builtin::kConv2d && op.inputs.size() > 1 &&
                          op.inputs[1] >= 0 &&
                          graph.tensors[op.inputs[1]].name.starts_with("LceUnpackWeights");
    }
  }
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteBool}) {
    EXPECT_TRUE(inputs.contains(type)) << type;
  }
  for (const int kind : {builtin::kAdd, builtin::kMul, builtin::kConcatenation, builtin::kMaxPool2d,
                         builtin::kPrelu, builtin::kRelu, builtin::kSub, builtin::kSplit,
                         builtin::kSplitV, builtin::kSlice, builtin::kStridedSlice}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
  const bool convolves_floats = DetectCpuFeatures().Has(Isa::kAvx2);
  EXPECT_EQ(kinds.contains(builtin::kConv2d), convolves_floats);
  EXPECT_EQ(kinds.contains(builtin::kDepthwiseConv2d), convolves_floats);
  EXPECT_EQ(unpacked_filters > 0, convolves_floats);
  const bool sums_signs =
      PrefersSignedSums(SelectSignedSums(DetectCpuFeatures()),
                        {.rows = 1, .depth = 1024, .units = 1024, .is_int8 = false});
  EXPECT_EQ(kinds.contains(builtin::kFullyConnected), sums_signs);
  for (const char* name : {"LceQuantize", "LceDequantize", "LceBconv2d", "LceBMaxPool2d",
                           "LceBmatmul", "LceUnpackWeights"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace larq_engine::testing
