#include "larq_engine/benchmark_model/machine.h"

#include <sstream>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

std::string NameIn(const char* text) {
  std::istringstream cpuinfo(text);
  return CpuName(cpuinfo);
}

TEST(CpuName, OfX86) {
  EXPECT_EQ(NameIn("processor\t: 0\nmodel name\t: AMD EPYC 9R14\n\nprocessor\t: 1\n"
                   "model name\t: AMD EPYC 9R14\n"),
            "AMD EPYC 9R14");
}

TEST(CpuName, OfARaspberryPi) {
  EXPECT_EQ(NameIn("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n"
                   "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n"
                   "Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n"),
            "Raspberry Pi 4 Model B Rev 1.4 (2 x 0x41/0xd08)");
}

TEST(CpuName, OfAPhoneWithTwoKindsOfCores) {
  EXPECT_EQ(NameIn("CPU implementer : 0x41\nCPU part : 0xd05\nCPU part : 0xd05\n"
                   "CPU implementer : 0x51\nCPU part : 0x804\n"),
            "unknown (2 x 0x41/0xd05, 1 x 0x51/0x804)");
}

TEST(CpuName, OfNothing) { EXPECT_EQ(NameIn("no colon\n:\nmodel name:\n"), "unknown"); }

TEST(Machine, IsThisOne) {
  const Machine machine = DescribeMachine();
  EXPECT_GE(machine.processors, 1);
  EXPECT_FALSE(machine.architecture.empty());
  ASSERT_FALSE(machine.isas.empty());
  EXPECT_EQ(machine.isas[0], "portable");
  ASSERT_FALSE(machine.kernels.empty());
  EXPECT_EQ(machine.kernels[0].rfind("bgemm_", 0), 0u);
}

TEST(Memory, GrowsWithWhatIsTouched) {
  const int64_t before = ResidentBytes();
  const std::vector<char> block(64 << 20, 1);
  EXPECT_EQ(block[12345], 1);
  EXPECT_GT(ResidentBytes(), before + (32 << 20));
  EXPECT_GE(PeakResidentBytes(), ResidentBytes() / 2);
}

}  // namespace
}  // namespace larq_engine
