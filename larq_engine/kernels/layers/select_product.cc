#include "larq_engine/kernels/layers/select_product.h"

#include <stdexcept>

#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/layers/byte_lines.h"
#include "larq_engine/kernels/layers/gather_taps.h"

namespace larq_engine {
namespace {

// If L2 does not hold a layer's bytes, each tile waits for them: from 256 to 512 channels a layer
// loses the same time with AMX and with VNNI (on a Xeon with 2 MB of L2). The layer's
// planes are an eighth of the bytes, and L2 holds them. The unit is a cycle of the table, which is
// two cycles of that Xeon.
constexpr double kBytesHeld = 2 << 20;
constexpr double kBytesAwaitedPerCycle = 30;

// Cycles that each call that expands a tap, and each run of taps, takes in addition to its bytes.
// So 1x80 taps of one channel take 4 times as long as bytes as they do as bits (choice_bench, Zen
// 4).
constexpr double kCyclesPerExpansion = 4;
constexpr double kExpansionCyclesPerRun = 4;

// Additional cycles of a single pixel as bytes, whatever its depth (choice_bench, dense layers of
// 10 outputs on a Zen 4).
constexpr double kBytesPixelCycles = 50;

// A Zen 4 reads from its L3 three times as fast as that Xeon from memory (choice_bench, dense
// layers of 4,096 to 1,024). Other x86 CPUs without a server's second multiplier are taken to be
// like it. Rows of planes are chosen as for the Xeon, since the row with fewer bytes is as fast on
// a Zen 4.
constexpr double kL3Speedup = 3;

// Returns how many sets of bytes the filters are: numbers of more planes than a row takes are two.
double WeightParts(const ByteRow& row, const Bconv2dSpec& spec) {
  return static_cast<double>(PlaneParts(spec.bits_weights, row.weight_planes).size());
}

double FilterBytes(const ByteRow& row, const Bconv2dSpec& spec) {
  return WeightParts(row, spec) * static_cast<double>(spec.out_channels * spec.depth());
}

double PlanesCycles(CpuFeatures cpu, const BgemmRow& row, const Bconv2dSpec& spec, bool one_pixel) {
  BgemmShape shape = ProductShape(spec);
  shape.one_pixel = one_pixel;
  const auto planes = static_cast<double>(spec.groups * spec.bits_in);
  return planes * BgemmCycles(cpu, row, shape, spec.bits_weights);
}

// Returns the cycles that one output pixel is expected to take, over all groups, in L1: in a full
// tile, or alone.
double BytesCycles(CpuFeatures cpu, const ByteRow& row, const Bconv2dSpec& spec, bool one_pixel) {
  const auto in_parts = static_cast<double>(PlaneParts(spec.bits_in, row.in_planes).size());
  const auto depth =
      static_cast<double>(RoundUp(static_cast<size_t>(spec.depth()), static_cast<size_t>(row.kr)));
  const auto columns = static_cast<double>(
      RoundUp(static_cast<size_t>(spec.group_out_channels()), static_cast<size_t>(row.nr)));
  const bool lines = ByteLines::Serve(spec, row);
  const bool has_one = row.macs_per_cycle_of_one > 0 && !cpu.has_two_multipliers();
  int macs = has_one ? row.macs_per_cycle_of_one : row.macs_per_cycle;
  if (one_pixel && has_one) macs = row.macs_per_cycle_of_pixel;
  double expanded = static_cast<double>(spec.bits_in * spec.in_channels);
  double calls = 0;
  if (!lines) {
    const int64_t runs = ProductShape(spec).runs;
    const bool are_together = spec.in_channels % static_cast<int64_t>(kWordBits) == 0;
    const int64_t expansions = are_together ? runs : spec.window.taps();
    calls = static_cast<double>(expansions) * kCyclesPerExpansion +
            static_cast<double>(runs) * kExpansionCyclesPerRun;
    expanded = static_cast<double>(spec.bits_in * spec.window.taps()) *
               static_cast<double>(spec.tap_words() * kWordBits);
  }
  const double expansion = expanded / row.expanded_per_cycle + calls;
  const double product =
      depth * columns / macs +
      static_cast<double>(lines ? row.cycles_per_tile : row.gather_cycles_per_tile) / row.mr;
  return static_cast<double>(spec.groups) *
         (expansion + in_parts * WeightParts(row, spec) * product);
}

}  // namespace

ProductChoice SelectProduct(CpuFeatures cpu, const Bconv2dSpec& spec, std::string_view forced,
                            bool one_pixel) {
  BgemmShape shape = ProductShape(spec);
  shape.one_pixel = one_pixel;
  ProductChoice choice;
  choice.planes = SelectBgemm(BgemmRows(), cpu, shape, forced).row;
  choice.bytes = CheapestRow(ByteRows(), cpu, forced, [&](const ByteRow& row) {
    return BytesCycles(cpu, row, spec, one_pixel);
  });
  if (choice.planes != nullptr) choice.cycles = PlanesCycles(cpu, *choice.planes, spec, one_pixel);
  double bytes_cycles = 0;
  if (choice.bytes != nullptr) bytes_cycles = BytesCycles(cpu, *choice.bytes, spec, one_pixel);
  if (one_pixel) {
    const double speedup = cpu.Has(Isa::kAvx2) && !cpu.has_two_multipliers() ? kL3Speedup : 1;
    if (choice.planes != nullptr) {
      choice.cycles += ReadCycles(static_cast<double>(spec.groups * spec.bits_weights) *
                                  PlaneBytes(*choice.planes, shape)) /
                       speedup;
    }
    if (choice.bytes != nullptr) {
      bytes_cycles += kBytesPixelCycles + ReadCycles(FilterBytes(*choice.bytes, spec)) / speedup;
    }
  } else if (choice.bytes != nullptr && FilterBytes(*choice.bytes, spec) > kBytesHeld) {
    bytes_cycles += FilterBytes(*choice.bytes, spec) / kBytesAwaitedPerCycle / choice.bytes->mr;
  }
  if (choice.planes != nullptr && choice.bytes != nullptr) {
    if (bytes_cycles < choice.cycles) {
      choice.planes = nullptr;
    } else {
      choice.bytes = nullptr;
    }
  }
  if (choice.bytes != nullptr) choice.cycles = bytes_cycles;
  if (choice.has_row()) return choice;
  choice.error = WhyNoKernel(forced, IsaOfKernel(forced), NamesOfKernels(cpu, ", "));
  return choice;
}

const Isa* IsaOfKernel(std::string_view name) {
  if (const BgemmRow* row = FindRow(BgemmRows(), name)) return &row->isa;
  if (const ByteRow* row = FindRow(ByteRows(), name)) return &row->isa;
  return nullptr;
}

CpuFeatures AllowedFeatures(CpuFeatures cpu, std::string_view forced) {
  if (forced == kAutoKernel) return cpu;
  if (forced == kReferenceKernel) return cpu.UpTo(Isa::kPortable);
  if (const Isa* isa = IsaOfKernel(forced)) return cpu.UpTo(*isa);
  throw std::invalid_argument("unknown kernel '" + std::string(forced) +
                              "'; expected one that SelectProduct accepts");
}

std::string NamesOfKernels(CpuFeatures cpu, std::string_view separator) {
  // Every CPU runs a row of each.
  return NamesOfRows(BgemmRows(), cpu, separator) + std::string(separator) +
         NamesOfRows(ByteRows(), cpu, separator);
}

}  // namespace larq_engine
