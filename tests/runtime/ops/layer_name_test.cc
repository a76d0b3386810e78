#include "larq_engine/runtime/ops/layer_name.h"

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(LayerName, ReadsNamesAsTheConverterDoes) {
  std::ifstream file("tests/common/layer_names.txt");
  std::string line;
  int names = 0;
  while (std::getline(file, line)) {
    const size_t arrow = line.find(" -> ");
    if (line.starts_with('#') || arrow == std::string::npos) continue;
    EXPECT_EQ(LayerName(line.substr(0, arrow), {}), line.substr(arrow + 4)) << line;
    ++names;
  }
  EXPECT_GT(names, 30);
}

TEST(LayerName, OfAnOutputOfTheModelIsThatOfAConstant) {
  const std::string_view constants[] = {"", "other/conv/Conv2D", "scores:LceBconv2d"};
  EXPECT_EQ(LayerName("StatefulPartitionedCall:0", constants), "scores");
  EXPECT_EQ(LayerName("model/a/Add", constants), "scores");
  EXPECT_EQ(LayerName("conv2:ADD", constants), "conv2");
  EXPECT_EQ(LayerName("y", std::span(constants).first(2)), "y");
}

TEST(LayerName, AnyTextIsFine) {
  EXPECT_EQ(LayerName("", {}), "");
  EXPECT_EQ(LayerName("/", {}), "/");
  EXPECT_EQ(LayerName(";;", {}), ";;");
  EXPECT_EQ(LayerName("//", {}), "//");
}

}  // namespace
}  // namespace larq_engine
