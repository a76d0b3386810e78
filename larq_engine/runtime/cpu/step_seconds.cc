#include "larq_engine/runtime/cpu/step_seconds.h"

#include "larq_engine/kernels/bytes/select.h"
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/floats/table.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/signed_sums/select.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// Speed of one core in a server or laptop of today. A process cannot know the clock that it will
// get.
constexpr double kClock = 3e9;
constexpr double kBytesPerSecond = 1e10;

// The reference computes one product after the other.
constexpr double kReferenceMacsPerCycle = 1;

double ProductCycles(const Bconv2dOp& conv, const TensorShape& output, const StepCpu& cpu) {
  if (cpu.kernel != kReferenceKernel) {
    const int64_t pixels = CountElements(output.dims, 3);
    // An output of one column has an input of one column if the stride is 1.
    const Bconv2dSpec spec =
        IsColumn(conv.spec, output.dims[2]) ? Transposed(conv.spec) : conv.spec;
    const ProductChoice choice = SelectProduct(cpu.features, spec, cpu.kernel, pixels == 1);
    if (choice.has_row()) return static_cast<double>(pixels) * choice.cycles;
  }
  return static_cast<double>(conv.Macs(output)) / kReferenceMacsPerCycle;
}

// With AVX-512 a row of 4096 floats to 4096 takes 0.168 ms (docs/lab.md). Other rows were
// not measured; they are assumed to need twice as long.
double SignedSumsCycles(const SignedDenseOp& dense, const TensorShape& output, const StepCpu& cpu) {
  const Isa isa = SelectSignedSums(AllowedFeatures(cpu.features, cpu.kernel)).isa;
  const double macs_per_cycle = isa == Isa::kPortable   ? kReferenceMacsPerCycle
                                : isa == Isa::kAvx512bw ? 32
                                                        : 16;
  const double macs = static_cast<double>(CountElements(output.dims, output.dims.size())) *
                      static_cast<double>(dense.shape.depth);
  return macs / macs_per_cycle;
}

double FloatConvCycles(const FloatConv2dSpec& spec, int64_t pixels, const StepCpu& cpu) {
  const FloatRow& row = SelectFloats(AllowedFeatures(cpu.features, cpu.kernel));
  return static_cast<double>(pixels) *
         FloatCycles(row, spec.has_multiplier() ? spec.InGroups() : spec);
}

// Cycles for each value of a softmax or a logistic function. A softmax of 1000 values takes 0.6 us
// with AVX-512, 0.9 us with AVX2 and 2 us with SSE2 on a Zen 4.
constexpr double kExponentialCycles = 3;

}  // namespace

double StepSeconds(const Op& op, const TensorShape& output, size_t bytes, const StepCpu& cpu) {
  double cycles = 0;
  if (const auto* conv = std::get_if<Bconv2dOp>(&op)) cycles = ProductCycles(*conv, output, cpu);
  if (const auto* conv = std::get_if<Int8Conv2dOp>(&op)) {
    const ByteRow& row =
        SelectInt8(AllowedFeatures(cpu.features, cpu.kernel), conv->spec, cpu.kernel);
    cycles = static_cast<double>(CountElements(output.dims, 3)) * Int8Cycles(row, conv->spec);
  }
  if (const auto* conv = std::get_if<Conv2dOp>(&op)) {
    cycles = FloatConvCycles(conv->spec, CountElements(output.dims, 3), cpu);
  }
  if (const auto* dense = std::get_if<DenseOp>(&op)) {
    // Reading the weights takes longer than the products of a row. A gate's stay in the cache.
    const int64_t weights = int64_t{dense->depth} * dense->units;
    if (!dense->HasFewWeights()) bytes += static_cast<size_t>(weights) * sizeof(float);
    cycles = FloatConvCycles({.in_channels = dense->depth, .out_channels = dense->units},
                             CountPixels(output.dims), cpu);
  }
  if (std::holds_alternative<SoftmaxOp>(op) || std::holds_alternative<UnaryOp>(op)) {
    cycles =
        kExponentialCycles * static_cast<double>(CountElements(output.dims, output.dims.size()));
  }
  if (const auto* dense = std::get_if<SignedDenseOp>(&op)) {
    cycles = SignedSumsCycles(*dense, output, cpu);
  }
  const double seconds = cycles / kClock + static_cast<double>(bytes) / kBytesPerSecond;
  return seconds / cpu.threads;
}

}  // namespace larq_engine
