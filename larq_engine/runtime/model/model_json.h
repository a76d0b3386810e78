// The parts of a model as JSON, for programs in other languages.
#ifndef LARQ_ENGINE_RUNTIME_MODEL_MODEL_JSON_H_
#define LARQ_ENGINE_RUNTIME_MODEL_MODEL_JSON_H_

#include <string>

#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/model/model.h"

namespace larq_engine {

// See larq_engine_model_signatures and larq_engine_model_graph.
std::string SignaturesJson(const ModelFile& file);
std::string GraphJson(const Model& model);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MODEL_MODEL_JSON_H_
