#include "tests/fuzz/fuzz_case.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "larq_engine/model_file/flatbuffer.h"
#include "larq_engine/model_file/model_check.h"
#include "larq_engine/runtime/ops/flexbuffer.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/fuzz_graph.h"
#include "tests/host/mini_host.h"
#include "tests/host/run_graph.h"
#include "tests/host/tflite_file.h"

namespace larq_engine::testing {
namespace {

// More memory would find no more faults, but take longer.
constexpr size_t kMaxTensorBytes = size_t{256} << 10;
// This cost takes half a millisecond under the sanitizers; larger graphs are compared with a second
// run.
constexpr double kMaxReferenceCost = 5e4;

void Require(bool condition, const char* what, const MiniHost& host) {
  if (condition) return;
  std::fprintf(stderr, "fuzz case: %s\nerrors of the host:\n%s", what, host.errors().c_str());
  std::abort();
}

// Returns a shape with another batch and height if it has four dimensions, and else with another
// first dimension.
std::vector<int> OtherShape(const TfLiteTensor& tensor) {
  const std::span<const int> dims = AsSpan(tensor.dims);
  std::vector<int> shape(dims.begin(), dims.end());
  if (!shape.empty()) shape[0] = shape[0] == 1 ? 2 : 1;
  if (shape.size() == 4 && shape[1] > 0 && shape[1] < 1000) shape[1] += 3;
  return shape;
}

// Returns the outputs of each run, or none for a run that was refused.
std::vector<std::optional<Outputs>> RunAll(const Graph& graph, TfLiteDelegate* delegate,
                                           uint8_t garbage) {
  MiniHost host(graph, kMaxTensorBytes);
  std::vector<std::optional<Outputs>> results;
  const auto run = [&] {
    const size_t errors_before = host.errors().size();
    Outputs outputs;
    const bool ran = RunOnce(&host, 1, garbage, &outputs);
    Require(ran || host.errors().size() > errors_before, "a call failed without a message", host);
    Require(host.errors().find("a constant tensor was written to") == std::string::npos,
            "a constant was written to", host);
    if (ran) {
      results.emplace_back(std::move(outputs));
    } else {
      results.emplace_back();
    }
  };
  if (host.ApplyDelegate(delegate) != kTfLiteOk) {
    Require(!host.errors().empty(), "the delegate failed without a message", host);
    return results;
  }
  run();
  if (host.input_count() > 0) {
    const std::vector<int> before(AsSpan(host.input(0).dims).begin(),
                                  AsSpan(host.input(0).dims).end());
    if (host.ResizeInput(0, OtherShape(host.input(0))) == kTfLiteOk) run();
    if (host.ResizeInput(0, before) == kTfLiteOk) run();
  }
  return results;
}

// Removes outputs that no operator computes, as they hold whatever was there.
void DropUncomputedOutputs(Graph* graph) {
  std::set<int> computed;
  for (const GraphOperator& op : graph->operators) {
    computed.insert(op.outputs.begin(), op.outputs.end());
  }
  std::erase_if(graph->outputs, [&computed](int output) { return !computed.contains(output); });
}

// Returns the channels_in of a convolution, or more than any number if there is none to read.
int64_t ChannelsIn(const GraphOperator& op) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  try {
    const std::map<std::string, int64_t> options = ReadIntMap(op.options);
    const auto found = options.find("channels_in");
    return found == options.end() ? kAny : found->second;
  } catch (const std::invalid_argument&) {
    return kAny;
  }
}

bool IsUnpackWeights(const GraphOperator& op) { return op.custom_name == "LceUnpackWeights"; }

bool IsOfTheHost(const GraphOperator& op) { return op.builtin_code != builtin::kCustom; }

// Tells whether the results depend on nothing but the inputs' values: every operator reads tensors
// that were set before it, packed bits come only from our operators (which leave 0 after the last
// channel), and no convolution takes fewer channels than were packed. If a model breaks that,
// kernels may differ in whether they count the bits that should be 0.
bool IsWellDefined(const Graph& graph) {
  std::map<int, int64_t> channels;  // channels of every tensor that can be read
  const auto declared = [&graph](int tensor) -> int64_t {
    const std::vector<int>& shape = graph.tensors[tensor].shape;
    return shape.empty() ? 0 : shape.back();
  };
  for (int input : graph.inputs) {
    if (graph.tensors[input].type != kTfLiteInt32) channels[input] = declared(input);
  }
  for (const GraphOperator& op : graph.operators) {
    if (IsUnpackWeights(op)) {
      for (int output : op.outputs) channels[output] = declared(output);
      continue;
    }
    if (IsOfTheHost(op)) {
      int64_t out = 0;  // at least as many as there are: all of a concatenation
      for (int input : op.inputs) {
        if (input < 0) return false;
        if (graph.tensors[input].is_constant) continue;
        if (!channels.contains(input)) return false;
        out += channels[input];
      }
      const bool is_depthwise = op.builtin_code == builtin::kDepthwiseConv2d;
      const bool has_filter = op.builtin_code == builtin::kConv2d || is_depthwise ||
                              op.builtin_code == builtin::kFullyConnected;
      if (has_filter && op.inputs.size() > 1) {
        const std::vector<int>& filter = graph.tensors[op.inputs[1]].shape;
        out = filter.empty() ? 0 : is_depthwise ? filter.back() : filter[0];
      } else if (op.builtin_code != builtin::kConcatenation && !op.inputs.empty()) {
        const int data = graph.tensors[op.inputs[0]].is_constant ? op.inputs.back() : op.inputs[0];
        out = channels[data];
      }
      for (int output : op.outputs) channels[output] = out;
      continue;
    }
    if (op.inputs.empty() || !channels.contains(op.inputs[0])) return false;
    int64_t out = channels[op.inputs[0]];
    if (op.custom_name == "LceDequantize" && !op.outputs.empty()) out = declared(op.outputs[0]);
    if (op.inputs.size() > 1 && op.inputs[1] >= 0) {
      if (ChannelsIn(op) < out) return false;
      const std::vector<int>& filter = graph.tensors[op.inputs[1]].shape;
      out = filter.empty() ? 0 : filter[0];
    }
    for (int output : op.outputs) channels[output] = out;
  }
  return true;
}

// Estimates the number of products that the reference, which is slow, would compute in one run.
double ReferenceCost(const Graph& graph) {
  double cost = 0;
  for (const GraphOperator& op : graph.operators) {
    if (op.inputs.size() < 2 || op.inputs[1] < 0 || op.outputs.empty()) continue;
    if (IsUnpackWeights(op) || IsOfTheHost(op)) continue;
    double pixels = 1;
    const std::vector<int>& shape = graph.tensors[op.outputs[0]].shape;
    for (size_t i = 0; i + 1 < shape.size(); ++i) pixels *= shape[i];
    cost += pixels * 8 * static_cast<double>(graph.tensors[op.inputs[1]].data.size());
  }
  return cost;
}

// Tells whether a data input is a constant with a shape beyond all memory. TFLite refuses such a
// file, and MiniHost's limit does not see it; the delegate says "out of memory", but a sanitizer
// ends the process.
bool ReadsEndlessConstant(const Graph& graph) {
  for (const GraphOperator& op : graph.operators) {
    if (op.inputs.empty() || op.inputs[0] < 0) continue;
    const GraphTensor& input = graph.tensors[op.inputs[0]];
    double elements = 1;
    for (int size : input.shape) elements *= size;
    if (input.is_constant && elements > kMaxTensorBytes) return true;
  }
  return false;
}

// Tells whether given pads make an image beyond all memory. MiniHost's limit does not see the
// delegate's own memory.
bool PadsEndlessly(const Graph& graph) {
  constexpr int64_t kMost = 255;
  for (const GraphOperator& op : graph.operators) {
    try {
      for (const auto& [key, value] : ReadIntMap(op.options)) {
        const bool legal = value <= std::numeric_limits<int32_t>::max();
        if (key.starts_with("pad_") && value > kMost && legal) return true;
      }
    } catch (const std::invalid_argument&) {
      // The delegate refuses it.
    }
  }
  return false;
}

bool RunGraph(Graph graph, bool threaded) {
  static const DelegatePtr reference =
      CreateDelegate({{"kernel", "reference"}, {"num_threads", "1"}});
  static const DelegatePtr one_thread = CreateDelegate({{"num_threads", "1"}});
  static const DelegatePtr two_threads = CreateDelegate({{"num_threads", "2"}});

  if (!IndicesAreValid(graph) || ReadsEndlessConstant(graph) || PadsEndlessly(graph)) return false;
  DropUncomputedOutputs(&graph);
  const bool cheap = ReferenceCost(graph) < kMaxReferenceCost;
  const auto results = RunAll(graph, (threaded ? two_threads : one_thread).get(), 0xCD);
  const auto expected = RunAll(graph, (cheap ? reference : one_thread).get(), 0x32);
  if (results != expected && IsWellDefined(graph)) {
    std::fprintf(stderr, "fuzz case: the reference and the chosen kernel differ\n");
    std::abort();
  }
  return !results.empty() && results[0].has_value();
}

bool IsTfliteFile(std::span<const uint8_t> bytes) {
  return bytes.size() >= 8 && std::equal(bytes.begin() + 4, bytes.begin() + 8, "TFL3");
}

}  // namespace

bool RunFuzzCase(std::span<const uint8_t> bytes) {
  if (!IsTfliteFile(bytes)) {
    ByteSource source(bytes);
    const bool threaded = source.Below(16) == 15;  // rarely, as threads are slow to wake
    return RunGraph(MakeFuzzGraph(&source), threaded);
  }
  try {
    CheckModel(bytes);
  } catch (const FileError&) {
    // The plug-in runs illegal files too, as a host that skips the check may pass it one.
  }
  Graph graph;
  try {
    graph = ReadTfliteFile(bytes);
  } catch (const std::exception&) {
    return false;
  }
  return RunGraph(graph, false);
}

}  // namespace larq_engine::testing
