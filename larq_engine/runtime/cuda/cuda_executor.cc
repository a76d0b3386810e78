#include "larq_engine/runtime/cuda/cuda_executor.h"

#include <algorithm>

#include "larq_engine/runtime/cuda/cuda_segment.h"

namespace larq_engine {
namespace {

// Windows that reach farther would need more than 32 bits for where their taps are.
constexpr int64_t kMostReach = int64_t{1} << 24;

bool ReachesTooFar(int64_t taps, int64_t dilation, int64_t stride, const AxisPadding& padding) {
  return taps > kMostReach / dilation || stride > kMostReach ||
         std::max(padding.before, padding.after) > kMostReach;
}

}  // namespace

CudaExecutor::CudaExecutor(std::shared_ptr<CudaDevice> device, const EngineOptions& options)
    : name_("cuda" + (options.cuda_ordinal == 0 ? "" : ":" + std::to_string(options.cuda_ordinal))),
      kernel_(options.cuda_kernel),
      fuse_(options.fuse),
      queue_(std::move(device)),
      memory_(queue_) {}

std::string CudaExecutor::Refusal(const ProgramOp& op) const {
  const auto window = [](bool too_far) {
    return too_far ? "its window reaches farther than " + std::to_string(kMostReach) + " pixels"
                   : std::string();
  };
  if (const auto* conv = std::get_if<Bconv2dOp>(op.op.get())) {
    const Bconv2dSpec& spec = conv->spec;
    return window(
        ReachesTooFar(spec.filter_height, spec.dilation_height, spec.stride_height,
                      spec.pad_height) ||
        ReachesTooFar(spec.filter_width, spec.dilation_width, spec.stride_width, spec.pad_width));
  }
  if (const auto* pool = std::get_if<MaxPool2dOp>(op.op.get())) {
    const PoolWindow& w = pool->window;
    return window(ReachesTooFar(w.filter_height, 1, w.stride_height, {}) ||
                  ReachesTooFar(w.filter_width, 1, w.stride_width, {}));
  }
  return "";
}

// Floors of an NVIDIA H200: a node of a graph, b1 products on tensor cores at half their rate, and
// memory.
double CudaExecutor::Seconds(const Program& program, const ProgramOp& op, int) const {
  constexpr double kLaunch = 1.7e-6;
  constexpr double kMacsPerSecond = 2.3e15;
  constexpr double kBytesPerSecond = 4.3e12;
  double bytes = static_cast<double>(program.value(op.output).bytes);
  for (size_t input : op.inputs) bytes += static_cast<double>(program.value(input).bytes);
  const auto macs = static_cast<double>(Macs(*op.op, program.value(op.output).shape));
  return kLaunch + std::max(macs / kMacsPerSecond, bytes / kBytesPerSecond);
}

std::unique_ptr<Segment> CudaExecutor::Compile(const Program& program, std::span<const size_t> ops,
                                               const std::vector<bool>& is_shared) {
  return std::make_unique<CudaSegment>(*this, program, ops, is_shared);
}

}  // namespace larq_engine
