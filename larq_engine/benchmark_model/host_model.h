// A model in LiteRT. Its operators are first offered to the engine and then to XNNPACK.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/benchmark_model/host_messages.h"
#include "larq_engine/benchmark_model/host_plan.h"
#include "larq_engine/benchmark_model/host_times.h"
#include "larq_engine/benchmark_model/litert_library.h"

struct TfLiteDelegate;

namespace larq_engine {

struct HostTensor {
  std::string name;
  LiteRtElementType type;
  std::vector<int32_t> dims;
  size_t bytes;
};

// All functions throw ModelError with the host's reason. While a model lives, standard error
// belongs to the host.
class HostModel {
 public:
  // Makes LiteRT's environment. The delegate and the reader must outlive the model. With a reader,
  // LiteRT's profiler can be started.
  HostModel(const LiteRtLibrary& library, TfLiteDelegate* engine, HostPlanReader* reader = nullptr);
  ~HostModel();
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  // `file` must outlive the model.
  void Load(std::span<const uint8_t> file);
  void Compile(int num_threads);

  // Tensors of the first signature. They are known once the model is compiled.
  const std::vector<HostTensor>& inputs() const { return inputs_; }
  const std::vector<HostTensor>& outputs() const { return outputs_; }

  // `data` must have the input's size.
  void SetInput(size_t input, std::span<const uint8_t> data);
  void Run();
  // Runs once with LiteRT's profiler on.
  std::vector<HostEntry> RunWithProfiler();
  std::vector<uint8_t> Output(size_t output);

 private:
  void Register(const LiteRtAcceleratorDef& functions);
  LiteRtOptions MakeOptions(int num_threads);
  void AddOptions(LiteRtOptions options, const char* identifier, const std::string& text);
  void DescribeInputs(LiteRtSignature signature);
  void DescribeOutputs(LiteRtSignature signature);
  HostTensor Describe(const char* name, LiteRtTensor tensor, const LiteRtLayout& layout);
  void CheckMemory();
  LiteRtTensorBuffer MakeBuffer(const HostTensor& tensor, LiteRtTensorBufferRequirements needs);
  void* Lock(LiteRtTensorBuffer buffer, LiteRtTensorBufferLockMode mode);
  // Throws ModelError that LiteRT could not do `task`, if `status` says so.
  void Check(LiteRtStatus status, std::string_view task);

  const LiteRtLibrary& library_;
  const bool has_profiler_;
  HostMessages messages_;
  LiteRtEnvironment environment_ = nullptr;
  LiteRtModel model_ = nullptr;
  LiteRtCompiledModel compiled_ = nullptr;
  std::vector<HostTensor> inputs_;
  std::vector<HostTensor> outputs_;
  std::vector<LiteRtTensorBuffer> input_buffers_;
  std::vector<LiteRtTensorBuffer> output_buffers_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_MODEL_H_
