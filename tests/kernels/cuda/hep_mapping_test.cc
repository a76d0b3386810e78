// Tests the index arithmetic of HEP-BNN's configurations on the host: each output is computed once,
// by the same numbers of blocks and threads as in the paper's code.
#include "benchmarks/placing/hep_mapping.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace larq_engine::cuda {
namespace {

struct Named {
  const char* name;
  HepMapping mapping;
};

constexpr Named kMappings[] = {{"X", kHepX},   {"Y", kHepY},   {"Z", kHepZ},    {"XY", kHepXy},
                               {"XZ", kHepXz}, {"YZ", kHepYz}, {"XYZ", kHepXyz}};

Bconv2dArgs Conv(int batch, int height, int width, int channels) {
  Bconv2dArgs a{};
  a.batch = batch;
  a.in_height = a.out_height = height;
  a.in_width = a.out_width = width;
  a.out_channels = channels;
  a.filter_height = a.filter_width = 3;
  return a;
}

Bconv2dArgs Dense(int batch, int channels) {
  Bconv2dArgs a = Conv(batch, 1, 1, channels);
  a.filter_height = a.filter_width = 1;
  return a;
}

using Sizes = std::map<std::string, std::pair<int64_t, int64_t>>;  // blocks, and threads of each

Sizes SizesOf(const Bconv2dArgs& a) {
  Sizes sizes;
  for (const auto& [name, mapping] : kMappings) {
    sizes[name] = {HepBlocks(mapping, a), HepThreads(mapping, a)};
  }
  return sizes;
}

TEST(HepMapping, ConvolutionsHaveTheBlocksOfTheirLetters) {
  EXPECT_EQ(SizesOf(Conv(5, 7, 11, 40)), (Sizes{{"X", {5, 7 * 11}},
                                                {"Y", {11, 7}},
                                                {"Z", {40, 7 * 11}},
                                                {"XY", {5 * 11, 7}},
                                                {"XZ", {5 * 40, 7 * 11}},
                                                {"YZ", {11 * 40, 7}},
                                                {"XYZ", {5 * 11 * 40, 7}}}));
}

// A thread makes a whole word of bits, as two threads cannot write into one word.
TEST(HepMapping, WhereBitsAreMadeAThreadHasAWord) {
  Bconv2dArgs a = Conv(5, 7, 11, 40);
  a.output.kind = Bconv2dOutput::kBits;
  EXPECT_EQ(SizesOf(a)["XYZ"], (std::pair<int64_t, int64_t>{5 * 11 * 2, 7}));
  a = Conv(5, 7, 11, 40);
  uint32_t bits;
  a.output.after.bits = &bits;
  EXPECT_EQ(SizesOf(a)["Z"], (std::pair<int64_t, int64_t>{2, 7 * 11}));
}

// Dense layers use a square of threads, and only two of the seven mappings differ.
TEST(HepMapping, DenseLayersHaveTwoMappings) {
  for (const auto& [name, size] : SizesOf(Dense(3, 10))) {
    const int64_t blocks = name.find('X') == std::string::npos ? 1 : 3;
    EXPECT_EQ(size, (std::pair<int64_t, int64_t>{blocks, 16})) << name;
  }
  EXPECT_EQ(HepThreads(kHepX, Dense(1, 1024)), 1024);
  EXPECT_EQ(HepThreads(kHepX, Dense(1, 2048)), 46 * 46);
}

TEST(HepMapping, EachOutputIsComputedOnce) {
  for (const Bconv2dArgs& a : {Conv(3, 4, 5, 6), Conv(1, 1, 7, 33), Dense(4, 10), Dense(2, 1)}) {
    for (const auto& [name, mapping] : kMappings) {
      std::map<std::array<int, 4>, int> times;
      for (int block = 0; block < HepBlocks(mapping, a); ++block) {
        for (int thread = 0; thread < HepThreads(mapping, a); ++thread) {
          const HepPart part = FindHepPart(mapping, a, block, thread);
          for (int i = 0; i < part.images; ++i) {
            for (int s = 0; s < part.sets; ++s) {
              ++times[{part.first_image + i, part.row, part.column, part.first_set + s}];
            }
          }
        }
      }
      EXPECT_EQ(times.size(),
                static_cast<size_t>(a.batch * a.out_height * a.out_width * a.out_channels))
          << name;
      for (const auto& [output, count] : times) {
        EXPECT_EQ(count, 1) << name;
        EXPECT_LT(output[0], a.batch) << name;
        EXPECT_LT(output[1], a.out_height) << name;
        EXPECT_LT(output[2], a.out_width) << name;
        EXPECT_LT(output[3], a.out_channels) << name;
      }
    }
  }
}

// Neighbouring threads compute neighbouring rows, as in the paper's code.
TEST(HepMapping, RowsComeFirst) {
  const Bconv2dArgs a = Conv(2, 4, 5, 6);
  EXPECT_EQ(FindHepPart(kHepX, a, 1, 6).row, 2);
  EXPECT_EQ(FindHepPart(kHepX, a, 1, 6).column, 1);
  const HepPart part = FindHepPart(kHepXyz, a, 1 + 2 * (3 + 5 * 4), 2);
  EXPECT_EQ(part.first_image, 1);
  EXPECT_EQ(part.column, 3);
  EXPECT_EQ(part.first_set, 4);
  EXPECT_EQ(part.row, 2);
}

}  // namespace
}  // namespace larq_engine::cuda
