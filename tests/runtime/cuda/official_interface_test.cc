// The golden against the official header of this machine's toolkit. Its names are macros for those
// of the newest version.
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#define FUNCTION_TYPE(name) std::remove_pointer_t<decltype(&name)>
#include "tests/runtime/cuda/cuda_interface.h"

TEST(OfficialCudaHeader, DeclaresWhatTheGoldenSays) {
  const std::vector<std::string> golden = GoldenInterface();
  ASSERT_FALSE(golden.empty());
  const std::vector<std::string> official = DescribeInterface();
  ASSERT_EQ(golden.size(), official.size());
  for (size_t i = 0; i < official.size(); ++i) EXPECT_EQ(golden[i], official[i]);
}
