// Keras' name for the layer that an operator belongs to, for errors and profiles.
#ifndef LARQ_ENGINE_RUNTIME_OPS_LAYER_NAME_H_
#define LARQ_ENGINE_RUNTIME_OPS_LAYER_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace larq_engine {

// Finds the layer in the names of an operator's output and constants; returns the output's name if
// they do not tell. In files that our converter wrote, a name is "layer:OPERATOR", and a constant's
// name is used if the output is an output of the model. Other names are TensorFlow's: operators
// within scopes. converter/layer_names.py reads names in the same way:
// tests/converter/test_names.py holds both to the same words, and tests/common/layer_names.txt to
// the same layers.
std::string LayerName(std::string_view output, std::span<const std::string_view> constants);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_LAYER_NAME_H_
