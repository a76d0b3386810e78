// A model in LiteRT. Its operators are first offered to the engine and then to XNNPACK.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/benchmark_model/engine.h"
#include "larq_engine/benchmark_model/host_messages.h"
#include "larq_engine/benchmark_model/host_plan.h"
#include "larq_engine/benchmark_model/host_times.h"
#include "larq_engine/benchmark_model/litert_library.h"
#include "larq_engine/benchmark_model/timed_model.h"

namespace larq_engine {

// While a model lives, standard error belongs to the host.
class HostModel : public TimedModel {
 public:
  // Makes LiteRT's environment. The engine and the reader must outlive the model. With a reader,
  // LiteRT's profiler can be started.
  HostModel(const LiteRtLibrary& library, BenchmarkedEngine& engine,
            HostPlanReader* reader = nullptr);
  ~HostModel() override;
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  void Load(std::span<const uint8_t> file) override;
  void Compile() override;
  void SetInput(size_t input, std::span<const uint8_t> data) override;
  void Run() override;
  std::vector<uint8_t> Output(size_t output) override;
  void StartProfile() override { engine_.StartProfile(); }
  std::vector<StepProfile> StopProfile() override { return engine_.StopProfile(); }
  std::vector<MemoryReport> DeviceMemory() const override { return engine_.DeviceMemory(); }

  // Runs once with LiteRT's profiler on.
  std::vector<HostEntry> RunWithProfiler();

 private:
  void Register(const LiteRtAcceleratorDef& functions);
  LiteRtOptions MakeOptions();
  void AddOptions(LiteRtOptions options, const char* identifier, const std::string& text);
  void DescribeInputs(LiteRtSignature signature);
  void DescribeOutputs(LiteRtSignature signature);
  ModelTensor Describe(const char* name, LiteRtTensor tensor, const LiteRtLayout& layout);
  LiteRtTensorBuffer MakeBuffer(const ModelTensor& tensor, LiteRtTensorBufferRequirements needs);
  void* Lock(LiteRtTensorBuffer buffer, LiteRtTensorBufferLockMode mode);
  // Throws ModelError that LiteRT could not do `task`, if `status` says so.
  void Check(LiteRtStatus status, std::string_view task);

  const LiteRtLibrary& library_;
  BenchmarkedEngine& engine_;
  const bool has_profiler_;
  HostMessages messages_;
  LiteRtEnvironment environment_ = nullptr;
  LiteRtModel model_ = nullptr;
  LiteRtCompiledModel compiled_ = nullptr;
  std::vector<LiteRtTensorBuffer> input_buffers_;
  std::vector<LiteRtTensorBuffer> output_buffers_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_
