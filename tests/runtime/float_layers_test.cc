// Tests convolutions of the host on floats next to layers of bits. They give the results of a loop
// over their products, whatever the kernel, the threads and the groups are. Also tests which of
// them are taken; those of damaged files, which say something impossible, are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/host/delegate.h"
#include "larq_engine/runtime/profile.h"
#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/conv_faults.h"

namespace larq_engine::testing {
namespace {

// Tells whether they are taken without a placement. No row of ARM was timed beside a host.
bool IsPreferred() { return DetectCpuFeatures().Has(Isa::kAvx2); }

std::vector<std::string> Kernels() {
  std::vector<std::string> kernels = {"auto", "reference", "bgemm_i32_4x2x64_portable"};
  if (DetectCpuFeatures().Has(Isa::kAvx2)) kernels.push_back("bgemm_i32_8x32x32_avx2");
  return kernels;
}

bool IsHosts(const GraphOperator& op) { return op.builtin_code != builtin::kCustom; }

bool IsConv(const GraphOperator& op) {
  return op.builtin_code == builtin::kConv2d || op.builtin_code == builtin::kDepthwiseConv2d;
}

// Makes a network with a first layer and a depthwise one before bits; others between bits, one of
// which follows the step before it; and one at the end. Lines are longer than those that have tiles
// of their own.
Graph Network() {
  ModelBuilder builder(kTfLiteFloat32, {1, 8, 100, 3});
  builder.AddFloatConv({.filters = 17, .stride_height = 2, .stride_width = 2, .activation = kRelu});
  builder.AddDepthwiseConv({.padding = kValid}).AddQuantize();
  builder.AddConv({.filters = 24})
      .AddPrelu()
      .AddFloatConv({.filters = 70, .filter_height = 1, .filter_width = 1, .activation = kRelu6});
  builder.AddDepthwiseConv({.filter_height = 5, .filter_width = 4, .stride_width = 2});
  builder.AddBinary(builtin::kAdd, kTfLiteActNone).AddQuantize().AddConv({.filters = 6});
  builder.AddFloatConv({.filters = 5, .filter_height = 1, .filter_width = 7, .padding = kValid});
  return builder.Build();
}

// Places on the CPU all operators that a host could compute itself.
std::string PlacementOf(const Graph& graph) {
  std::string placement;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    if (!IsHosts(graph.operators[i])) continue;
    placement += (placement.empty() ? "" : ",") + std::to_string(i) + ":cpu";
  }
  return placement;
}

// Makes the result of each operator an output of the graph.
Graph WithAllOutputs(Graph graph) {
  graph.outputs.clear();
  for (const GraphOperator& op : graph.operators) graph.outputs.push_back(op.outputs[0]);
  return graph;
}

std::vector<float> Floats(std::span<const uint8_t> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct Image {
  explicit Image(const TfLiteTensor& tensor)
      : batch(tensor.dims->data[0]),
        height(tensor.dims->data[1]),
        width(tensor.dims->data[2]),
        channels(tensor.dims->data[3]),
        values(Floats({tensor.data.uint8, tensor.bytes})) {}

  float At(int sample, int y, int x, int c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    return values[static_cast<size_t>(((sample * height + y) * width + x) * channels + c)];
  }

  int batch, height, width, channels;
  std::vector<float> values;
};

// A convolution of a graph, ordinary or depthwise.
class Conv {
 public:
  Conv(const Graph& graph, const GraphOperator& op)
      : is_depthwise_(op.builtin_code == builtin::kDepthwiseConv2d),
        height_(Input(graph, op, 1).shape[1]),
        width_(Input(graph, op, 1).shape[2]),
        filter_(Floats(Input(graph, op, 1).data)),
        bias_(Floats(Input(graph, op, 2).data)) {
    const auto read = [&](auto params) {
      std::memcpy(&params, op.builtin_data.data(), sizeof(params));
      is_same_ = params.padding == kTfLitePaddingSame;
      stride_height_ = params.stride_height;
      stride_width_ = params.stride_width;
      activation_ = params.activation;
    };
    is_depthwise_ ? read(TfLiteDepthwiseConvParams()) : read(TfLiteConvParams());
  }

  // Adds the products of taps line by line, with channels in order, and then the bias.
  float ValueOf(const Image& in, int sample, int out_y, int out_x, int channel) const {
    const int y = out_y * stride_height_ - PadBefore(in.height, height_, stride_height_);
    const int x = out_x * stride_width_ - PadBefore(in.width, width_, stride_width_);
    const int first = is_depthwise_ ? channel : 0;
    const int last = is_depthwise_ ? channel + 1 : in.channels;
    float sum = 0;
    for (int tap = 0; tap < height_ * width_; ++tap) {
      for (int c = first; c < last; ++c) {
        const int at = is_depthwise_ ? tap * in.channels + c
                                     : (channel * height_ * width_ + tap) * in.channels + c;
        sum = std::fma(in.At(sample, y + tap / width_, x + tap % width_, c),
                       filter_[static_cast<size_t>(at)], sum);
      }
    }
    sum += bias_[static_cast<size_t>(channel)];
    if (activation_ != kTfLiteActNone && sum < 0) return 0;
    return activation_ == kTfLiteActRelu6 && sum > 6 ? 6 : sum;
  }

  std::vector<float> Of(const Image& in, const Image& out) const {
    std::vector<float> values;
    for (int at = 0; at < out.batch * out.height * out.width * out.channels; ++at) {
      const int pixel = at / out.channels;
      values.push_back(ValueOf(in, pixel / out.width / out.height, pixel / out.width % out.height,
                               pixel % out.width, at % out.channels));
    }
    return values;
  }

 private:
  static const GraphTensor& Input(const Graph& graph, const GraphOperator& op, size_t input) {
    return graph.tensors[static_cast<size_t>(op.inputs[input])];
  }
  int PadBefore(int in, int taps, int stride) const {
    const int out = (in + stride - 1) / stride;
    return is_same_ ? std::max((out - 1) * stride + taps - in, 0) / 2 : 0;
  }

  bool is_depthwise_;
  int height_;
  int width_;
  std::vector<float> filter_;
  std::vector<float> bias_;
  bool is_same_;
  int stride_height_;
  int stride_width_;
  TfLiteFusedActivation activation_;
};

// Runs a graph with the result of each operator as an output, and computes each convolution again.
void ExpectConvsExact(const Graph& graph, const DelegatePtr& delegate, int batch) {
  const Graph shown = WithAllOutputs(graph);
  MiniHost host(shown);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  std::vector<int> shape = graph.tensors[0].shape;
  shape[0] = batch;
  ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
  for (size_t i = 0; i < shown.operators.size(); ++i) {
    const GraphOperator& op = shown.operators[i];
    if (!IsConv(op)) continue;
    const auto made = std::ranges::find(shown.outputs, op.inputs[0]);
    const Image in(made == shown.outputs.end() ? host.input(0)
                                               : host.output(made - shown.outputs.begin()));
    const Image out(host.output(i));
    const std::vector<float> expected = Conv(shown, op).Of(in, out);
    ASSERT_EQ(out.values.size(), expected.size());
    for (size_t at = 0; at < expected.size(); ++at) {
      ASSERT_EQ(std::bit_cast<uint32_t>(out.values[at]), std::bit_cast<uint32_t>(expected[at]))
          << out.values[at] << " instead of " << expected[at] << " at " << at << " of operator "
          << i;
    }
  }
}

Outputs RunFresh(const Graph& graph, const DelegateOptions& options, std::vector<int> shape) {
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), graph.operators.size());
  EXPECT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
  return outputs;
}

TEST(FloatLayers, ConvolutionsGiveWhatTheirProductsAddUpTo) {
  const Graph graph = Network();
  for (const std::string& kernel : Kernels()) {
    for (const char* threads : {"1", "3"}) {
      for (const char* fuse : {"on", "off"}) {
        SCOPED_TRACE(kernel + ", " + threads + " threads, fuse " + fuse);
        ExpectConvsExact(graph,
                         CreateDelegate({{"kernel", kernel},
                                         {"num_threads", threads},
                                         {"fuse", fuse},
                                         {"placement", PlacementOf(graph)}}),
                         2);
      }
    }
  }
}

TEST(FloatLayers, ResultsDependNeitherOnKernelNorOnThreads) {
  const Graph graph = Network();
  const std::string placement = PlacementOf(graph);
  for (int batch : {0, 1, 2, 40}) {  // 40 samples take two passes
    const std::vector<int> shape = {batch, 8, 100, 3};
    const Outputs expected = RunFresh(
        graph, {{"kernel", "reference"}, {"num_threads", "1"}, {"placement", placement}}, shape);
    for (const std::string& kernel : Kernels()) {
      for (const char* threads : {"1", "3"}) {
        for (const char* fuse : {"on", "off"}) {
          SCOPED_TRACE(kernel + ", " + threads + " threads, fuse " + fuse);
          EXPECT_EQ(RunFresh(graph,
                             {{"kernel", kernel},
                              {"num_threads", threads},
                              {"fuse", fuse},
                              {"placement", placement}},
                             shape),
                    expected);
        }
        if (!IsPreferred()) continue;
        EXPECT_EQ(RunFresh(graph, {{"kernel", kernel}, {"num_threads", threads}}, shape), expected);
      }
    }
  }
}

TEST(FloatLayers, ResizeGivesWhatAFreshHostGives) {
  const Graph graph = Network();
  const DelegateOptions options = {{"num_threads", "2"}, {"placement", PlacementOf(graph)}};
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  for (const std::vector<int>& shape : {std::vector<int>{3, 8, 100, 3},
                                        {1, 5, 30, 3},
                                        {2, 40, 130, 3},
                                        {0, 8, 100, 3},
                                        {1, 8, 100, 3}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
    EXPECT_EQ(outputs, RunFresh(graph, options, shape));
  }
}

// The rows for floats are of no higher ISA than the kernel that was asked for.
TEST(FloatLayers, KernelsAreThoseOfTheIsaThatIsForced) {
  const Graph graph = Network();
  for (const std::string& kernel : Kernels()) {
    SCOPED_TRACE(kernel);
    const DelegatePtr delegate =
        CreateDelegate({{"kernel", kernel}, {"placement", PlacementOf(graph)}});
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    larq_engine_profile_start(delegate.get());
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
    int convs = 0;
    for (const StepProfile& row : StopProfile(delegate.get())) {
      if (row.op != "CONV_2D" && row.op != "DEPTHWISE_CONV_2D") continue;
      EXPECT_EQ(row.kernel, SelectFloats(AllowedFeatures(DetectCpuFeatures(), kernel)).name);
      ++convs;
    }
    EXPECT_EQ(convs, 5);
  }
}

// The convolution has more blocks of channels than the step before it in its group. By itself, with
// few pixels, it is cut into these blocks.
TEST(FloatLayers, AllBlocksOfChannelsAreComputed) {
  for (const auto& [size, are_grouped] : {std::pair(10, true), {2, false}}) {
    ModelBuilder builder(kTfLiteFloat32, {1, size, size, 8});
    builder.AddFloatPool({.stride_height = 1, .stride_width = 1});
    builder.AddFloatConv({.filters = 200, .filter_height = 1, .filter_width = 1});
    const Graph graph = builder.AddQuantize().AddConv({.filters = 4}).Build();
    for (const std::string& kernel : Kernels()) {
      for (const char* threads : {"1", "3"}) {
        SCOPED_TRACE(kernel + ", " + threads + " threads, size " + std::to_string(size));
        const DelegatePtr delegate = CreateDelegate(
            {{"kernel", kernel}, {"num_threads", threads}, {"placement", PlacementOf(graph)}});
        larq_engine_profile_start(delegate.get());
        ExpectConvsExact(graph, delegate, 1);
        for (const StepProfile& row : StopProfile(delegate.get())) {
          if (row.op == "CONV_2D") {
            EXPECT_EQ(row.group, are_grouped ? 0 : 1);
          }
        }
      }
    }
  }
}

// Layers of bits bring the convolutions of floats next to them.
TEST(FloatLayers, AreTakenWhereLayersOfBitsBringThem) {
  const Graph graph = Network();
  const size_t all = graph.operators.size();
  EXPECT_EQ(CountClaimed(graph), IsPreferred() ? all : all - 5);
  EXPECT_EQ(CountClaimed(graph, {{"fuse", "off"}}), 4u);  // two pairs of LceQuantize and LceBconv2d
  EXPECT_EQ(CountClaimed(graph, {{"placement", "0:host,12:host"}}),
            IsPreferred() ? all - 1 : all - 5);
}

TEST(FloatLayers, ThoseThatNoLayerOfBitsTouchesStayWithTheHost) {
  ModelBuilder builder(kTfLiteFloat32, {1, 8, 8, 16});
  builder.AddFloatConv({}).AddDepthwiseConv({}).AddRelu(builtin::kRelu);
  EXPECT_EQ(CountClaimed(builder.Build()), 0u);
  // The convolution of floats has the same input as a layer of bits.
  Graph graph = builder.AddQuantize().AddConv({.filters = 8}).Build();
  graph.operators[3].inputs[0] = 0;
  EXPECT_EQ(CountClaimed(graph), 2u);
}

TEST(FloatLayers, OfSeveralChannelsForEachTheyStayWithTheHost) {
  for (int channels : {1, 16}) {
    for (int multiplier : {1, 2}) {
      ModelBuilder builder(kTfLiteFloat32, {1, 8, 8, channels});
      builder.AddDepthwiseConv({}, multiplier).AddQuantize().AddConv({.filters = 8});
      EXPECT_EQ(CountClaimed(builder.Build()), IsPreferred() && multiplier == 1 ? 3u : 2u);
    }
  }
}

Graph OneConv() {
  ConvConfig config = {.filters = 6, .stride_width = 2};
  return ModelBuilder(kTfLiteFloat32, {1, 9, 7, 3}).AddFloatConv(config).Build();
}

Graph OneDepthwise() {
  return ModelBuilder(kTfLiteFloat32, {1, 9, 7, 3}).AddDepthwiseConv({}).Build();
}

// Faults that only convolutions of floats have.
const Fault kFaults[] = {
    {"ImageOfInt32", [](Graph* g) { Input(g, 0).type = kTfLiteInt32; }},
    {"ImageOfNoChannels",
     [](Graph* g) {
       Input(g, 0).shape = {1, 9, 7, 0};
     }},
    {"ResultOfInt32", [](Graph* g) { g->tensors.back().type = kTfLiteInt32; }},
    {"BiasOfInt32", [](Graph* g) { Input(g, 2).type = kTfLiteInt32; }},
    {"BiasOfTwo",
     [](Graph* g) {
       Input(g, 2).shape = {2};
       Input(g, 2).data.resize(2 * sizeof(float));
     }},
    {"OneInput", [](Graph* g) { g->operators[0].inputs.resize(1); }},
};

const OptionFault<TfLiteDepthwiseConvParams> kMultiplierFaults[] = {
    {"MultiplierOf0", [](auto* p) { p->depth_multiplier = 0; }},
    {"MultiplierBelow0", [](auto* p) { p->depth_multiplier = -1; }},
    {"MultiplierOfOtherFilters", [](auto* p) { p->depth_multiplier = 3; }},
    {"MultiplierThatIsLargest", [](auto* p) { p->depth_multiplier = kLargest; }},
};

TEST(FloatLayers, FaultyOnesAreLeftOrRefused) {
  ExpectFaultyConvsLeft<TfLiteConvParams>(OneConv());
  ExpectFaultyConvsLeft<TfLiteDepthwiseConvParams>(OneDepthwise());
  for (const Graph& graph : {OneConv(), OneDepthwise()}) ExpectLeft(graph, kFaults);
  ExpectLeft<TfLiteDepthwiseConvParams>(OneDepthwise(), kMultiplierFaults);
}

TEST(FloatLayers, ShapesThatDoNotFitAreAnError) {
  for (const Graph& graph : {OneConv(), OneDepthwise()}) ExpectShapesThatDoNotFitAreAnError(graph);
}

}  // namespace
}  // namespace larq_engine::testing
