// Faults that a damaged file may have in a convolution of the host, of any type. Such convolutions
// are left to the host, whatever it makes of them.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_CONV_FAULTS_H_
#define LARQ_ENGINE_TESTS_RUNTIME_CONV_FAULTS_H_

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {

inline constexpr int kLargest = std::numeric_limits<int>::max();

// Returns an input of the last operator.
inline GraphTensor& Input(Graph* graph, size_t input) {
  return graph->tensors.at(static_cast<size_t>(graph->operators.back().inputs.at(input)));
}

struct Fault {
  const char* name;
  void (*spoil)(Graph*);
};

// The convolution's image is [1, 9, 7, 3]. Input 0 is the image, 1 the filter, 2 the bias.
inline const Fault kFaultsOfAnyConv[] = {
    {"ImageOfRank3",
     [](Graph* g) {
       Input(g, 0).shape = {9, 7, 3};
     }},
    {"ImageOfOtherChannels",
     [](Graph* g) {
       Input(g, 0).shape = {1, 9, 7, 4};
     }},
    {"ImageOfOpenChannels",
     [](Graph* g) {
       Input(g, 0).shape_signature = {1, 9, 7, -1};
     }},
    {"ImageThatIsConstant",
     [](Graph* g) {
       Input(g, 0).is_constant = true;
       Input(g, 0).data.resize(9 * 7 * 3 * (Input(g, 0).type == kTfLiteInt8 ? 1 : sizeof(float)));
     }},
    {"FilterThatIsComputed", [](Graph* g) { Input(g, 1).is_constant = false; }},
    {"FilterOfInt32", [](Graph* g) { Input(g, 1).type = kTfLiteInt32; }},
    {"FilterOfRank3",
     [](Graph* g) {
       Input(g, 1).shape = {6, 3, 9};
     }},
    {"FilterOfNoLines", [](Graph* g) { Input(g, 1).shape[1] = 0; }},
    {"FilterOfNegativeLines", [](Graph* g) { Input(g, 1).shape[1] = -3; }},
    {"FilterOfFewBytes", [](Graph* g) { Input(g, 1).data.pop_back(); }},
    {"FilterOfMoreThanMemory",
     [](Graph* g) { Input(g, 1).shape[1] = Input(g, 1).shape[2] = kLargest; }},
    {"FilterWhoseSizeWrapsTo0", [](Graph* g) { Input(g, 1).shape.assign(4, 1 << 16); }},
    {"BiasOfFewBytes", [](Graph* g) { Input(g, 2).data.pop_back(); }},
    {"BiasThatIsComputed", [](Graph* g) { Input(g, 2).is_constant = false; }},
    {"FourInputs", [](Graph* g) { g->operators.back().inputs.push_back(0); }},
    {"NoOptions", [](Graph* g) { g->operators.back().builtin_data.clear(); }},
};

template <typename Params>
struct OptionFault {
  const char* name;
  void (*change)(Params*);
};

template <typename Params>
constexpr OptionFault<Params> kOptionFaults[] = {
    {"StrideOf0", [](Params* p) { p->stride_width = 0; }},
    {"StrideBelow0", [](Params* p) { p->stride_height = -1; }},
    {"StrideBeyondAnyImage", [](Params* p) { p->stride_height = kLargest; }},
    {"Dilation", [](Params* p) { p->dilation_height_factor = 2; }},
    {"UnknownPadding", [](Params* p) { p->padding = static_cast<TfLitePadding>(7); }},
    {"UnknownActivation", [](Params* p) { p->activation = static_cast<TfLiteFusedActivation>(9); }},
};

// Returns how many operators the plug-in takes: none if it refuses the file, which it must explain.
inline size_t CountClaimed(const Graph& graph, const DelegateOptions& options = {}) {
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(graph);
  if (host.ApplyDelegate(delegate.get()) != kTfLiteOk) {
    EXPECT_NE(host.errors().find(": expected "), std::string::npos) << host.errors();
  }
  return host.claimed_operators();
}

// Places the graph's only operator, so that it is taken on every CPU.
inline const DelegateOptions kPlaced = {{"placement", "0:cpu"}};

inline void ExpectLeft(const Graph& good, std::span<const Fault> faults) {
  ASSERT_EQ(CountClaimed(good, kPlaced), 1u);
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    Graph graph = good;
    fault.spoil(&graph);
    EXPECT_EQ(CountClaimed(graph, kPlaced), 0u);
  }
}

template <typename Params>
void ExpectLeft(const Graph& good, std::span<const OptionFault<Params>> faults) {
  ASSERT_EQ(CountClaimed(good, kPlaced), 1u);
  for (const OptionFault<Params>& fault : faults) {
    SCOPED_TRACE(fault.name);
    Graph graph = good;
    std::vector<uint8_t>& data = graph.operators.back().builtin_data;
    Params params;
    std::memcpy(&params, data.data(), sizeof(params));
    fault.change(&params);
    std::memcpy(data.data(), &params, sizeof(params));
    EXPECT_EQ(CountClaimed(graph, kPlaced), 0u);
  }
}

template <typename Params>
void ExpectFaultyConvsLeft(const Graph& good) {
  ExpectLeft(good, kFaultsOfAnyConv);
  ExpectLeft<Params>(good, kOptionFaults<Params>);
}

// Resizes the graph's input, which is [1, 9, 7, 3], to other channels and to another rank.
inline void ExpectShapesThatDoNotFitAreAnError(const Graph& graph) {
  for (const std::vector<int>& shape : {std::vector<int>{1, 9, 7, 4}, {9, 7, 3}}) {
    const DelegatePtr delegate = CreateDelegate(kPlaced);
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    EXPECT_EQ(host.Allocate(), kTfLiteError);
    EXPECT_NE(host.errors().find("CONV_2D 'builtin0' (#0): input: expected"), std::string::npos)
        << host.errors();
  }
}

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_CONV_FAULTS_H_
