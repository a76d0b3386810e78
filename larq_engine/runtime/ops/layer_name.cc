#include "larq_engine/runtime/ops/layer_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace larq_engine {
namespace {

// Beginnings of the names that TensorFlow gives to operators of layers with weights.
constexpr std::array<std::string_view, 15> kWeighted = {
    "BatchMatMul", "BiasAdd",   "Conv",       "Depthwise",      "Einsum",
    "MatMul",      "QuantConv", "QuantDense", "QuantDepthwise", "QuantSeparable",
    "Tensordot",   "conv",      "depthwise",  "einsum",         "separable"};

// Scopes that TensorFlow's functions and larq's quantizers open within a layer's own.
constexpr std::array<std::string_view, 18> kInnerScopes = {"Conv1D",
                                                           "Conv2D",
                                                           "Conv3D",
                                                           "MatMul",
                                                           "QuantConv1D",
                                                           "QuantConv2D",
                                                           "QuantConv3D",
                                                           "Tensordot",
                                                           "approx_sign",
                                                           "batchnorm",
                                                           "dorefa_quantizer",
                                                           "einsum",
                                                           "magnitude_aware_sign",
                                                           "moments",
                                                           "ste_heaviside",
                                                           "ste_sign",
                                                           "ste_tern",
                                                           "swish_sign"};

// An inner scope that is also Keras' name for layers of this kind.
constexpr std::string_view kSeparable = "separable_conv2d";

using Path = std::vector<std::string_view>;

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the text before ':' and the name of an operator; empty if there is none.
std::string_view OwnName(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view kind = name.substr(colon + 1);
  if (kind.empty() || !IsLetter(kind[0])) return {};
  return std::all_of(kind.begin(), kind.end(), IsWordPart) ? name.substr(0, colon)
                                                           : std::string_view();
}

Path Split(std::string_view text, char separator) {
  Path parts;
  for (size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

// Returns "scope" for "scope_12".
std::string_view WithoutNumber(std::string_view scope) {
  const size_t last = scope.find_last_not_of("0123456789");
  const bool numbered = last != std::string_view::npos && last + 1 < scope.size();
  return numbered && scope[last] == '_' ? scope.substr(0, last) : scope;
}

bool Has(std::span<const std::string_view> set, std::string_view text) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

// Returns how many steps of a path lead to the layer. The last step is the operator.
size_t LayerEnd(const Path& path) {
  const size_t end = path.size() - 1;
  if (end <= 2) return end;
  const std::string_view scope = WithoutNumber(path[end - 1]);
  const bool separable = scope == kSeparable && path[end].starts_with("depthwise");
  return separable || Has(kInnerScopes, scope) ? end - 1 : end;
}

bool HasWeights(const Path& path) {
  return std::any_of(path.begin() + static_cast<std::ptrdiff_t>(LayerEnd(path)), path.end(),
                     [](std::string_view step) {
                       return std::any_of(
                           kWeighted.begin(), kWeighted.end(),
                           [&](std::string_view start) { return step.starts_with(start); });
                     });
}

// Leaves out the first step, which is the model's name.
std::string Layer(const Path& path) {
  const size_t end = LayerEnd(path);
  std::string layer;
  for (size_t i = end > 1 ? 1 : 0; i < end; ++i) {
    layer += (layer.empty() ? "" : "/") + std::string(path[i]);
  }
  return layer;
}

// Finds the layer in the names that TensorFlow's converter joined when it merged operators. The
// operator with weights counts, else the last name that contains a layer: LCE cuts names, so what
// is left of the last one may be less than a layer.
std::string ReadPath(std::string_view name) {
  std::vector<Path> paths;
  for (std::string_view part : Split(name, ';')) {
    if (part.find('/') != std::string_view::npos) paths.push_back(Split(part, '/'));
  }
  std::reverse(paths.begin(), paths.end());
  auto found = std::find_if(paths.begin(), paths.end(), HasWeights);
  if (found == paths.end()) {
    found = std::find_if(paths.begin(), paths.end(),
                         [](const Path& path) { return LayerEnd(path) > 1; });
  }
  if (found == paths.end()) found = paths.begin();
  return found == paths.end() ? "" : Layer(*found);
}

}  // namespace

std::string LayerName(std::string_view output, std::span<const std::string_view> constants) {
  std::string_view own = OwnName(output);
  for (size_t i = 0; own.empty() && i < constants.size(); ++i) own = OwnName(constants[i]);
  if (!own.empty()) return std::string(own);
  const std::string layer = ReadPath(output);
  return layer.empty() ? std::string(output) : layer;
}

}  // namespace larq_engine
