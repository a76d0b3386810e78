// The list of all devices. Their names are known only here and in the options.
#ifndef LARQ_ENGINE_RUNTIME_EXECUTORS_H_
#define LARQ_ENGINE_RUNTIME_EXECUTORS_H_

#include <memory>
#include <span>
#include <string>

#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {

// Makes an engine with the devices that the options ask for.
std::shared_ptr<Engine> MakeEngine(const EngineOptions& options);

// Translates the option into the placement of an engine that has these devices.
Placement MakePlacement(const PlacementOption& option, DeviceOption device,
                        std::span<const std::unique_ptr<Executor>> executors);

// See larq_engine_devices.
std::string DescribeDevices();

// See larq_engine_usable_cpus.
int CountUsableCpus();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_EXECUTORS_H_
