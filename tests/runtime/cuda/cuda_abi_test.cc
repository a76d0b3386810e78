// Compares our declaration of the driver's interface with the golden that the official headers
// gave.
#include "larq_engine/runtime/cuda/cuda_abi.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace larq_engine {
// The symbol's name contains the version.
using cuGetProcAddressType = CuGetProcAddress;
#define LARQ_ENGINE_CUDA_TYPE(name, parameters) using name##Type = CUresult parameters;
LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_TYPE)
LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_TYPE)
#undef LARQ_ENGINE_CUDA_TYPE
}  // namespace larq_engine

using namespace larq_engine;  // NOLINT: the description names what the official header has at the
                              // top
#define FUNCTION_TYPE(name) name##Type
#include "tests/runtime/cuda/cuda_interface.h"

namespace larq_engine {
namespace {

constexpr const char* kGolden = "tests/runtime/cuda/cuda_interface.golden";

TEST(CudaAbi, InterfaceIsThatOfTheOfficialHeaders) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "there is no CUDA for addresses of 32 bits";
  std::ifstream file(kGolden);
  std::vector<std::string> golden;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') golden.push_back(line);
  }
  ASSERT_FALSE(golden.empty()) << kGolden << " was not found";
  const std::vector<std::string> ours = DescribeInterface();
  ASSERT_EQ(golden.size(), ours.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(golden[i], ours[i]);
}

// The comparison above is only as complete as its list, so the list is compared with cuda_abi.h.
TEST(CudaAbi, EveryFunctionIsListed) {
  size_t described = 0;
  for (const std::string& line : DescribeInterface()) described += line.starts_with("function ");
  size_t declared = 1;  // cuGetProcAddress
#define LARQ_ENGINE_CUDA_COUNT(name, parameters) ++declared;
  LARQ_ENGINE_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_COUNT)
  LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS(LARQ_ENGINE_CUDA_COUNT)
#undef LARQ_ENGINE_CUDA_COUNT
  EXPECT_EQ(described, declared);
}

}  // namespace
}  // namespace larq_engine
