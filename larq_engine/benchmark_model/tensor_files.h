// Matches files to tensors: the pairs "tensor:path" of the command line.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_FILES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_FILES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace larq_engine {

struct TensorFile {
  size_t tensor;
  std::string path;
};

// A tensor is given by its name, which may contain colons, or by its number. Throws UsageError,
// which names `flag`, for a tensor that is not in `names` or that is given twice.
std::vector<TensorFile> MatchTensorFiles(std::span<const std::string> pairs,
                                         std::span<const std::string> names, std::string_view flag);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_TENSOR_FILES_H_
