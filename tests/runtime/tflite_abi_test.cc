// Compares our declaration of the TFLite interface with the golden that the official headers gave.
#include "larq_engine/runtime/tflite_abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using Profiler = larq_engine::ProfilerInterface;

#include "tests/runtime/tflite_layout.h"

namespace larq_engine {
namespace {

constexpr char kGolden[] = "tests/runtime/tflite_layout.golden";

// Leaves the numbers for our size of a pointer, where a line has two kinds of them.
std::string ForOurPointers(const std::string& line) {
  const size_t bar = line.find(" | ");
  if (bar == std::string::npos || sizeof(void*) == 4) return line.substr(0, bar);
  const size_t name_end = line.find(' ', line.find(' ') + 1);
  return line.substr(0, name_end) + line.substr(bar + 2);
}

std::vector<std::string> ReadGolden() {
  std::ifstream file(kGolden);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(ForOurPointers(line));
  }
  return lines;
}

TEST(TfliteAbi, LayoutIsThatOfTheOfficialHeaders) {
  const std::vector<std::string> golden = ReadGolden();
  ASSERT_FALSE(golden.empty()) << kGolden << " was not found";
  const std::vector<std::string> ours = DescribeLayout();
  ASSERT_EQ(golden.size(), ours.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(golden[i], ours[i]);
}

// The comparison above is only as complete as its list: a field that the list forgets would leave a
// hole. Alignment to 8 bytes can leave 7 bytes at most.
TEST(TfliteAbi, ListedFieldsFillTheirStructures) {
  std::map<std::string, size_t> end;  // end of the fields seen so far
  std::map<std::string, size_t> size;
  for (const std::string& line : DescribeLayout()) {
    std::istringstream words(line);
    std::string kind, name;
    size_t first = 0, second = 0;
    words >> kind >> name >> first >> second;
    if (kind == "struct") size[name] = first;
    if (kind != "field") continue;
    size_t& filled = end[name.substr(0, name.find('.'))];
    EXPECT_LE(first, filled + 7) << "something is missing before " << name;
    filled = std::max(filled, first + second);
  }
  constexpr size_t kPartlyDeclared = 11;  // parameters of builtin operators
  ASSERT_EQ(end.size(), size.size() + kPartlyDeclared);
  for (const auto& [name, bytes] : size) EXPECT_LE(bytes, end[name] + 7) << name;
}

TEST(TfliteAbi, MadeArrayHoldsTheValues) {
  const int values[] = {1, -2, 3};
  const IntArrayPtr array = MakeIntArray(values);
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->size, 3);
  EXPECT_TRUE(std::ranges::equal(AsSpan(array.get()), values));
  EXPECT_EQ(MakeIntArray({})->size, 0);
  EXPECT_TRUE(AsSpan(nullptr).empty());
}

}  // namespace
}  // namespace larq_engine
