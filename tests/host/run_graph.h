// Runs a graph through the plug-in's C interface in a MiniHost.
#ifndef LARQ_ENGINE_TESTS_HOST_RUN_GRAPH_H_
#define LARQ_ENGINE_TESTS_HOST_RUN_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "larq_engine/runtime/larq_engine.h"
#include "tests/host/mini_host.h"

namespace larq_engine::testing {

struct DelegateDeleter {
  void operator()(TfLiteDelegate* delegate) const { tflite_plugin_destroy_delegate(delegate); }
};
using DelegatePtr = std::unique_ptr<TfLiteDelegate, DelegateDeleter>;
using DelegateOptions = std::vector<std::pair<std::string, std::string>>;

// Returns null if the plug-in refuses the options. Then `error`, if given, has its message.
DelegatePtr CreateDelegate(const DelegateOptions& options, std::string* error = nullptr);

// Fills every input with values that the seed determines: floats from -2 to 2 (including zeros and
// -0.0), whole numbers of the type's full range, truth values.
void FillInputs(MiniHost* host, uint32_t seed);

// The bytes of every output.
using Outputs = std::vector<std::vector<uint8_t>>;

// Allocates, fills the inputs from the seed and the outputs with `garbage`, which shows what the
// delegate leaves unwritten, and runs once. Returns false if the host reported an error.
bool RunOnce(MiniHost* host, uint32_t seed, uint8_t garbage, Outputs* outputs);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_RUN_GRAPH_H_
