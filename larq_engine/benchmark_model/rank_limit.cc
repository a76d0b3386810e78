#include "larq_engine/benchmark_model/rank_limit.h"

#include <algorithm>

#include "larq_engine/model_file/walk.h"
#include "larq_engine/runtime/litert_abi.h"

namespace larq_engine {

void CheckRanks(std::span<const uint8_t> file) {
  Flatbuffer flatbuffer(file);
  const ModelFile model = ReadModelFile(flatbuffer);
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    const size_t rank = std::max(tensor.shape.size(), tensor.signature.size());
    if (rank > kLiteRtTensorMaxRank) {
      Refuse(place.TensorName(index),
             "at most " + std::to_string(kLiteRtTensorMaxRank) + " dimensions",
             std::to_string(rank),
             "LiteRT's C interface has no room for more: time the model in Python");
    }
  });
}

}  // namespace larq_engine
