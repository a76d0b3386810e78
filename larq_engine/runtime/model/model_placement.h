// The placement of a model that runs without a host.
#ifndef LARQ_ENGINE_RUNTIME_MODEL_MODEL_PLACEMENT_H_
#define LARQ_ENGINE_RUNTIME_MODEL_MODEL_PLACEMENT_H_

#include <cstddef>
#include <memory>

#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/placement.h"

namespace larq_engine {

// Returns the options' placement or, if they have none, that of the file. Throws
// std::invalid_argument if it names an operator that the model does not have, or leaves one of the
// graph with a host.
std::shared_ptr<const Placement> FindPlacement(const ModelFile& file, size_t graph,
                                               const EngineOptions& options, const Engine& engine);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MODEL_MODEL_PLACEMENT_H_
