#include "larq_engine/runtime/executors.h"

#include "larq_engine/runtime/cpu/cpu_executor.h"

namespace larq_engine {

std::shared_ptr<Engine> MakeEngine(const EngineOptions& options) {
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<CpuExecutor>(options));
  return std::make_shared<Engine>(options, std::move(executors));
}

}  // namespace larq_engine
