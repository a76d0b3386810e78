// The devices that there are: the only place, with the options, where their names stand.
#ifndef LARQ_ENGINE_RUNTIME_EXECUTORS_H_
#define LARQ_ENGINE_RUNTIME_EXECUTORS_H_

#include <memory>
#include <string>

#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {

// An engine with the devices that the options ask for.
std::shared_ptr<Engine> MakeEngine(const EngineOptions& options);

// What the option says for an engine with so many devices.
Placement MakePlacement(const PlacementOption& option, DeviceOption device, size_t devices);

// See larq_engine_devices.
std::string DescribeDevices();

// See larq_engine_usable_cpus.
int CountUsableCpus();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_EXECUTORS_H_
