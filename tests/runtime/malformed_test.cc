// Tests models with one fault each. The error names the operator, what was expected and what was
// there, and says what to do. The host survives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Some cases depend on how much memory a process can address.
constexpr bool k64Bits = sizeof(size_t) == 8;

// Operator 0 quantizes, and a case damages operator 1.
ModelBuilder Conv(const ConvConfig& config = {.filters = 6}, int channels = 40) {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, channels});
  builder.AddQuantize().AddConv(config);
  return builder;
}
ModelBuilder Pool() {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 40});
  builder.AddQuantize().AddPool({});
  return builder;
}
ModelBuilder Dequantize(TfLiteType type = kTfLiteFloat32) {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 40});
  builder.AddQuantize().AddDequantize(type);
  return builder;
}
ModelBuilder Weights() {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 40});
  builder.AddQuantize().AddUnpackWeights({6, 3, 3, 5}, 0, 6);  // 270 weights in 9 words
  return builder;
}
ModelBuilder Quantize(TfLiteType type = kTfLiteFloat32) {
  return ModelBuilder(type, {1, 5, 5, 40}).AddQuantize();
}
// Makes a quantization to two bits.
ModelBuilder QuantizePlanes(bool has_channel_limits = false, int channels = 40) {
  return ModelBuilder(kTfLiteFloat32, {1, 5, 5, channels}).AddQuantize(2, has_channel_limits);
}

ModelBuilder QuantizeBytes() { return ModelBuilder(kTfLiteUInt8, {1, 5, 5, 40}).AddQuantize(8); }
ModelBuilder PlanesConv(ConvConfig config = {.filters = 6, .bits_in = 2, .bits_weights = 3},
                        int channels = 40) {
  return QuantizePlanes(false, channels).AddConv(config);
}

GraphTensor& InputOf(Graph* graph, size_t op, size_t input) {
  return graph->tensors.at(graph->operators.at(op).inputs.at(input));
}
GraphTensor& OutputOf(Graph* graph, size_t op) {
  return graph->tensors.at(graph->operators.at(op).outputs.at(0));
}

// Returns the errors that the host reports. The graph must fail before it runs.
std::string ErrorsOf(const Graph& graph) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  if (host.ApplyDelegate(delegate.get()) == kTfLiteOk) {
    EXPECT_EQ(host.Allocate(), kTfLiteError) << "nothing was found wrong";
  }
  return host.errors();
}

struct Fault {
  const char* name;
  Graph (*base)();
  void (*spoil)(Graph*);
  const char* op;        // beginning of the message
  const char* expected;  // parts of the message, in order
  const char* got;
};

const Fault kFaults[] = {
    // Faults of LceQuantize.
    {"QuantizeOfInt32", [] { return Quantize().Build(); },
     [](Graph* g) { g->tensors[0].type = kTfLiteInt32; }, "LceQuantize 'LceQuantize0' (#0): input",
     "expected float32 or int8 or bool", "got int32"},
    {"QuantizeToFloat", [] { return Quantize().Build(); },
     [](Graph* g) { OutputOf(g, 0).type = kTfLiteFloat32; },
     "LceQuantize 'LceQuantize0' (#0): output", "expected int32", "got float32"},
    {"QuantizeOfScalar", [] { return Quantize().Build(); },
     [](Graph* g) {
       g->tensors[0].shape.clear();
       OutputOf(g, 0).shape.clear();
     },
     "LceQuantize 'LceQuantize0' (#0): input", "expected at least 1 dimension", "got a scalar"},
    {"QuantizeWithTwoInputs", [] { return Quantize().Build(); },
     [](Graph* g) { g->operators[0].inputs.push_back(0); },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 1 inputs", "got 2"},
    {"QuantizeWithAnOption", [] { return Quantize().Build(); },
     [](Graph* g) {
       g->operators[0].options = EncodeOptions({{"foo", 1}});
     },
     "LceQuantize 'LceQuantize0' (#0): ", "unknown option 'foo'; expected no options", "upgrade"},
    {"QuantizeWithOptionsThatAreNone", [] { return Quantize().Build(); },
     [](Graph* g) {
       g->operators[0].options = {1, 2, 3, 4};
     },
     "LceQuantize 'LceQuantize0' (#0): ", "expected a map with no options", "corrupted"},
    {"QuantizeWithoutInput", [] { return Quantize().Build(); },
     [](Graph* g) { g->operators[0].inputs.clear(); },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 1 inputs", "got 0"},
    {"QuantizeOfMissingTensor", [] { return Quantize().Build(); },
     [](Graph* g) { g->operators[0].inputs[0] = kTfLiteOptionalTensor; },
     "LceQuantize 'LceQuantize0' (#0): input", "expected float32 or int8 or bool", "got no tensor"},
    {"QuantizeWithoutOutput", [] { return Quantize().Build(); },
     [](Graph* g) { g->operators[0].outputs.clear(); }, "LceQuantize (#0): ", "expected 1 output",
     "got 0"},
    {"QuantizeToOtherRank", [] { return Quantize().Build(); },
     [](Graph* g) {
       OutputOf(g, 0).shape = {25, 2};
     },
     "LceQuantize 'LceQuantize0' (#0): output", "expected 4 dimensions", "got shape [25, 2]"},
    {"QuantizePerChannel", [] { return Quantize(kTfLiteInt8).Build(); },
     [](Graph* g) { g->tensors[0].zero_points.assign(40, 1); },
     "larq_engine: tensor 'input' (#0): ", "expected 1 zero points, one for each scale", "got 40"},

    // Faults of LceQuantize to several bits.
    {"QuantizeToNineBits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) {
       g->operators[0].options = EncodeOptions({{"bits", 9}});
     },
     "LceQuantize 'LceQuantize0' (#0): ", "option 'bits': expected 2 to 8", "got 9"},
    {"QuantizeToOneBitWithTheOption", [] { return QuantizePlanes().Build(); },
     [](Graph* g) {
       g->operators[0].options = EncodeOptions({{"bits", 1}});
     },
     "LceQuantize 'LceQuantize0' (#0): ", "option 'bits': expected 2 to 8", "got 1"},
    {"QuantizeToTwoBitsWithoutLimits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { g->operators[0].inputs.pop_back(); },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 2 inputs", "got 1"},
    {"QuantizeWithLimitsToOneBit", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { g->operators[0].options.clear(); },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 1 inputs", "got 2"},
    {"QuantizeInt8ToTwoBits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { g->tensors[0].type = kTfLiteInt8; }, "LceQuantize 'LceQuantize0' (#0): input",
     "expected float32", "got int8"},
    {"QuantizeBytesToOneBit", [] { return QuantizeBytes().Build(); },
     [](Graph* g) { g->operators[0].options.clear(); }, "LceQuantize 'LceQuantize0' (#0): input",
     "expected float32 or int8 or bool", "got uint8"},
    {"QuantizeBytesToSevenBits", [] { return QuantizeBytes().Build(); },
     [](Graph* g) {
       g->operators[0].options = EncodeOptions({{"bits", 7}});
     },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 2 inputs", "got 1"},
    {"QuantizeInt8ToEightBits", [] { return QuantizeBytes().Build(); },
     [](Graph* g) { g->tensors[0].type = kTfLiteInt8; },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 2 inputs", "got 1"},
    {"QuantizeBytesWithLimits", [] { return QuantizeBytes().Build(); },
     [](Graph* g) { g->operators[0].inputs.push_back(g->operators[0].inputs[0]); },
     "LceQuantize 'LceQuantize0' (#0): ", "expected 1 inputs", "got 2"},
    {"QuantizeWithLimitsOfInt32", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { InputOf(g, 0, 1).type = kTfLiteInt32; },
     "LceQuantize 'LceQuantize0' (#0): limits", "expected float32", "got int32"},
    {"QuantizeWithComputedLimits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { InputOf(g, 0, 1).is_constant = false; },
     "LceQuantize 'LceQuantize0' (#0): limits", "expected a constant", "computed"},
    {"QuantizeWithFourLimits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) {
       InputOf(g, 0, 1).shape = {4};
       InputOf(g, 0, 1).data.resize(16);
     },
     "LceQuantize 'LceQuantize0' (#0): limits 'LceQuantize0/limits'", "expected 3 for 2 bits",
     "got shape [4]"},
    {"QuantizeWithTooFewBytesOfLimits", [] { return QuantizePlanes().Build(); },
     [](Graph* g) { InputOf(g, 0, 1).data.resize(8); }, "LceQuantize 'LceQuantize0' (#0): limits",
     "expected 12 bytes", "got 8"},
    {"QuantizeWithLimitsOfOtherChannels", [] { return QuantizePlanes(true).Build(); },
     [](Graph* g) {
       InputOf(g, 0, 1).shape = {3, 39};
       InputOf(g, 0, 1).data.resize(3 * 39 * 4);
       std::fill(InputOf(g, 0, 1).data.begin(), InputOf(g, 0, 1).data.end(), 0);
     },
     "LceQuantize 'LceQuantize0' (#0): input", "expected 39 channels", "got shape [1, 5, 5, 40]"},
    {"QuantizeWithLimitsThatFall", [] { return QuantizePlanes().Build(); },
     [](Graph* g) {
       const float limits[] = {0, 2, 1};
       std::memcpy(InputOf(g, 0, 1).data.data(), limits, sizeof(limits));
     },
     "LceQuantize 'LceQuantize0' (#0): limits", "none is smaller than the one before",
     "got 2.000000 and 1.000000"},
    {"QuantizeWithLimitsThatAreNone", [] { return QuantizePlanes().Build(); },
     [](Graph* g) {
       const float limits[] = {NAN, 1, 2};
       std::memcpy(InputOf(g, 0, 1).data.data(), limits, sizeof(limits));
     },
     "LceQuantize 'LceQuantize0' (#0): limits", "none is smaller than the one before", "nan"},

    // Faults of operators that read several bits.
    {"ConvOfTwoBitsOfThree", [] { return PlanesConv().Build(); },
     [](Graph* g) {
       OptionMap options = PlanesConv().Options(1);
       options["bits_in"] = 3;
       g->operators[1].options = EncodeOptions(options);
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected 6 words a pixel for 40 channels of 3 bits",
     "got shape [1, 5, 5, 4]"},
    {"ConvOfOneBitOfAsManyWords", [] { return PlanesConv({.filters = 6}, 64).Build(); },
     [](Graph* g) {
       // Two words may be 64 channels, or two bits of 32 channels.
       g->tensors[0].shape[3] = 32;
       OutputOf(g, 0).shape[3] = 2;
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected 1 bit a value", "got 2 from the operator"},
    {"ConvOfUnevenFilterWords", [] { return PlanesConv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape[3] = 5;
       InputOf(g, 1, 1).data.resize(6 * 9 * 5 * 4);
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected 6 words for 40 input channels of 3 bits",
     "got 5 words"},
    {"ConvOfOnesAfterTheChannelsOfAPlane", [] { return PlanesConv().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).data[7] = 0x80; }, "LceBconv2d 'LceBconv2d1' (#1): filter",
     "expected zeros after the 40 channels", "got ones"},
    {"PoolOfTwoBits", [] { return QuantizePlanes().AddPool({}).Build(); },
     [](Graph* g) { OutputOf(g, 1).shape[3] = 4; }, "LceBMaxPool2d 'LceBMaxPool2d1' (#1): input",
     "expected 1 bit a value", "got 2"},
    {"DequantizeOfTwoBits",
     [] { return QuantizePlanes(false, 32).AddDequantize(kTfLiteFloat32).Build(); },
     [](Graph* g) { OutputOf(g, 1).shape[3] = 64; }, "LceDequantize 'LceDequantize1' (#1): input",
     "expected 1 bit a value", "got 2"},

    // Faults of LceDequantize.
    {"DequantizeOfFloat", [] { return Dequantize().Build(); },
     [](Graph* g) { OutputOf(g, 0).type = kTfLiteFloat32; }, "LceQuantize", "expected int32",
     "got float32"},
    {"DequantizeToInt16", [] { return Dequantize().Build(); },
     [](Graph* g) { OutputOf(g, 1).type = kTfLiteInt16; },
     "LceDequantize 'LceDequantize1' (#1): output", "expected float32 or int8 or bool",
     "got int16"},
    {"DequantizeToAnotherChannelCount", [] { return Dequantize().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).shape = {1, 5, 5, 65};
     },
     "LceDequantize 'LceDequantize1' (#1): input", "expected 3 words", "got shape [1, 5, 5, 2]"},
    {"DequantizeToUnknownChannelCount", [] { return Dequantize().Build(); },
     [](Graph* g) { OutputOf(g, 1).shape.clear(); }, "LceDequantize 'LceDequantize1' (#1): output",
     "expected a shape that ends in the number of channels", "got []"},
    {"DequantizeToInt8WithoutScale", [] { return Dequantize(kTfLiteInt8).Build(); },
     [](Graph* g) { OutputOf(g, 1).is_quantized = false; },
     "LceDequantize 'LceDequantize1' (#1): output", "expected one positive scale", "got none"},

    // Faults of a convolution's tensors.
    {"ConvOfFourInputs", [] { return Conv().Build(); },
     [](Graph* g) { g->operators[1].inputs.pop_back(); },
     "LceBconv2d 'LceBconv2d1' (#1): ", "expected 5 inputs", "got 4"},
    {"ConvWithTwoOutputs", [] { return Conv().Build(); },
     [](Graph* g) {
       g->operators[1].outputs.push_back(static_cast<int>(g->tensors.size()));
       g->tensors.push_back(OutputOf(g, 1));
     },
     "LceBconv2d (#1): ", "expected 1 output", "got 2"},
    {"ConvOfFloat", [] { return Conv().Build(); }, [](Graph* g) { g->operators[1].inputs[0] = 0; },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected int32", "got float32"},
    {"ConvToInt64", [] { return Conv().Build(); },
     [](Graph* g) { OutputOf(g, 1).type = kTfLiteInt64; }, "LceBconv2d 'LceBconv2d1' (#1): output",
     "expected float32 or int8 or int32", "got int64"},
    {"ConvToAConstant", [] { return Conv().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).is_constant = true;
       OutputOf(g, 1).data.resize(5 * 5 * 6 * 4);
     },
     "larq_engine: operator #1, to 'LceBconv2d1': ", "expected outputs without data of their own",
     "got the constant"},
    {"ConvOfRank3", [] { return Conv().Build(); },
     [](Graph* g) {
       g->tensors[0].shape = {5, 5, 40};
       OutputOf(g, 0).shape = {5, 5, 2};
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected 4 dimensions", "got shape [5, 5, 2]"},
    {"ConvToOtherRank", [] { return Conv().Build(); },
     [](Graph* g) { OutputOf(g, 1).shape = {150}; }, "LceBconv2d 'LceBconv2d1' (#1): output",
     "expected 4 dimensions", "got shape [150]"},
    {"ConvOfOtherDepth", [] { return Conv().Build(); },
     [](Graph* g) {
       g->tensors[0].shape = {1, 5, 5, 70};
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected 2 words", "got shape [1, 5, 5, 3]"},
    {"ConvOfFewerChannelsThanWerePacked", [] { return Conv().Build(); },
     [](Graph* g) {
       g->tensors[0].shape = {1, 5, 5, 50};
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected bits of 40 channels", "got 50"},
    {"ConvOfComputedFilter", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).is_constant = false; },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected a constant",
     "got a tensor that is computed"},
    {"ConvOfFilterThatIsAnInput", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).is_constant = false;
       g->inputs.push_back(g->operators[1].inputs[1]);
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected a constant", "computed"},
    {"ConvWithFloatFilter", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).type = kTfLiteFloat32; },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected int32", "got float32"},
    {"ConvWithoutFilter", [] { return Conv().Build(); },
     [](Graph* g) { g->operators[1].inputs[1] = kTfLiteOptionalTensor; },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected int32", "got no tensor"},
    {"ConvWithFlatFilter", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {6, 9, 2};
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected 4 dimensions", "got shape [6, 9, 2]"},
    {"ConvWithEmptyFilter", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {6, 0, 3, 2};
       InputOf(g, 1, 1).data.clear();
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "all at least 1", "got [6, 0, 3, 2]"},
    {"ConvWithNegativeFilter", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {6, -3, -3, 2};
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "all at least 1", "got [6, -3, -3, 2]"},
    {"ConvWithShortFilter", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).data.pop_back(); }, "LceBconv2d 'LceBconv2d1' (#1): filter",
     "expected 432 bytes", "got 431"},
    {"ConvWithEndlessFilter", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
     },
     "LceBconv2d 'LceBconv2d1' (#1): ", "[1073741824, 1073741824, 1073741824, 1073741824]",
     "expected a product that memory can hold"},
    // Counted in 32 bits, the values' bytes would wrap to 432, which is what the file has.
    {"ConvWithFilterOfMoreThan4GB", [] { return Conv({.filters = 6}, 40).Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {6, 1, 268435465, 2};
     },
     "LceBconv2d 'LceBconv2d1' (#1): ",
     k64Bits ? "expected 12884902320 bytes for shape [6, 1, 268435465, 2]"
             : "shape [6, 1, 268435465, 2]: expected a product that memory can hold",
     k64Bits ? "got 432" : "file is corrupted"},
    {"ConvWithFilterTail", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).data[5] = 1; },  // word 1 of a tap holds channels 32 to 39
     "LceBconv2d 'LceBconv2d1' (#1): filter", "expected zeros after the 40 channels", "got ones"},
    {"ConvWithShortMultiplier", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 2).shape = {5};
       InputOf(g, 1, 2).data.resize(20);
     },
     "LceBconv2d 'LceBconv2d1' (#1): multiplier", "expected 6 values", "got 5"},
    {"ConvWithShortBias", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 3).data.resize(20); }, "LceBconv2d 'LceBconv2d1' (#1): bias",
     "expected 24 bytes", "got 20"},
    {"ConvWithoutBias", [] { return Conv().Build(); },
     [](Graph* g) { g->operators[1].inputs[3] = kTfLiteOptionalTensor; },
     "LceBconv2d 'LceBconv2d1' (#1): bias", "expected float32", "got no tensor"},
    {"ConvWithIntegerMultiplier", [] { return Conv().Build(); },
     [](Graph* g) { InputOf(g, 1, 2).type = kTfLiteInt32; },
     "LceBconv2d 'LceBconv2d1' (#1): multiplier", "expected float32", "got int32"},
    {"ConvWithSquareMultiplier", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 2).shape = {2, 3};
     },
     "LceBconv2d 'LceBconv2d1' (#1): multiplier", "expected 1 dimensions", "got shape [2, 3]"},
    {"ConvToBitsWithoutThreshold",
     [] { return Conv({.filters = 6, .output = kTfLiteInt32}).Build(); },
     [](Graph* g) { g->operators[1].inputs[4] = kTfLiteOptionalTensor; },
     "LceBconv2d 'LceBconv2d1' (#1): threshold", "expected int32", "got no tensor"},
    {"ConvToBitsWithFloatThreshold",
     [] { return Conv({.filters = 6, .output = kTfLiteInt32}).Build(); },
     [](Graph* g) { InputOf(g, 1, 4).type = kTfLiteFloat32; },
     "LceBconv2d 'LceBconv2d1' (#1): threshold", "expected int32", "got float32"},
    {"ConvToInt8WithoutScale", [] { return Conv({.filters = 6, .output = kTfLiteInt8}).Build(); },
     [](Graph* g) { OutputOf(g, 1).is_quantized = false; }, "LceBconv2d 'LceBconv2d1' (#1): output",
     "expected one positive scale", "got none"},
    {"ConvToInt8PerChannel", [] { return Conv({.filters = 6, .output = kTfLiteInt8}).Build(); },
     [](Graph* g) {
       OutputOf(g, 1).scales.assign(6, 0.1f);
       OutputOf(g, 1).zero_points.assign(6, 0);
     },
     "larq_engine: tensor 'LceBconv2d1' (#5): ", "expected one scale or 1", "got 6"},
    {"ConvToInt8WithScaleZero", [] { return Conv({.filters = 6, .output = kTfLiteInt8}).Build(); },
     [](Graph* g) { OutputOf(g, 1).scales = {0}; }, "LceBconv2d 'LceBconv2d1' (#1): output",
     "expected one positive scale", "got 0"},
    {"ConvToInt8WithScaleNaN", [] { return Conv({.filters = 6, .output = kTfLiteInt8}).Build(); },
     [](Graph* g) { OutputOf(g, 1).scales = {std::nanf("")}; },
     "larq_engine: tensor 'LceBconv2d1' (#5): ", "expected scales of at least 0", "got nan"},
    {"ConvToInt8WithWildZeroPoint",
     [] { return Conv({.filters = 6, .output = kTfLiteInt8}).Build(); },
     [](Graph* g) { OutputOf(g, 1).zero_points = {128}; },
     "larq_engine: tensor 'LceBconv2d1' (#5): ", "expected zero points of -128 to 127", "got 128"},
    {"ConvOfUnevenGroups", [] { return Conv({.filters = 6, .groups = 2}, 64).Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {3, 6, 3, 1};
       for (int input : {2, 3}) {
         InputOf(g, 1, input).shape = {3};
         InputOf(g, 1, input).data.resize(12);
       }
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "which divide the 3 output channels", "got 1 words"},
    {"ConvOfNarrowGroups", [] { return Conv().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {6, 6, 3, 1};
     },
     "LceBconv2d 'LceBconv2d1' (#1): filter", "a multiple of 32 input channels", "got 1 words"},
    {"ConvLargerThanValidImage", [] { return Conv({.filters = 6, .padding = kValid}).Build(); },
     [](Graph* g) {
       g->tensors[0].shape = {1, 2, 5, 40};
     },
     "LceBconv2d 'LceBconv2d1' (#1): input", "expected an image that holds the filter of 3 x 3",
     "got shape [1, 2, 5, 2]"},

    // Faults of a pooling's tensors. (Faults of its options are below.)
    {"PoolOfRank2", [] { return Pool().Build(); },
     [](Graph* g) {
       g->tensors[0].shape = {5, 40};
       OutputOf(g, 0).shape = {5, 2};
     },
     "LceBMaxPool2d 'LceBMaxPool2d1' (#1): input", "expected 4 dimensions", "got shape [5, 2]"},
    {"PoolToOtherRank", [] { return Pool().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).shape = {9, 2};
     },
     "LceBMaxPool2d 'LceBMaxPool2d1' (#1): output", "expected 4 dimensions", "got shape [9, 2]"},
    {"PoolToFloat", [] { return Pool().Build(); },
     [](Graph* g) { OutputOf(g, 1).type = kTfLiteFloat32; },
     "LceBMaxPool2d 'LceBMaxPool2d1' (#1): output", "expected int32", "got float32"},
    {"PoolOfFloat", [] { return Pool().Build(); }, [](Graph* g) { g->operators[1].inputs[0] = 0; },
     "LceBMaxPool2d 'LceBMaxPool2d1' (#1): input", "expected int32", "got float32"},

    // Faults of the tensors of weights.
    {"WeightsOfOneInput", [] { return Weights().Build(); },
     [](Graph* g) { g->operators[1].inputs.pop_back(); },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): ", "expected 2 inputs", "got 1"},
    {"WeightsWithTwoOutputs", [] { return Weights().Build(); },
     [](Graph* g) {
       g->operators[1].outputs.push_back(static_cast<int>(g->tensors.size()));
       g->tensors.push_back(OutputOf(g, 1));
     },
     "LceUnpackWeights (#1): ", "expected 1 output", "got 2"},
    {"WeightsOfFloatBits", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 0).type = kTfLiteFloat32; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected int32", "got float32"},
    {"WeightsOfComputedBits", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 0).is_constant = false; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected a constant",
     "got a tensor that is computed"},
    {"WeightsWithoutBits", [] { return Weights().Build(); },
     [](Graph* g) { g->operators[1].inputs[0] = kTfLiteOptionalTensor; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected int32", "got no tensor"},
    {"WeightsOfSquareBits", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 0).shape = {3, 3};
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected 1 dimensions",
     "got shape [3, 3]"},
    {"WeightsOfTooFewWords", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 0).shape = {8};
       InputOf(g, 1, 0).data.resize(32);
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected 9 words for 270 weights",
     "got 8"},
    {"WeightsOfTooManyWords", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 0).shape = {10};
       InputOf(g, 1, 0).data.resize(40);
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected 9 words for 270 weights",
     "got 10"},
    {"WeightsOfLessThanNoWords", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 0).shape = {-9}; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected 9 words", "got -9"},
    {"WeightsOfShortBits", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 0).data.pop_back(); },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected 36 bytes", "got 35"},
    {"WeightsWithATail", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 0).data[33] |= 0x40; },  // bit 14 of the last word
     "LceUnpackWeights 'LceUnpackWeights1' (#1): bits", "expected zeros after the 270 weights",
     "got ones"},
    {"WeightsOfIntegerScale", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).type = kTfLiteInt32; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected float32", "got int32"},
    {"WeightsOfComputedScale", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).is_constant = false; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected a constant",
     "got a tensor that is computed"},
    {"WeightsOfTooFewScales", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {5};
       InputOf(g, 1, 1).data.resize(20);
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected 1 value, or 6", "got 5"},
    {"WeightsOfNoScale", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {0};
       InputOf(g, 1, 1).data.clear();
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected 1 value, or 6", "got 0"},
    {"WeightsOfShortScale", [] { return Weights().Build(); },
     [](Graph* g) { InputOf(g, 1, 1).data.resize(20); },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected 24 bytes", "got 20"},
    {"WeightsOfSquareScale", [] { return Weights().Build(); },
     [](Graph* g) {
       InputOf(g, 1, 1).shape = {2, 3};
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected 1 dimensions",
     "got shape [2, 3]"},
    {"WeightsToInt16", [] { return Weights().Build(); },
     [](Graph* g) { OutputOf(g, 1).type = kTfLiteInt16; },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): output", "expected float32 or int8", "got int16"},
    {"FractionsToInt8", [] { return Weights().Build(); },
     [](Graph* g) {
       const float scales[] = {1, 127, -127, 0, 0.5f, 2};
       std::memcpy(InputOf(g, 1, 1).data.data(), scales, sizeof(scales));
       OutputOf(g, 1).type = kTfLiteInt8;
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected whole numbers from -127 to 127",
     "got 0.5"},
    {"LargeScalesToInt8", [] { return Weights().Build(); },
     [](Graph* g) {
       const float scales[] = {1, 128, 1, 1, 1, 1};
       std::memcpy(InputOf(g, 1, 1).data.data(), scales, sizeof(scales));
       OutputOf(g, 1).type = kTfLiteInt8;
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected whole numbers from -127 to 127",
     "got 128"},
    {"NoNumbersToInt8", [] { return Weights().Build(); },
     [](Graph* g) {
       const float scales[] = {1, std::numeric_limits<float>::quiet_NaN(), 1, 1, 1, 1};
       std::memcpy(InputOf(g, 1, 1).data.data(), scales, sizeof(scales));
       OutputOf(g, 1).type = kTfLiteInt8;
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): scale", "expected whole numbers from -127 to 127",
     "got nan"},
    {"WeightsToAConstant", [] { return Weights().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).is_constant = true;
       OutputOf(g, 1).data.resize(270 * 4);
     },
     "larq_engine: operator #1, to 'LceUnpackWeights1': ",
     "expected outputs without data of their own", "got the constant"},
    {"WeightsToAScalar", [] { return Weights().Build(); },
     [](Graph* g) { OutputOf(g, 1).shape.clear(); },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): output", "expected a shape that the file fixes",
     "got []"},
    {"WeightsToAnOpenShape", [] { return Weights().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).shape_signature = {6, -1, 3, 5};
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): output", "expected a shape that the file fixes",
     "got [6, -1, 3, 5]"},
    {"WeightsOfNoSize", [] { return Weights().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).shape = {6, 3, 0, 5};
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): output", "all sizes at least 1",
     "got [6, 3, 0, 5]"},
    {"WeightsOfEndlessShape", [] { return Weights().Build(); },
     [](Graph* g) {
       OutputOf(g, 1).shape = {6, k64Bits ? 1 << 30 : 1 << 13, 1 << 10, k64Bits ? 1 << 19 : 8};
     },
     "LceUnpackWeights 'LceUnpackWeights1' (#1): ",
     k64Bits ? "[6, 1073741824, 1024, 524288]" : "[6, 8192, 1024, 8]",
     "expected a product that memory can hold"},
};

class MalformedTensor : public ::testing::TestWithParam<Fault> {};

TEST_P(MalformedTensor, IsNamedWithExpectedAndGot) {
  const Fault& fault = GetParam();
  Graph graph = fault.base();
  fault.spoil(&graph);
  const std::string errors = ErrorsOf(graph);
  EXPECT_THAT(errors, StartsWith(fault.op));
  const size_t remedy = errors.find("; ");
  ASSERT_LT(remedy, errors.size() - 2) << "no remedy: " << errors;
  EXPECT_TRUE(std::islower(static_cast<unsigned char>(errors[remedy + 2]))) << errors;
  const size_t expected = errors.find(fault.expected);
  ASSERT_NE(expected, std::string::npos) << errors;
  EXPECT_NE(errors.find(fault.got, expected), std::string::npos) << errors;
}

INSTANTIATE_TEST_SUITE_P(Malformed, MalformedTensor, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Malformed, OperatorsOutOfOrder) {
  Graph graph = Conv().Build();
  std::swap(graph.operators[0], graph.operators[1]);
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteError);
  EXPECT_THAT(
      host.errors(),
      AllOf(HasSubstr("operator #0, to 'LceBconv2d1': expected inputs that are known before"),
            HasSubstr("an output of operator #1"), HasSubstr("file is corrupted")));
}

// Faults of options: every option of every operator, with every kind of fault.
struct OptionFault {
  const char* key;
  std::vector<int64_t> bad;  // values out of range
};

const int64_t kHuge = std::numeric_limits<int64_t>::max();
const int64_t kLow = std::numeric_limits<int64_t>::min();
const OptionFault kConvOptions[] = {
    {"channels_in", {0, -1, kHuge, kLow}},
    {"dilation_height_factor", {0, -1, kHuge, kLow}},
    {"dilation_width_factor", {0, -1, kHuge, kLow}},
    {"fused_activation_function", {-1, 4, 5, kHuge, kLow}},
    {"pad_values", {-2, 2, kHuge, kLow}},
    {"padding", {-1, 2, kHuge, kLow}},
    {"stride_height", {0, -1, kHuge, kLow}},
    {"stride_width", {0, -1, kHuge, kLow}},
};
const OptionFault kConvOptionsWithPads[] = {
    {"channels_in", {0, -1, kHuge, kLow}},
    {"dilation_height_factor", {0, -1, kHuge, kLow}},
    {"dilation_width_factor", {0, -1, kHuge, kLow}},
    {"fused_activation_function", {-1, 4, 5, kHuge, kLow}},
    {"pad_bottom", {-1, int64_t{1} << 31, kHuge, kLow}},
    {"pad_left", {-1, int64_t{1} << 31, kHuge, kLow}},
    {"pad_right", {-1, int64_t{1} << 31, kHuge, kLow}},
    {"pad_top", {-1, int64_t{1} << 31, kHuge, kLow}},
    {"pad_values", {-2, 2, kHuge, kLow}},
    {"stride_height", {0, -1, kHuge, kLow}},
    {"stride_width", {0, -1, kHuge, kLow}},
};
const OptionFault kWeightsOptions[] = {{"axis", {-1, 4, kHuge, kLow}}};
const OptionFault kPoolOptions[] = {
    {"filter_height", {0, -1, kHuge, kLow}}, {"filter_width", {0, -1, kHuge, kLow}},
    {"padding", {-1, 2, kHuge, kLow}},       {"stride_height", {0, -1, kHuge, kLow}},
    {"stride_width", {0, -1, kHuge, kLow}},
};

void ExpectOptionErrors(const ModelBuilder& builder, const std::string& op,
                        std::span<const OptionFault> faults) {
  const OptionMap good = builder.Options(1);
  ASSERT_EQ(good.size(), faults.size()) << "the list of options is not complete";
  const auto errors_with = [&builder](const std::vector<uint8_t>& options) {
    Graph graph = builder.Build();
    graph.operators[1].options = options;
    return ErrorsOf(graph);
  };
  for (const OptionFault& fault : faults) {
    const std::string key = fault.key;
    SCOPED_TRACE(key);
    for (int64_t value : fault.bad) {
      OptionMap options = good;
      options.at(key) = value;
      EXPECT_THAT(errors_with(EncodeOptions(options)),
                  AllOf(StartsWith(op), HasSubstr("option '" + key + "': expected"),
                        HasSubstr("got " + std::to_string(value))));
    }
    OptionMap missing = good;
    missing.erase(key);
    EXPECT_THAT(errors_with(EncodeOptions(missing)),
                AllOf(StartsWith(op), HasSubstr("option '" + key + "' is missing; expected")));
  }
  OptionMap unknown = good;
  unknown["zoom"] = 1;
  EXPECT_THAT(errors_with(EncodeOptions(unknown)),
              AllOf(StartsWith(op), HasSubstr("unknown option 'zoom'; expected")));
  EXPECT_THAT(errors_with({}),
              AllOf(StartsWith(op), HasSubstr("expected a FlexBuffer map, got 0")));
  const std::vector<uint8_t> encoded = EncodeOptions(good);
  for (size_t length = 0; length < encoded.size(); ++length) {
    const std::vector<uint8_t> tail(encoded.end() - static_cast<ptrdiff_t>(length), encoded.end());
    EXPECT_THAT(errors_with(tail), StartsWith(op)) << "the last " << length << " bytes";
    const std::vector<uint8_t> head(encoded.begin(),
                                    encoded.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_THAT(errors_with(head), StartsWith(op)) << "the first " << length << " bytes";
  }
}

TEST(Malformed, ConvOptions) {
  ExpectOptionErrors(Conv(), "LceBconv2d 'LceBconv2d1' (#1): ", kConvOptions);
}

ModelBuilder PaddedConv() { return Conv({.filters = 6, .pads = FilePads{0, 1, 2, 3}}); }

TEST(Malformed, ConvOptionsWithPads) {
  ExpectOptionErrors(PaddedConv(), "LceBconv2d 'LceBconv2d1' (#1): ", kConvOptionsWithPads);
}

// Pads and padding contradict each other.
TEST(Malformed, ConvOptionsWithPadsAndPadding) {
  Graph graph = PaddedConv().Build();
  OptionMap options = PaddedConv().Options(1);
  options["padding"] = kValid;
  graph.operators[1].options = EncodeOptions(options);
  EXPECT_THAT(ErrorsOf(graph), HasSubstr("unknown option 'padding'"));
  graph = Conv().Build();
  options = Conv().Options(1);
  options["pad_top"] = 1;
  graph.operators[1].options = EncodeOptions(options);
  EXPECT_THAT(ErrorsOf(graph), HasSubstr("unknown option 'pad_top'"));
}

TEST(Malformed, ConvWithPadsThatNoImageFits) {
  Graph graph = PaddedConv().Build();
  OptionMap options = PaddedConv().Options(1);
  options["pad_top"] = options["pad_bottom"] = std::numeric_limits<int32_t>::max();
  graph.operators[1].options = EncodeOptions(options);
  EXPECT_THAT(ErrorsOf(graph), AllOf(HasSubstr("pads of 2147483647 + 2147483647 x 2 + 3"),
                                     HasSubstr("feed smaller images")));
  graph = PaddedConv().Build();
  graph.tensors[0].shape = {1, 1, 5, 40};
  EXPECT_THAT(ErrorsOf(graph), AllOf(HasSubstr("expected an image that holds the filter of 3 x 3"),
                                     HasSubstr("pads of 0 + 1 x 2 + 3, got shape [1, 1, 5, 2]")));
}

const OptionFault kConvOptionsWithBits[] = {
    {"bits_in", {0, -1, 9, kHuge, kLow}},
    {"bits_weights", {0, -1, 9, kHuge, kLow}},
    {"channels_in", {0, -1, kHuge, kLow}},
    {"dilation_height_factor", {0, -1, kHuge, kLow}},
    {"dilation_width_factor", {0, -1, kHuge, kLow}},
    {"fused_activation_function", {-1, 4, 5, kHuge, kLow}},
    {"pad_values", {-2, 2, kHuge, kLow}},
    {"padding", {-1, 2, kHuge, kLow}},
    {"stride_height", {0, -1, kHuge, kLow}},
    {"stride_width", {0, -1, kHuge, kLow}},
};

TEST(Malformed, ConvOptionsWithBits) {
  ExpectOptionErrors(PlanesConv(), "LceBconv2d 'LceBconv2d1' (#1): ", kConvOptionsWithBits);
}

TEST(Malformed, PoolOptions) {
  ExpectOptionErrors(Pool(), "LceBMaxPool2d 'LceBMaxPool2d1' (#1): ", kPoolOptions);
}

TEST(Malformed, WeightsOptions) {
  ExpectOptionErrors(Weights(), "LceUnpackWeights 'LceUnpackWeights1' (#1): ", kWeightsOptions);
}

TEST(Malformed, WeightsThatAreMadeTwice) {
  Graph graph = Weights().Build();
  graph.operators.push_back(graph.operators[1]);
  EXPECT_THAT(
      ErrorsOf(graph),
      AllOf(HasSubstr("operator #2, to 'LceUnpackWeights1': expected outputs that nobody else "),
            HasSubstr("an output of operator #1; the file is corrupted")));
}

// The largest values that the options may have must not overflow anything.
TEST(Malformed, LargestStridesAndDilationsRun) {
  const int64_t largest = std::numeric_limits<int32_t>::max();
  const DelegatePtr delegate = CreateDelegate({});
  for (const ModelBuilder& builder : {Conv(), Pool()}) {
    OptionMap options = builder.Options(1);
    for (auto& [key, value] : options) {
      if (key != "channels_in" && key != "padding" && key != "pad_values" &&
          key != "fused_activation_function") {
        value = largest;
      }
    }
    Graph graph = builder.Build();
    graph.operators[1].options = EncodeOptions(options);
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    Outputs outputs;
    EXPECT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
  }
}

// Constants of any value are legal. This tests only that nothing breaks, not what they give.
TEST(Malformed, WildMultipliersAndThresholdsRun) {
  const DelegatePtr delegate = CreateDelegate({});
  for (TfLiteType output : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32}) {
    for (uint32_t word : {0x7fc00000u, 0x7f800000u, 0xff800000u, 0x7f7fffffu, 0x80000000u,
                          0x00000001u, 0x7fffffffu, 0xffffffffu}) {
      Graph graph = Conv({.filters = 6, .output = output}).Build();
      for (int input : graph.operators[1].inputs) {
        if (input < 0 || graph.tensors[input].shape != std::vector<int>{6}) continue;
        std::vector<uint8_t>& data = graph.tensors[input].data;
        for (size_t i = 0; i < data.size(); ++i)
          data[i] = static_cast<uint8_t>(word >> (i % 4 * 8));
      }
      MiniHost host(graph);
      ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
      Outputs outputs;
      EXPECT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
    }
  }
}

TEST(Malformed, DelegateOptions) {
  const auto error_of = [](const DelegateOptions& options) {
    std::string error = "accepted";
    EXPECT_EQ(CreateDelegate(options, &error), nullptr);
    return error;
  };
  EXPECT_THAT(error_of({{"threads", "2"}}),
              AllOf(HasSubstr("unknown option 'threads'"), HasSubstr("num_threads, kernel, fuse")));
  for (const char* threads : {"0", "257", "-1", "two", "", "2x", " 2", "99999999999999999999"}) {
    EXPECT_THAT(error_of({{"num_threads", threads}}),
                AllOf(HasSubstr("num_threads: expected 1 to 256"),
                      HasSubstr("got '" + std::string(threads) + "'")));
  }
  for (const char* kernel : {"fast", "", "AUTO"}) {
    EXPECT_THAT(error_of({{"kernel", kernel}}),
                AllOf(HasSubstr("option kernel"), HasSubstr("reference"), HasSubstr("bgemm_")));
  }
  // A missing report function is no reason to crash.
  const char* key = "threads";
  EXPECT_EQ(tflite_plugin_create_delegate(&key, &key, 1, nullptr), nullptr);
}

}  // namespace
}  // namespace larq_engine::testing
