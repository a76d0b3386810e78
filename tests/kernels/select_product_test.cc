#include "larq_engine/kernels/layers/select_product.h"

#include <utility>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

Bconv2dSpec Layer(int64_t bits_in, int64_t bits_weights) {
  return {.in_channels = 256,
          .out_channels = 256,
          .window = SquareWindow({.taps = 3}),
          .bits_in = bits_in,
          .bits_weights = bits_weights};
}

std::string Chosen(CpuFeatures cpu, const Bconv2dSpec& spec,
                   std::string_view forced = kAutoKernel) {
  const ProductChoice choice = SelectProduct(cpu, spec, forced);
  EXPECT_FALSE(choice.planes != nullptr && choice.bytes != nullptr);
  if (!choice.has_row()) return "error: " + choice.error;
  return choice.planes != nullptr ? choice.planes->name : choice.bytes->name;
}

// The row of the real table that each CPU gets for many bits. One line for each ISA that has rows.
TEST(SelectProduct, RowForEachCpu) {
  const auto chosen = [](CpuFeatures cpu) { return Chosen(cpu, Layer(8, 8)); };
  EXPECT_EQ(chosen({}), "bytes_i32_4x4x4_portable");
#if defined(__x86_64__)
  EXPECT_EQ(chosen({Isa::kPopcnt, Isa::kAvx2}), "bytes_i32_4x16x4_avx2");
  const CpuFeatures vnni = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vnni};
  EXPECT_EQ(chosen(vnni), "bytes_i32_12x32x4_avx512vnni");
  CpuFeatures amx = vnni;
  amx.Add(Isa::kAvx512vpopcntdq);
  amx.Add(Isa::kAmxint8);
  EXPECT_EQ(chosen(amx), "bytes_i32_32x16x64_amxint8");
#endif
#if defined(__aarch64__)
  EXPECT_EQ(chosen({Isa::kNeon}), "bytes_i32_12x8x8_neon");
  EXPECT_EQ(chosen({Isa::kNeon, Isa::kDotprod}), "bytes_i32_12x16x4_dotprod");
#endif
#if defined(__wasm_simd128__)
  EXPECT_EQ(chosen({Isa::kSimd128}), "bytes_i32_4x4x4_simd128");
#endif
}

#if defined(__x86_64__) || defined(__aarch64__)
bool TakesBytes(CpuFeatures cpu, int64_t bits_in, int64_t bits_weights) {
  return SelectProduct(cpu, Layer(bits_in, bits_weights)).bytes != nullptr;
}
#endif

#if defined(__aarch64__)
// These choices are those of the predicted rates: nobody has measured them.
TEST(SelectProduct, FewProductsOfPlanesArePredictedToBeFasterThanBytes) {
  constexpr CpuFeatures kNeon = {Isa::kNeon}, kDotprod = {Isa::kNeon, Isa::kDotprod};
  EXPECT_FALSE(TakesBytes(kNeon, 1, 1));
  EXPECT_FALSE(TakesBytes(kNeon, 2, 2));
  EXPECT_TRUE(TakesBytes(kNeon, 4, 4));
  EXPECT_FALSE(TakesBytes(kDotprod, 1, 1));
  EXPECT_FALSE(TakesBytes(kDotprod, 2, 1));
  EXPECT_TRUE(TakesBytes(kDotprod, 2, 2));
  EXPECT_TRUE(TakesBytes(kDotprod, 4, 1));
}
#endif

#if defined(__x86_64__)
constexpr CpuFeatures kVnni = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vnni,
                               Isa::kAvx512vpopcntdq};

constexpr CpuFeatures Server() {
  CpuFeatures cpu = kVnni;
  cpu.AddSecondMultiplier();
  return cpu;
}

// A dense layer of one image waits for its 4 MB of bytes if they come from memory. Measured on a
// Zen 4, whose L3 holds them: 44 us as bytes, 95 us as planes.
TEST(SelectProduct, BytesThatAnL3Holds) {
  const Bconv2dSpec dense = {
      .in_channels = 4096, .out_channels = 1024, .bits_in = 4, .bits_weights = 2};
  CpuFeatures cpu = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vnni};
  EXPECT_NE(SelectProduct(cpu, dense, kAutoKernel, true).bytes, nullptr);
  cpu.AddSecondMultiplier();
  EXPECT_NE(SelectProduct(cpu, dense, kAutoKernel, true).planes, nullptr);
}

// These choices agree with the times measured on a Xeon, and, for one multiplier, on a Zen 4.
TEST(SelectProduct, FewProductsOfPlanesAreFasterThanBytes) {
  EXPECT_FALSE(TakesBytes(kVnni, 1, 1));
  EXPECT_FALSE(TakesBytes(kVnni, 2, 1));
  EXPECT_FALSE(TakesBytes(kVnni, 3, 1));
  EXPECT_FALSE(TakesBytes(kVnni, 2, 2));
  EXPECT_TRUE(TakesBytes(kVnni, 4, 4));
  EXPECT_TRUE(TakesBytes(kVnni, 8, 1));
  EXPECT_FALSE(TakesBytes(Server(), 3, 1));
  EXPECT_TRUE(TakesBytes(Server(), 2, 2));
  EXPECT_TRUE(TakesBytes(Server(), 8, 1));
  CpuFeatures amx = Server();
  amx.Add(Isa::kAmxint8);
  EXPECT_FALSE(TakesBytes(amx, 1, 1));
  EXPECT_TRUE(TakesBytes(amx, 2, 1));
  const CpuFeatures avx2 = {Isa::kPopcnt, Isa::kAvx2};
  EXPECT_FALSE(TakesBytes(avx2, 4, 1));
  EXPECT_FALSE(TakesBytes(avx2, 3, 2));
  EXPECT_TRUE(TakesBytes(avx2, 8, 1));
  EXPECT_TRUE(TakesBytes(avx2, 4, 4));
}

// This was measured, too: if there are few products, beginning tiles costs bytes as much as any
// other row.
TEST(SelectProduct, OneBitOfFewChannelsIsNoProductOfBytes) {
  for (const int64_t filters : {8, 16, 32}) {
    const Bconv2dSpec spec{.in_channels = 32, .out_channels = filters};
    EXPECT_EQ(Chosen({Isa::kPopcnt, Isa::kAvx2}, spec), "bgemm_i32_8x32x32_avx2") << filters;
  }
}

// This was measured, too: the filters have 2.4 MB as bytes, and 0.3 MB a plane.
TEST(SelectProduct, FourProductsOfPlanesAreFasterThanBytesThatL2DoesNotHold) {
  for (auto [bits_in, bits_weights] : {std::pair(2, 2), std::pair(4, 1), std::pair(3, 2)}) {
    Bconv2dSpec layer = Layer(bits_in, bits_weights);
    EXPECT_NE(SelectProduct(Server(), layer).bytes, nullptr);
    layer.in_channels = layer.out_channels = 512;
    EXPECT_EQ(SelectProduct(Server(), layer).planes != nullptr, bits_in * bits_weights == 4);
  }
}

// This was measured, too: the layer is a perceptron's first one, of an image of bytes.
TEST(SelectProduct, OnePixelTakesThePlanesThatAreReadFaster) {
  const Bconv2dSpec dense = {.in_channels = 784, .out_channels = 4096, .bits_in = 8};
  EXPECT_NE(SelectProduct(Server(), dense, kAutoKernel, false).bytes, nullptr);
  EXPECT_NE(SelectProduct(Server(), dense, kAutoKernel, true).planes, nullptr);
  CpuFeatures amx = Server();
  amx.Add(Isa::kAmxint8);
  const Bconv2dSpec weights_of_bytes = {
      .in_channels = 2048, .out_channels = 2048, .bits_weights = 8};
  EXPECT_NE(SelectProduct(amx, weights_of_bytes, kAutoKernel, true).planes, nullptr);
}
#endif

#if defined(__x86_64__)
// Each tap of one channel would be expanded to a byte separately: that takes 5 times as long on a
// Zen 4 and on a Zen 3.
TEST(SelectProduct, LongTapsOfOneChannelAreNoProductOfBytes) {
  Bconv2dSpec sound{
      .in_channels = 1, .out_channels = 32, .window = {.width = {.taps = 80, .stride = 4}}};
  for (const CpuFeatures& cpu : {CpuFeatures{Isa::kPopcnt, Isa::kAvx2}, kVnni, Server()}) {
    EXPECT_NE(SelectProduct(cpu, sound).planes, nullptr);
  }
  for (const auto& [bits_in, bits_weights] : {std::pair(2, 1), {4, 1}, {4, 4}}) {
    sound.bits_in = bits_in;
    sound.bits_weights = bits_weights;
    for (const CpuFeatures& cpu : {CpuFeatures{Isa::kPopcnt, Isa::kAvx2}, kVnni}) {
      EXPECT_NE(SelectProduct(cpu, sound).planes, nullptr) << bits_in << " x " << bits_weights;
    }
  }
}

// Measured on a Zen 4: 2.0 us, and 2.8 us with tiles of 32 columns, of which ten are used.
TEST(SelectProduct, FewOutputsOfOnePixelAreNoWideTile) {
  const Bconv2dSpec dense{.in_channels = 4096, .out_channels = 10, .bits_in = 8, .bits_weights = 8};
  const ProductChoice choice = SelectProduct(kVnni, dense, kAutoKernel, true);
  ASSERT_NE(choice.bytes, nullptr);
  EXPECT_EQ(std::string(choice.bytes->name), "bytes_i32_4x16x4_avx2");
}

// Measured on a Zen 4: with one bit each, 112 ns as planes and 170 ns as bytes; with 4x2 bits, 236
// ns and 179 ns.
TEST(SelectProduct, BytesOfOnePixelBeginWithMoreAndPlanesWaitForFilters) {
  CpuFeatures cpu = kVnni;
  cpu.Add(Isa::kAvx512vpopcntdq);
  Bconv2dSpec dense{.in_channels = 256, .out_channels = 10};
  EXPECT_NE(SelectProduct(cpu, dense, kAutoKernel, true).planes, nullptr);
  EXPECT_NE(SelectProduct({Isa::kPopcnt, Isa::kAvx2}, dense, kAutoKernel, true).planes, nullptr);
  dense.bits_in = 4;
  dense.bits_weights = 2;
  EXPECT_NE(SelectProduct(cpu, dense, kAutoKernel, true).bytes, nullptr);
}

// A few hundred filters are in a near cache. So reading nibbles does not take twice as long as
// reading bytes, and reading bytes does not take eight times as long as reading planes.
TEST(SelectProduct, SmallDenseLayersTakeTheFastestProduct) {
  const auto chosen = [](int64_t inputs, int64_t outputs) {
    const Bconv2dSpec dense{.in_channels = inputs, .out_channels = outputs};
    return std::string(
        SelectProduct({Isa::kPopcnt, Isa::kAvx2}, dense, kAutoKernel, true).planes->name);
  };
  EXPECT_EQ(chosen(784, 1024), "bgemm_i32_8x32x32_avx2");
  EXPECT_EQ(chosen(4096, 10), "bgemm_i32_4x2x64_popcnt");
  const Bconv2dSpec several{
      .in_channels = 1024, .out_channels = 512, .bits_in = 4, .bits_weights = 4};
  for (const CpuFeatures& cpu : {CpuFeatures{Isa::kPopcnt, Isa::kAvx2}, kVnni, Server()}) {
    EXPECT_NE(SelectProduct(cpu, several, kAutoKernel, true).bytes, nullptr);
  }
}
#endif

TEST(SelectProduct, CyclesAreThoseOfTheRowAndOfAllGroups) {
  const Bconv2dSpec spec = Layer(2, 3);
  const auto cycles = [](int64_t bits_in, int64_t bits_weights) {
    return SelectProduct({}, Layer(bits_in, bits_weights), "bgemm_i32_4x2x64_portable").cycles;
  };
  EXPECT_DOUBLE_EQ(cycles(2, 3), 3 * cycles(2, 1));
  const double whole = SelectProduct({}, spec, "bytes_i32_4x4x4_portable").cycles;
  Bconv2dSpec grouped = spec;
  grouped.groups = 2;
  const double halves = SelectProduct({}, grouped, "bytes_i32_4x4x4_portable").cycles;
  EXPECT_LT(halves, whole);
  EXPECT_GT(halves, whole / 2);
}

TEST(SelectProduct, ForcedByName) {
  for (const char* name : {"bgemm_i32_4x2x64_portable", "bytes_i32_4x4x4_portable"}) {
    EXPECT_EQ(Chosen({}, Layer(1, 1), name), name);
    EXPECT_EQ(Chosen({}, Layer(8, 8), name), name);
  }
}

TEST(SelectProduct, ForcedButImpossibleIsAnErrorThatNamesTheRows) {
  const std::string names =
      "; expected one of auto, reference, bgemm_i32_4x2x64_portable, bytes_i32_4x4x4_portable";
#if defined(__x86_64__)
  EXPECT_EQ(Chosen({}, Layer(1, 1), "fastest"), "error: unknown kernel 'fastest'" + names);
  EXPECT_EQ(Chosen({}, Layer(1, 1), "bytes_i32_12x32x4_avx512vnni"),
            "error: kernel 'bytes_i32_12x32x4_avx512vnni' cannot run: this CPU has no avx512vnni" +
                names);
#else
  EXPECT_EQ(Chosen({}, Layer(1, 1), "fastest"), "error: unknown kernel 'fastest'" + names);
#endif
}

}  // namespace
}  // namespace larq_engine
