// A layer on the emulated GPU against the reference: one row, one order of threads. Without a test
// framework, so that it can also be compiled with a kernel that is broken on purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/emulated_gpu.h"
#include "larq_engine/kernels/output_transform.h"
#include "tests/common/guarded_buffer.h"

namespace larq_engine::testing {

// Sanitizers take a share of the layers: they look at what one run does.
#if defined(__SANITIZE_THREAD__)
inline constexpr int kShare = 10;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int kShare = 5;
#else
inline constexpr int kShare = 1;
#endif

// What follows a float output in the same kernel.
enum class Fused { kNothing, kBatchNorm, kResidual, kBitsOnly, kLevels, kSum };

// The steps of Fused::kSum, any of them, and what is written.
struct SumSteps {
  bool activation = true;
  bool product = true;
  bool sum = true;
  bool sum_out = true;
  bool residual = true;
  bool out = true;
  bool bits = true;
  bool limits = true;  // of the bits
  bool clamps = true;  // product, sum and residual sum
};

struct GpuLayer {
  Bconv2dSpec spec;
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  Activation activation = Activation::kNone;
  OutputKind kind = OutputKind::kFloat;
  Fused fused = Fused::kNothing;
  int64_t level_bits = 2;  // of kLevels, which are bits of numbers
  SumSteps steps = {};     // of kSum
  // Whether the kernel makes the output by the epilogue for any output, where it has a shorter one.
  bool by_any_epilogue = false;
};

std::string Describe(const GpuLayer& layer);

// Some of the steps, such that something is written.
SumSteps RandomSteps(std::mt19937_64& random);

// A small layer of any kind.
GpuLayer RandomLayer(std::mt19937_64& random);

// Sizes and the layer's kind alone: what a row can be asked about.
cuda::Bconv2dArgs ShapeOf(const GpuLayer& layer);

// Where a case's operands lie and its kernel runs.
class CaseDevice {
 public:
  virtual ~CaseDevice() = default;

  // A copy of an operand, as long as the device lives.
  virtual const void* Hold(std::span<const unsigned char> bytes) = 0;
  // Memory for an output, full of rubbish.
  virtual unsigned char* Output(size_t bytes) = 0;
  virtual void Launch(const cuda::Bconv2dRow& row, const cuda::Bconv2dArgs& args) = 0;
  // What an output is after the launch.
  virtual std::vector<unsigned char> Read(const unsigned char* output, size_t bytes) = 0;
};

// Copies of operands that end where nobody may read, and outputs that end where nobody may write.
class GuardedDevice : public CaseDevice {
 public:
  const void* Hold(std::span<const unsigned char> bytes) override;
  unsigned char* Output(size_t bytes) override;
  std::vector<unsigned char> Read(const unsigned char* output, size_t bytes) override;

 protected:
  std::vector<std::unique_ptr<GuardedBuffer<unsigned char>>> buffers_;
};

// A layer with random operands, and what the reference makes of them.
class GpuCase {
 public:
  GpuCase(const GpuLayer& layer, std::mt19937_64& random);

  // Empty if every byte of every output is as expected, else what differs first.
  std::string Run(const cuda::Bconv2dRow& row, CaseDevice& device) const;
  // On the emulated GPU.
  std::string Run(const cuda::Bconv2dRow& row, const emulated_gpu::Options& options,
                  emulated_gpu::Counters* counters = nullptr) const;

 private:
  // Of one output of the kernel.
  using Bytes = std::vector<unsigned char>;

  GpuLayer layer_;
  OutputTransform transform_;
  std::vector<uint32_t> image_;
  std::vector<uint32_t> filter_;  // as files have it
  std::vector<float> channel_values_[3];
  std::vector<uint32_t> channel_signs_;
  std::vector<float> residual_;      // [pixels][channels]
  std::vector<float> level_limits_;  // as PixelProgram has limits
  // int8, or floats and what steps store; bits come last.
  std::vector<Bytes> expected_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_BCONV2D_CASE_H_
