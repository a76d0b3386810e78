// A model that the engine computes by itself.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_MODEL_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/timed_model.h"
#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/model/model.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {

class EngineModel : public TimedModel {
 public:
  // Makes the engine. Throws UsageError if an option is unknown.
  explicit EngineModel(const Flags& flags);

  // Throws NotComputedError, which names the operators, if the engine does not compute the model or
  // the placement leaves an operator to a host.
  void Load(std::span<const uint8_t> file) override;
  void Compile() override;

  void SetInput(size_t input, std::span<const uint8_t> data) override;
  void Run() override;
  std::vector<uint8_t> Output(size_t output) override;
  void StartProfile() override { engine_->StartProfile(); }
  std::vector<StepProfile> StopProfile() override { return engine_->StopProfile(); }
  std::vector<MemoryReport> DeviceMemory() const override { return engine_->Memory(); }

 private:
  std::vector<ModelTensor> Describe(std::span<const int> tensors,
                                    const std::vector<FileName> FileSignature::*names) const;

  EngineOptions options_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<Model> model_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_ENGINE_MODEL_H_
