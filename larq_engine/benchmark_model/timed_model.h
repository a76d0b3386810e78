// A model that is run and timed, in whatever computes it.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_TIMED_MODEL_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_TIMED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/litert_abi.h"
#include "larq_engine/runtime/memory_report.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// An input or output. Its name is that of the file's first signature.
struct ModelTensor {
  std::string name;
  LiteRtElementType type;
  std::vector<int32_t> dims;
  size_t bytes;
};

// All functions throw ModelError with the reason.
class TimedModel {
 public:
  virtual ~TimedModel() = default;

  // Checks and reads the model. `file` must outlive it.
  virtual void Load(std::span<const uint8_t> file) = 0;
  virtual void Compile() = 0;

  // Tensors of the first signature. They are known once the model is compiled.
  const std::vector<ModelTensor>& inputs() const { return inputs_; }
  const std::vector<ModelTensor>& outputs() const { return outputs_; }

  // `data` must have the input's size.
  virtual void SetInput(size_t input, std::span<const uint8_t> data) = 0;
  virtual void Run() = 0;
  virtual std::vector<uint8_t> Output(size_t output) = 0;

  // Times the engine's operators, until it is stopped.
  virtual void StartProfile() = 0;
  virtual std::vector<StepProfile> StopProfile() = 0;

  // Returns the memory that the engine's plans hold on devices with memory of their own.
  virtual std::vector<MemoryReport> DeviceMemory() const = 0;

 protected:
  // Throws if inputs and outputs exceed the machine's memory. A corrupted shape may ask for that,
  // and the system grants memory that it does not have and ends the program later.
  void CheckMemory() const;

  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
};

// Replaces names by numbers if any name is missing or not unique, like the Python package.
void MakeNamesUnique(std::vector<ModelTensor>& tensors);

// Gives all inputs made-up data, the same on every machine.
void SetRandomInputs(TimedModel& model);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_TIMED_MODEL_H_
