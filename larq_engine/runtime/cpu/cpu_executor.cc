#include "larq_engine/runtime/cpu/cpu_executor.h"

#include <algorithm>

#include "larq_engine/kernels/pixel_ops_table.h"
#include "larq_engine/runtime/cpu/cpu_segment.h"
#include "larq_engine/runtime/cpu/usable_cpus.h"

namespace larq_engine {

CpuExecutor::CpuExecutor(const EngineOptions& options)
    : kernels_{.kernel = options.kernel,
               .pixel_ops = SelectPixelOps(DetectCpuFeatures(), options.kernel)},
      fuse_(options.fuse),
      num_threads_(options.num_threads) {}

// Estimates, for one core of a server: this many products, and bytes read and written, a second.
double CpuExecutor::Seconds(const Program& program, const ProgramOp& op) const {
  constexpr double kMacsPerSecond = 1e12;
  constexpr double kBytesPerSecond = 1e10;
  double bytes = static_cast<double>(program.value(op.output).bytes);
  for (size_t input : op.inputs) bytes += static_cast<double>(program.value(input).bytes);
  const auto macs = static_cast<double>(Macs(*op.op, program.value(op.output).shape));
  return macs / kMacsPerSecond + bytes / kBytesPerSecond;
}

std::unique_ptr<Segment> CpuExecutor::Compile(const Program& program, std::span<const size_t> ops,
                                              const std::vector<bool>& is_shared) {
  return std::make_unique<CpuSegment>(*this, program, ops, is_shared);
}

ThreadPool& CpuExecutor::Threads(int host_threads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_ == nullptr) {
    // More than there are CPUs would only wait for each other.
    const int most = std::min(kMaxThreads, UsableCpus());
    const int threads = num_threads_ > 0 ? num_threads_ : host_threads;
    threads_ = std::make_unique<ThreadPool>(std::clamp(threads, 1, most));
  }
  return *threads_;
}

}  // namespace larq_engine
