#include "larq_engine/runtime/plan/engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/plan.h"

namespace larq_engine {

Engine::Engine(const EngineOptions& options, std::vector<std::unique_ptr<Executor>> executors,
               Placement placement, std::function<void(Program&)> split)
    : fuse_(options.fuse),
      executors_(std::move(executors)),
      placement_(std::make_shared<const Placement>(std::move(placement))),
      split_(std::move(split)) {
  // An assignment chooses between the CPU and one other device.
  if (executors_.size() > kAssignDevices) {
    throw std::invalid_argument("larq_engine: expected the CPU and at most one other device, got " +
                                std::to_string(executors_.size()) + " devices");
  }
}

void Engine::Add(Plan* plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  plans_.push_back(plan);
}

void Engine::Remove(Plan* plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(plans_, plan);
  if (plans_.empty()) given_inputs_.clear();  // they belonged to the interpreter of these plans
}

void Engine::StartProfile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Plan* plan : plans_) plan->ClearProfile();
  profiling_.store(true, std::memory_order_relaxed);
}

std::vector<StepProfile> Engine::StopProfile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  profiling_.store(false, std::memory_order_relaxed);
  std::vector<StepProfile> steps;
  for (const Plan* plan : plans_) plan->AppendProfile(steps);
  std::stable_sort(steps.begin(), steps.end(), [](const StepProfile& a, const StepProfile& b) {
    return std::tie(a.subgraph, a.node) < std::tie(b.subgraph, b.node);
  });
  return steps;
}

std::vector<MemoryReport> Engine::Memory() const {
  std::vector<MemoryReport> reports;
  for (const auto& executor : executors_) {
    const DeviceMemory* memory = executor->memory();
    if (memory == nullptr) continue;
    reports.push_back({.device = executor->device(),
                       .weights = memory->Held(MemoryUse::kWeights),
                       .activations = memory->Held(MemoryUse::kActivations),
                       .staging = memory->StagingBytes()});
  }
  return reports;
}

void Engine::GiveInput(int tensor, const GivenInput& input) {
  DeviceMemory* memory = executors_.back()->memory();
  if (memory == nullptr) {
    throw OpError(input.is_on_device
                      ? "expected data in the host's memory, got a device's, and everything is "
                        "computed on the CPU; set the option device, or copy the data to the host"
                      : "expected data in the host's tensor, as everything is computed on the CPU");
  }
  if (input.data == nullptr) {
    memory->Wait();  // a run that failed may still read them
    given_inputs_.erase(tensor);
    return;
  }
  InputReaders readers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Plan* plan : plans_) plan->AddReaders(tensor, readers);
  }
  CheckReaders(readers, input);
  if (input.is_on_device) memory->AwaitMade(input.data, input.bytes);
  given_inputs_[tensor] = input;
}

void Engine::CheckReaders(const InputReaders& readers, const GivenInput& input) const {
  if (!readers.on_device || readers.on_host) {
    throw OpError(input.is_on_device
                      ? std::string("expected data in the host's memory, where an operator reads "
                                    "them, got data in that of ") +
                            executors_.back()->device() + "; copy them to the host"
                      : "expected data in the host's tensor, where an operator reads them");
  }
  if (readers.bytes != input.bytes) {
    throw OpError("expected " + std::to_string(readers.bytes) + " bytes of data, got " +
                  std::to_string(input.bytes));
  }
}

void Engine::CheckGivenInputs(const Plan& plan) const {
  for (const auto& [tensor, input] : given_inputs_) {
    InputReaders readers;
    plan.AddReaders(tensor, readers);
    if (!readers.on_device && !readers.on_host) continue;
    try {
      CheckReaders(readers, input);
    } catch (const OpError& e) {
      throw OpError("larq_engine: given input #" + std::to_string(tensor) + ": " + e.what() +
                    "; give it again after tensors were allocated");
    }
  }
}

const GivenInput* Engine::FindGivenInput(int tensor) const {
  const auto found = given_inputs_.find(tensor);
  return found == given_inputs_.end() ? nullptr : &found->second;
}

}  // namespace larq_engine
