#include "tests/fuzz/fuzz_case.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/fuzz_graph.h"
#include "tests/host/flatbuffer_reader.h"
#include "tests/host/mini_host.h"
#include "tests/host/run_graph.h"
#include "tests/host/tflite_file.h"

namespace larq_engine::testing {
namespace {

// More memory finds no more faults, only takes longer.
constexpr size_t kMaxTensorBytes = size_t{256} << 10;
// A millisecond or two under the sanitizers; larger graphs are compared with a second run.
constexpr double kMaxReferenceCost = 1e5;

void Require(bool condition, const char* what, const MiniHost& host) {
  if (condition) return;
  std::fprintf(stderr, "fuzz case: %s\nerrors of the host:\n%s", what, host.errors().c_str());
  std::abort();
}

// Another batch and height where there are four dimensions, another first dimension elsewhere.
std::vector<int> OtherShape(const TfLiteTensor& tensor) {
  const std::span<const int> dims = AsSpan(tensor.dims);
  std::vector<int> shape(dims.begin(), dims.end());
  if (!shape.empty()) shape[0] = shape[0] == 1 ? 2 : 1;
  if (shape.size() == 4 && shape[1] > 0 && shape[1] < 1000) shape[1] += 3;
  return shape;
}

// The outputs of each run, or none for a run that was refused.
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
  run();
  if (host.input_count() > 0) {
    const std::vector<int> before(AsSpan(host.input(0).dims).begin(),
                                  AsSpan(host.input(0).dims).end());
    if (host.ResizeInput(0, OtherShape(host.input(0))) == kTfLiteOk) run();
    if (host.ResizeInput(0, before) == kTfLiteOk) run();
  }
  return results;
}

// An output that no operator computes holds whatever was there.
void DropUncomputedOutputs(Graph* graph) {
  std::set<int> computed;
  for (const GraphOperator& op : graph->operators) {
    computed.insert(op.outputs.begin(), op.outputs.end());
  }
  std::erase_if(graph->outputs, [&computed](int output) { return !computed.contains(output); });
}

// Whether the results depend on nothing but the inputs' values: every operator reads what is there
// before it, and packed bits come from our operators only (which leave 0 after the last channel;
// where a model breaks that, kernels may differ).
bool IsWellDefined(const Graph& graph) {
  std::set<int> ready(graph.inputs.begin(), graph.inputs.end());
  std::erase_if(ready, [&graph](int i) { return graph.tensors[i].type == kTfLiteInt32; });
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const GraphTensor& tensor = graph.tensors[i];
    if (tensor.is_constant && tensor.type != kTfLiteInt32) ready.insert(static_cast<int>(i));
  }
  for (const GraphOperator& op : graph.operators) {
    if (!op.inputs.empty() && !ready.contains(op.inputs[0])) return false;
    ready.insert(op.outputs.begin(), op.outputs.end());
  }
  return true;
}

// About how many products the reference, which is slow, would compute in one run.
double ReferenceCost(const Graph& graph) {
  double cost = 0;
  for (const GraphOperator& op : graph.operators) {
    if (op.inputs.size() < 2 || op.inputs[1] < 0 || op.outputs.empty()) continue;
    double pixels = 1;
    const std::vector<int>& shape = graph.tensors[op.outputs[0]].shape;
    for (size_t i = 0; i + 1 < shape.size(); ++i) pixels *= shape[i];
    cost += pixels * 8 * static_cast<double>(graph.tensors[op.inputs[1]].data.size());
  }
  return cost;
}

bool RunGraph(Graph graph, bool threaded) {
  static const DelegatePtr reference =
      CreateDelegate({{"kernel", "reference"}, {"num_threads", "1"}});
  static const DelegatePtr one_thread = CreateDelegate({{"num_threads", "1"}});
  static const DelegatePtr two_threads = CreateDelegate({{"num_threads", "2"}});

  if (!IndicesAreValid(graph)) return false;
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
    const bool threaded = source.Below(16) == 15;  // now and then: threads are slow to wake
    return RunGraph(MakeFuzzGraph(&source), threaded);
  }
  Graph graph;
  try {
    graph = ReadTfliteFile(bytes);
  } catch (const FormatError&) {
    return false;
  }
  return RunGraph(graph, false);
}

}  // namespace larq_engine::testing
