// Runs a layer on the emulated GPU, by one row and in one order of threads, against the reference.
// It uses no test framework, so that it can also be compiled with a kernel that is broken on
// purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/output_transform.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/emulated_gpu.h"
#include "tests/common/guarded_buffer.h"

namespace larq_engine::testing {

// The part of the layers (one in kShare) that run under a sanitizer, which is slow.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kShare = 10;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kShare = 5;
#else
inline constexpr int kShare = 1;
#endif

// The operators that are fused behind a float output.
enum class Fused { kNothing, kBatchNorm, kResidual, kBitsOnly, kLevels, kSum };

// The steps of Fused::kSum that a layer has, and the outputs that are written.
struct SumSteps {
  bool activation = true;
  bool product = true;
  bool sum = true;
  bool sum_out = true;
  bool residual = true;
  bool out = true;
  bool bits = true;
  bool limits = true;  // for the bits
  bool clamps = true;  // for product, sum and residual sum
};

struct GpuLayer {
  Bconv2dSpec spec;
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  Activation activation = Activation::kNone;
  OutputKind kind = OutputKind::kFloat;
  Fused fused = Fused::kNothing;
  int64_t level_bits = 2;  // for kLevels: the bits of each number
  SumSteps steps = {};     // for kSum
  // Tells whether the kernel uses the epilogue for any output even if there is a shorter one.
  bool by_any_epilogue = false;
};

std::string Describe(const GpuLayer& layer);

// Returns random steps, with at least one output.
SumSteps RandomSteps(std::mt19937_64& random);

// Returns a small random layer of any kind.
GpuLayer RandomLayer(std::mt19937_64& random);

// Returns arguments with only the sizes and the kind of the layer: enough to ask a row about it.
cuda::Bconv2dArgs ShapeOf(const GpuLayer& layer);

// The device that holds a case's operands and runs its kernel.
class CaseDevice {
 public:
  virtual ~CaseDevice() = default;

  // Returns a copy of an operand that lives as long as the device.
  virtual const void* Hold(std::span<const unsigned char> bytes) = 0;
  // Returns memory for an output, full of rubbish.
  virtual unsigned char* Output(size_t bytes) = 0;
  virtual void Launch(const cuda::Bconv2dRow& row, const cuda::Bconv2dArgs& args) = 0;
  // Returns the contents of an output after the launch.
  virtual std::vector<unsigned char> Read(const unsigned char* output, size_t bytes) = 0;
};

// A device whose operands end where no one may read, and whose outputs end where no one may write.
class GuardedDevice : public CaseDevice {
 public:
  const void* Hold(std::span<const unsigned char> bytes) override;
  unsigned char* Output(size_t bytes) override;
  std::vector<unsigned char> Read(const unsigned char* output, size_t bytes) override;

 protected:
  std::vector<std::unique_ptr<GuardedBuffer<unsigned char>>> buffers_;
};

// A layer with random operands, and the results of the reference.
class GpuCase {
 public:
  GpuCase(const GpuLayer& layer, std::mt19937_64& random);

  // Returns an empty string if every byte of every output is as expected, or else the first
  // difference.
  std::string Run(const cuda::Bconv2dRow& row, CaseDevice& device) const;
  // Does the same on the emulated GPU.
  std::string Run(const cuda::Bconv2dRow& row, const emulated_gpu::Options& options,
                  emulated_gpu::Counters* counters = nullptr) const;

 private:
  // The contents of one output of the kernel.
  using Bytes = std::vector<unsigned char>;

  GpuLayer layer_;
  OutputTransform transform_;
  std::vector<uint32_t> image_;
  std::vector<uint32_t> filter_;  // in the layout of model files
  std::vector<float> channel_values_[3];
  std::vector<uint32_t> channel_signs_;
  std::vector<float> residual_;      // [pixels][channels]
  std::vector<float> level_limits_;  // in the layout of PixelProgram::limits
  // The outputs: int8, or floats and the tensors that steps store; bits come last.
  std::vector<Bytes> expected_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_
