// Checks what the row in streaming mode owes the rest of the thread, which may use the same
// registers: the procedure call standard's rules for ZA and the vector registers. Its results are
// tested with those of all rows.
#include "larq_engine/kernels/binary/arm64/bgemm_sme2.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {
namespace {

// A caller's block that says where its ZA is to be saved, with the layout of the procedure call
// standard.
struct Tpidr2Block {
  void* buffer;
  uint16_t vectors;
  uint16_t reserved[3];
};

struct Observed {
  uint64_t vector_bytes;
  uint64_t tpidr2;
  uint64_t mode;  // bit 0: streaming, bit 1: ZA is on
  uint64_t lost;  // bits of d8 and d15 that changed
};

// Calls the row for one pixel and column. ZA holds `za` (256 vectors of the largest size) and
// TPIDR2 points to its block, or ZA is off if block is null.
Observed CallWithZa(const BgemmArgs& args, const std::byte* za, const Tpidr2Block* block) {
  Observed observed;
  void (*row)(const BgemmArgs&) = BgemmI32_32x32x32Sme2;
  asm volatile(R"(
    .arch_extension sve
    .arch_extension sme
    rdsvl x19, #1
    cbz %[block], 2f
    smstart za
    mov x9, %[za]
    mov w12, #0
  1:
    ldr za[w12, 0], [x9]
    add x9, x9, x19
    add w12, w12, #1
    cmp w12, w19
    b.lo 1b
  2:
    msr tpidr2_el0, %[block]
    fmov d8, %[args]
    fmov d15, %[row]
    mov x20, %[args]
    mov x21, %[row]
    mov x22, %[observed]
    mov x0, x20
    blr x21
    fmov x9, d8
    eor x9, x9, x20
    fmov x10, d15
    eor x10, x10, x21
    orr x9, x9, x10
    mrs x10, tpidr2_el0
    mrs x11, svcr
    stp x19, x10, [x22]
    stp x11, x9, [x22, #16]
    msr tpidr2_el0, xzr
    smstop
)"
               :
               : [args] "r"(&args), [za] "r"(za), [block] "r"(block), [row] "r"(row),
                 [observed] "r"(&observed)
               : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                 "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21", "x22", "x30", "cc",
                 "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                 "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                 "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
  return observed;
}

class BgemmSme2Test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DetectCpuFeatures().Has(Isa::kSme2)) return;
    const char* required = std::getenv("LARQ_ENGINE_REQUIRE_ISA");
    std::istringstream names(required == nullptr ? "" : required);
    for (std::string name; std::getline(names, name, ',');) {
      ASSERT_NE(name, IsaName(Isa::kSme2)) << "required, and this CPU has none";
    }
    GTEST_SKIP() << "this CPU has no " << IsaName(Isa::kSme2);
  }

  static constexpr uint32_t kLeft = 0x12345678;
  alignas(64) uint32_t rhs_[32] = {kLeft ^ 0xff00ff};
  const ptrdiff_t run_ = 0;
  int32_t acc_ = -1;
  const BgemmArgs args_ = {.m = 1,
                           .n = 1,
                           .segments = 1,
                           .segment_words = 1,
                           .lhs_base = &kLeft,
                           .lhs = &run_,
                           .rhs = rhs_,
                           .acc = &acc_,
                           .acc_stride = 1};
  // Room for vectors of up to 2048 bits; there are as many vectors as a vector has bytes.
  std::vector<std::byte> za_ = std::vector<std::byte>(256 * 256);
};

TEST_F(BgemmSme2Test, LeavesModesOffAndRegistersAsTheyWere) {
  const Observed observed = CallWithZa(args_, nullptr, nullptr);
  EXPECT_EQ(acc_, 16);
  EXPECT_EQ(observed.mode, 0u);
  EXPECT_EQ(observed.tpidr2, 0u);
  EXPECT_EQ(observed.lost, 0u);
}

TEST_F(BgemmSme2Test, SavesZaForACallerThatLeftItThere) {
  for (size_t at = 0; at < za_.size(); ++at) za_[at] = static_cast<std::byte>(at % 251);
  for (const bool all : {true, false}) {
    std::vector<std::byte> saved(za_.size());
    const uint64_t vector_bytes = CallWithZa(args_, nullptr, nullptr).vector_bytes;
    const size_t vectors = all ? vector_bytes : 0;
    const Tpidr2Block block{
        .buffer = saved.data(), .vectors = static_cast<uint16_t>(vectors), .reserved = {}};
    const Observed observed = CallWithZa(args_, za_.data(), &block);
    EXPECT_EQ(acc_, 16);
    EXPECT_EQ(observed.mode, 0u);
    EXPECT_EQ(observed.tpidr2, 0u);  // tells the caller to restore ZA from its buffer
    EXPECT_EQ(observed.lost, 0u);
    std::vector<std::byte> expected(za_.size());
    std::memcpy(expected.data(), za_.data(), vectors * vector_bytes);
    EXPECT_EQ(saved, expected);
  }
}

}  // namespace
}  // namespace larq_engine
