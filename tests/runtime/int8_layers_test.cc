// Tests layers of the host on int8 values. Kernels and threads do not change results. A layer of
// which a damaged file says something impossible is left to the host, whatever that makes of it.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/conv_faults.h"

namespace larq_engine::testing {
namespace {

// Operator 0 of a graph is the layer. The placement makes every CPU take it.
constexpr const char* kPlacement = "0:cpu";

Graph Conv() {
  return ModelBuilder(kTfLiteInt8, {1, 9, 7, 3})
      .AddInt8Conv({.filters = 6, .stride_width = 2}, true)
      .Build();
}

// Operator 0 makes the weights, and operator 1 is the layer.
Graph Dense() {
  return ModelBuilder(kTfLiteInt8, {1, 96}).AddSignedDense(5, 96, kTfLiteActNone, true).Build();
}

Outputs RunPlaced(const Graph& graph, DelegateOptions options, const char* placement, int batch) {
  options.emplace_back("placement", placement);
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  std::vector<int> shape = graph.tensors[0].shape;
  shape[0] = batch;
  EXPECT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
  return outputs;
}

TEST(Int8Layers, ResultsDependNeitherOnKernelNorOnThreads) {
  for (const auto& [graph, placement] : {std::pair(Conv(), kPlacement), {Dense(), "1:cpu"}}) {
    for (int batch : {1, 3}) {
      const Outputs expected = RunPlaced(graph, {{"kernel", "reference"}}, placement, batch);
      for (const char* threads : {"1", "3"}) {
        EXPECT_EQ(RunPlaced(graph, {{"num_threads", threads}}, placement, batch), expected);
      }
    }
  }
}

GraphTensor& Output(Graph* graph) {
  return graph->tensors.at(static_cast<size_t>(graph->operators.back().outputs.at(0)));
}

// Faults that only convolutions of int8 have.
const Fault kConvFaults[] = {
    {"ImageZeroPointOf128", [](Graph* g) { Input(g, 0).zero_points = {128}; }},
    {"ImageZeroPointOfMinus129", [](Graph* g) { Input(g, 0).zero_points = {-129}; }},
    {"ImageOfTwoZeroPoints",
     [](Graph* g) {
       Input(g, 0).zero_points = {1, 2};
     }},
    {"ImageWithoutScale", [](Graph* g) { Input(g, 0).is_quantized = false; }},
    {"ImageScaleOf0", [](Graph* g) { Input(g, 0).scales = {0}; }},
    {"ImageScaleBelow0", [](Graph* g) { Input(g, 0).scales = {-0.5f}; }},
    {"ImageScaleOfNaN", [](Graph* g) { Input(g, 0).scales = {NAN}; }},
    {"ImageScaleOfInfinity", [](Graph* g) { Input(g, 0).scales = {INFINITY}; }},
    {"ImageScaleThatIsDenormal", [](Graph* g) { Input(g, 0).scales = {1e-40f}; }},
    {"ImageScaleOf3e38", [](Graph* g) { Input(g, 0).scales = {3e38f}; }},
    {"ImageOfScalesForChannels",
     [](Graph* g) {
       Input(g, 0).scales = {0.1f, 0.2f, 0.3f};
     }},
    {"ImageOfUint8", [](Graph* g) { Input(g, 0).type = kTfLiteUInt8; }},
    {"ResultZeroPointOf200", [](Graph* g) { Output(g).zero_points = {200}; }},
    {"ResultScaleOf0", [](Graph* g) { Output(g).scales = {0}; }},
    {"ResultScaleOfNaN", [](Graph* g) { Output(g).scales = {NAN}; }},
    {"ResultScaleOf3e38", [](Graph* g) { Output(g).scales = {3e38f}; }},
    {"ResultScaleThatMakesStepsLarge", [](Graph* g) { Output(g).scales = {1e-9f}; }},
    {"ResultOfFloats", [](Graph* g) { Output(g).type = kTfLiteFloat32; }},
    {"FilterScaleOf0", [](Graph* g) { Input(g, 1).scales[3] = 0; }},
    {"FilterScaleBelow0", [](Graph* g) { Input(g, 1).scales[3] = -0.01f; }},
    {"FilterScaleOfNaN", [](Graph* g) { Input(g, 1).scales[3] = NAN; }},
    {"FilterScaleOfInfinity", [](Graph* g) { Input(g, 1).scales[3] = INFINITY; }},
    {"FilterOfFiveScales", [](Graph* g) { Input(g, 1).scales.pop_back(); }},
    {"FilterWithoutScales", [](Graph* g) { Input(g, 1).scales.clear(); }},
    {"FilterOfScalesAlongItsInputs", [](Graph* g) { Input(g, 1).quantized_dimension = 3; }},
    {"FilterZeroPointOf1", [](Graph* g) { Input(g, 1).zero_points[5] = 1; }},
    {"FilterOfMinus128", [](Graph* g) { Input(g, 1).data.back() = 0x80; }},
    {"NoBias", [](Graph* g) { g->operators.back().inputs.pop_back(); }},
    {"AbsentBias", [](Graph* g) { g->operators.back().inputs[2] = kTfLiteOptionalTensor; }},
    {"BiasOfFloats", [](Graph* g) { Input(g, 2).type = kTfLiteFloat32; }},
    {"BiasOfFive",
     [](Graph* g) {
       Input(g, 2).shape = {5};
       Input(g, 2).data.resize(20);
     }},
    {"BiasOfRank2",
     [](Graph* g) {
       Input(g, 2).shape = {1, 6};
     }},
};

// Faults that LceUnpackWeights itself refuses are in malformed_test.cc.
const Fault kDenseFaults[] = {
    {"InputZeroPointOf128", [](Graph* g) { Input(g, 0).zero_points = {128}; }},
    {"InputScaleOfNaN", [](Graph* g) { Input(g, 0).scales = {NAN}; }},
    {"InputOfUint8", [](Graph* g) { Input(g, 0).type = kTfLiteUInt8; }},
    {"ResultScaleOf0", [](Graph* g) { Output(g).scales = {0}; }},
    {"ResultOfFloats", [](Graph* g) { Output(g).type = kTfLiteFloat32; }},
    {"WeightsWithoutScale", [](Graph* g) { Input(g, 1).scales.clear(); }},
    {"WeightsScaleOfNaN", [](Graph* g) { Input(g, 1).scales = {NAN}; }},
    {"WeightsOfThreeScales", [](Graph* g) { Input(g, 1).scales.assign(3, 0.1f); }},
    {"WeightsZeroPointOf1", [](Graph* g) { Input(g, 1).zero_points = {1}; }},
    {"WeightsOfFloats", [](Graph* g) { Input(g, 1).type = kTfLiteFloat32; }},
    {"WeightsOfRank3",
     [](Graph* g) {
       Input(g, 1).shape = {5, 1, 96};
     }},
    {"BiasOfFour",
     [](Graph* g) {
       Input(g, 2).shape = {4};
       Input(g, 2).data.resize(16);
     }},
    {"BiasOfFloats", [](Graph* g) { Input(g, 2).type = kTfLiteFloat32; }},
    {"NoOptions", [](Graph* g) { g->operators.back().builtin_data.clear(); }},
};

TEST(Int8Layers, FaultyConvolutionsAreLeftOrRefused) {
  ExpectFaultyConvsLeft<TfLiteConvParams>(Conv());
  ExpectLeft(Conv(), kConvFaults);
}

TEST(Int8Layers, FaultyDenseLayersAreLeftOrRefused) {
  ASSERT_EQ(CountClaimed(Dense(), {{"placement", "1:cpu"}}), 2u);
  for (const Fault& fault : kDenseFaults) {
    SCOPED_TRACE(fault.name);
    Graph graph = Dense();
    fault.spoil(&graph);
    // The weights may be claimed, for the host to read them.
    EXPECT_LE(CountClaimed(graph, {{"placement", "1:cpu"}}), 1u);
  }
}

TEST(Int8Layers, ShapesThatDoNotFitAreAnError) { ExpectShapesThatDoNotFitAreAnError(Conv()); }

}  // namespace
}  // namespace larq_engine::testing
