#include "larq_engine/runtime/cuda/cuda_executor.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/cuda/pixels_args.h"
#include "larq_engine/runtime/cuda/cuda_segment.h"
#include "larq_engine/runtime/cuda/expected_seconds.h"
#include "larq_engine/runtime/ops/tensor_info.h"
#include "larq_engine/runtime/ops/window_checks.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {
namespace {

// Returns the number of threads that copy on the host's side. kMost cores copy as fast as PCIe 5
// x16 transfers. A host that does not say how many threads it allows gets the calling thread only.
int CopyThreads(const EngineOptions& options) {
  constexpr int kMost = 6;
  return std::min({std::max(options.num_threads, 1), kMost, UsableCpus()});
}

}  // namespace

CudaExecutor::CudaExecutor(std::shared_ptr<CudaDevice> device, const EngineOptions& options)
    : name_("cuda" + (options.ordinal == 0 ? "" : ":" + std::to_string(options.ordinal))),
      kernel_(options.cuda_kernel),
      fuse_(options.fuse),
      queue_(std::move(device)),
      memory_(queue_, CopyThreads(options), options.spin) {}

std::string CudaExecutor::Refusal(const Program& program, const ProgramOp& op) const {
  const auto refusal = [](const Window2d& window) {
    return ReachesLittle(window)
               ? std::string()
               : "its window reaches farther than " + std::to_string(kLittleReach) + " pixels";
  };
  if (std::holds_alternative<Int8Conv2dOp>(*op.op)) return "it is on int8";
  const bool has_kernels =
      std::visit([]<typename T>(const T&) { return LaunchMaker::HasKernels<T>(); }, *op.op);
  if (!has_kernels) return "it has no kernels for GPUs";
  if (const auto* quantize = std::get_if<QuantizeOp>(op.op.get())) {
    // Kernels count the limits in 32 bits.
    constexpr int64_t kMostLimits = std::numeric_limits<uint32_t>::max();
    const int64_t channels = program.value(op.inputs[0]).shape.dims.back();
    if (!quantize->plane_limits.empty() &&
        LargestOf(quantize->bits) > kMostLimits / std::max<int64_t>(1, channels)) {
      return "it has more than " + std::to_string(kMostLimits) + " limits";
    }
  }
  if (const auto* conv = std::get_if<Bconv2dOp>(op.op.get())) {
    return refusal(conv->spec.window);
  }
  if (const auto* pool = std::get_if<MaxPool2dOp>(op.op.get())) {
    return refusal(pool->window);
  }
  if (const auto* conv = std::get_if<Conv2dOp>(op.op.get());
      conv != nullptr && (conv->spec.groups > 1 || conv->spec.window.IsDilated())) {
    return "it is dilated or in groups";
  }
  if (const auto* binary = std::get_if<BinaryOp>(op.op.get())) {
    const std::vector<int>& result = program.value(op.output).shape.dims;
    if (result.size() > cuda::kMaxBroadcastDims && !binary->IsAlike(program.InputShapes(op))) {
      return "its inputs of unlike shapes have more than " +
             std::to_string(cuda::kMaxBroadcastDims) + " dimensions: " + DimsString(result);
    }
  }
  return "";
}

std::vector<double> CudaExecutor::Seconds(const Program& program, std::span<const size_t> ops,
                                          int) const {
  return OpSeconds(program, ops, queue_.device().chip(), fuse_, kernel_);
}

std::unique_ptr<Segment> CudaExecutor::Compile(const Program& program, std::span<const size_t> ops,
                                               const std::vector<bool>& is_shared) {
  return std::make_unique<CudaSegment>(*this, program, ops, is_shared);
}

}  // namespace larq_engine
