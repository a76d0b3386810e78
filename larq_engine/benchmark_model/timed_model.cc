#include "larq_engine/benchmark_model/timed_model.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/tensor_data.h"

namespace larq_engine {

void TimedModel::CheckMemory() const {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  double bytes = 0;
  for (const ModelTensor& tensor : inputs_) bytes += static_cast<double>(tensor.bytes);
  for (const ModelTensor& tensor : outputs_) bytes += static_cast<double>(tensor.bytes);
  if (memory > 0 && bytes > memory) {
    throw ModelError("expected inputs and outputs that fit into this machine's " +
                     std::to_string(memory / 1e9) + " GB, got " + std::to_string(bytes / 1e9) +
                     " GB");
  }
}

void MakeNamesUnique(std::vector<ModelTensor>& tensors) {
  std::set<std::string_view> names = {""};
  const bool unique = std::all_of(tensors.begin(), tensors.end(), [&](const ModelTensor& tensor) {
    return names.insert(tensor.name).second;
  });
  for (size_t i = 0; i < tensors.size() && !unique; ++i) {
    tensors[i].name = "tensor_" + std::to_string(i);
  }
}

void SetRandomInputs(TimedModel& model) {
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    std::vector<uint8_t> data(model.inputs()[i].bytes);
    FillRandom(model.inputs()[i].type, i, data);
    model.SetInput(i, data);
  }
}

}  // namespace larq_engine
