// The operators of a plan's part on a GPU, with their launches for each of the latest shapes.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_

#include <list>
#include <memory>
#include <vector>

#include "larq_engine/runtime/cuda/cuda_executor.h"
#include "larq_engine/runtime/cuda/device_constants.h"
#include "larq_engine/runtime/cuda/shaped_launches.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CudaSegment : public Segment {
 public:
  CudaSegment(CudaExecutor& executor, const Program& program, std::span<const size_t> ops,
              const std::vector<bool>& is_shared);

  void Resize(int host_threads) override;
  void Run(const SegmentRun& run) override { shaped_.front().launches->Run(run); }
  void ClearProfile() override;
  void AppendProfile(std::vector<StepProfile>& steps) const override {
    shaped_.front().launches->AppendProfile(steps);
  }

 private:
  using Shapes = std::vector<std::vector<int>>;  // of all values of the program

  struct Shaped {
    Shapes shapes;
    std::unique_ptr<ShapedLaunches> launches;
  };

  CudaExecutor& executor_;
  const Program& program_;
  const std::vector<bool>& is_shared_;
  std::vector<size_t> ops_;
  DeviceConstants constants_;
  std::list<Shaped> shaped_;  // the latest first
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_
