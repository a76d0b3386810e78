#include "tests/kernels/cuda/emulated_kernels.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/cuda/pixels_args.h"

namespace larq_engine::testing {
namespace {

TEST(EmulatedKernels, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const EmulatedKernel& kernel : EmulatedKernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_EQ(FindEmulatedKernel(kernel.name), &kernel);
  }
  EXPECT_EQ(FindEmulatedKernel("no_such_kernel"), nullptr);
}

// Blocks keep the limits that every chip has.
TEST(EmulatedKernels, BlocksAreWholeWarpsAndFit) {
  for (const EmulatedKernel& kernel : EmulatedKernels()) {
    EXPECT_EQ(kernel.threads % emulated_gpu::kWarpLanes, 0u) << kernel.name;
    EXPECT_LE(kernel.threads, 1024u) << kernel.name;
    EXPECT_LE(kernel.args_bytes, 4096u) << kernel.name;
  }
}

TEST(EmulatedKernels, LaunchReadsUnalignedBytes) {
  const int8_t values[3] = {-1, 0, 1};
  uint32_t bits = 0xffffffff;
  const cuda::PackBytesArgs args = {.in = values,
                                    .pixels = 1,
                                    .channels = 3,
                                    .planes = 1,
                                    .is_bool = 0,
                                    .limit = 0,
                                    .out = &bits};
  std::vector<unsigned char> bytes(sizeof(args) + 1);
  std::memcpy(bytes.data() + 1, &args, sizeof(args));
  const EmulatedKernel* kernel = FindEmulatedKernel("pack_bytes");
  ASSERT_NE(kernel, nullptr);
  LaunchEmulated(*kernel, bytes.data() + 1, {1}, {kernel->threads}, 0, {});
  EXPECT_EQ(bits, 1u);
}

}  // namespace
}  // namespace larq_engine::testing
