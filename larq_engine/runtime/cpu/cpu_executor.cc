#include "larq_engine/runtime/cpu/cpu_executor.h"

#include <algorithm>

#include "larq_engine/kernels/bytes/select.h"
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/kernels/signed_sums/select.h"
#include "larq_engine/runtime/cpu/cpu_segment.h"
#include "larq_engine/runtime/cpu/step_seconds.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {

CpuExecutor::CpuExecutor(const EngineOptions& options)
    : kernels_{.kernel = options.kernel,
               .pixel_ops = SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), options.kernel))},
      fuse_(options.fuse),
      num_threads_(options.num_threads),
      spin_(options.spin) {}

StepKernels CpuExecutor::KernelsFor(const ProgramOp& op) const {
  if (!op.place || op.place->kernel.empty()) return kernels_;
  return {.kernel = op.place->kernel,
          .pixel_ops = SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), op.place->kernel))};
}

std::vector<double> CpuExecutor::Seconds(const Program& program, std::span<const size_t> ops,
                                         int host_threads) const {
  std::vector<double> seconds;
  for (size_t index : ops) {
    const ProgramOp& op = program.op(index);
    const StepKernels kernels = KernelsFor(op);
    const Value& output = program.value(op.output);
    size_t bytes = output.bytes;
    for (size_t input : op.inputs) bytes += program.value(input).bytes;
    seconds.push_back(StepSeconds(*op.op, output.shape, bytes,
                                  {.features = DetectCpuFeatures(),
                                   .kernel = kernels.kernel,
                                   .threads = ThreadCount(host_threads)}));
  }
  return seconds;
}

// A kernel that is forced does not count, because the host's floats differ from ours.
HostComparison CpuExecutor::CompareWithHost(const KnownOp& row, const OpInfo& op) const {
  if (row.is_hosts_on_cpu != nullptr && row.is_hosts_on_cpu(op)) return HostComparison::kCannot;
  if (row.form == OpForm::kWeightBits) {
    const bool is_faster =
        PrefersSignedSums(SelectSignedSums(DetectCpuFeatures()), SignedDenseOp::Size(op));
    return is_faster ? HostComparison::kFaster : HostComparison::kSlower;
  }
  if (row.form == OpForm::kInt8) {
    const Int8Conv2dSpec spec = Int8Conv2dOp::Spec(op);
    const bool is_faster = PrefersInt8(SelectInt8(DetectCpuFeatures(), spec, kAutoKernel), spec);
    return is_faster ? HostComparison::kFaster : HostComparison::kSlower;
  }
  const bool is_slow = row.is_float_conv && !PrefersFloats(SelectFloats(DetectCpuFeatures()));
  return is_slow ? HostComparison::kSlower : HostComparison::kAsFast;
}

std::unique_ptr<Segment> CpuExecutor::Compile(const Program& program, std::span<const size_t> ops,
                                              const std::vector<bool>& is_shared) {
  return std::make_unique<CpuSegment>(*this, program, ops, is_shared);
}

int CpuExecutor::ThreadCount(int host_threads) const {
  // Threads beyond the number of CPUs would only wait for each other.
  const int most = std::min(kMaxThreads, UsableCpus());
  return std::clamp(num_threads_ > 0 ? num_threads_ : host_threads, 1, most);
}

}  // namespace larq_engine
