// Tests models with one fault each. The error names the operator, what was expected and what was
// there, and says what to do. The host survives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/operator_faults.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Some cases depend on how much memory a process can address.
constexpr bool k64Bits = sizeof(size_t) == 8;

// Operator 0 quantizes 40 channels, and most faults are those of operator 1.
ModelBuilder Quantize(TfLiteType type = kTfLiteFloat32, int bits = 1, int channels = 40) {
  return ModelBuilder(type, {1, 5, 5, channels}).AddQuantize(bits);
}
ModelBuilder Conv(const ConvConfig& config = {.filters = 6}, int channels = 40) {
  return Quantize(kTfLiteFloat32, 1, channels).AddConv(config);
}
ModelBuilder PaddedConv() { return Conv({.filters = 6, .pads = FilePads{0, 1, 2, 3}}); }
ModelBuilder PlanesConv() {
  return Quantize(kTfLiteFloat32, 2).AddConv({.filters = 6, .bits_in = 2, .bits_weights = 3});
}
ModelBuilder Pool() { return Quantize().AddPool({}); }
ModelBuilder Square() { return Quantize().AddSquare(40); }
ModelBuilder Weights(TfLiteType type = kTfLiteFloat32) {
  return Quantize().AddUnpackWeights({6, 3, 3, 5}, 0, 6, type);  // 270 weights in 9 words
}

// The good models of operator_faults.txt.
const std::map<std::string, ModelBuilder (*)()> kBases = {
    {"quantize", [] { return Quantize(); }},
    {"quantize_int8", [] { return Quantize(kTfLiteInt8); }},
    {"quantize_two_bits", [] { return Quantize(kTfLiteFloat32, 2); }},
    {"quantize_bytes", [] { return Quantize(kTfLiteUInt8, 8); }},
    {"dequantize", [] { return Quantize().AddDequantize(kTfLiteFloat32); }},
    {"dequantize_int8", [] { return Quantize().AddDequantize(kTfLiteInt8); }},
    {"conv", [] { return Conv(); }},
    {"conv_to_bits", [] { return Conv({.filters = 6, .output = kTfLiteInt32}); }},
    {"conv_to_int8", [] { return Conv({.filters = 6, .output = kTfLiteInt8}); }},
    {"conv_of_groups", [] { return Conv({.filters = 6, .groups = 2}, 64); }},
    {"conv_of_valid", [] { return Conv({.filters = 6, .padding = kValid}); }},
    {"conv_with_pads", PaddedConv},
    {"conv_two_bits", PlanesConv},
    {"conv_two_bits_of_32",
     [] { return Quantize(kTfLiteFloat32, 2, 32).AddConv({.filters = 6, .bits_in = 2}); }},
    {"pool", Pool},
    {"square", Square},
    {"weights", [] { return Weights(); }},
    {"weights_int8", [] { return Weights(kTfLiteInt8); }},
};

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

const OperatorFaults& Listed() {
  static const OperatorFaults kFaults = ReadOperatorFaults();
  return kFaults;
}

class MalformedOperator : public ::testing::TestWithParam<OperatorFault> {};

TEST_P(MalformedOperator, IsNamedWithExpectedAndGot) {
  const OperatorFault& fault = GetParam();
  std::string errors = ErrorsOf(Spoilt(kBases.at(fault.base)(), fault));
  constexpr std::string_view kPlugIn = "larq_engine: ";
  if (errors.starts_with(kPlugIn)) errors.erase(0, kPlugIn.size());
  ASSERT_GE(fault.message.size(), 3u);
  EXPECT_THAT(errors, StartsWith(fault.message[0]));
  size_t at = 0;
  for (const std::string& part : fault.message) {
    at = errors.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " is not in " << errors;
    at += part.size();
  }
  const size_t remedy = errors.find("; ");
  ASSERT_LT(remedy, errors.size() - 2) << "no remedy: " << errors;
  EXPECT_TRUE(std::islower(static_cast<unsigned char>(errors[remedy + 2]))) << errors;
}

INSTANTIATE_TEST_SUITE_P(Malformed, MalformedOperator, ::testing::ValuesIn(Listed().faults),
                         [](const auto& info) { return info.param.name; });

TEST(Malformed, GoodModelsAreAccepted) {
  const DelegatePtr delegate = CreateDelegate({});
  for (const auto& [name, base] : kBases) {
    MiniHost host(base().Build());
    Outputs outputs;
    EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << name << host.errors();
    EXPECT_TRUE(RunOnce(&host, 1, 0, &outputs)) << name << host.errors();
  }
}

// Sizes that depend on how much memory a process can address.
TEST(Malformed, ConvWithFilterOfMoreThan4GB) {
  Graph graph = Conv().Build();
  // Counted in 32 bits, the values' bytes would wrap to 432, which is what the file has.
  InputOf(&graph, 1, 1).shape = {6, 1, 268435465, 2};
  EXPECT_THAT(
      ErrorsOf(graph),
      AllOf(StartsWith("LceBconv2d 'LceBconv2d1' (#1): "),
            HasSubstr(k64Bits ? "expected 12884902320 bytes for shape [6, 1, 268435465, 2], "
                                "got 432"
                              : "shape [6, 1, 268435465, 2]: expected a product that "
                                "memory can hold")));
}
TEST(Malformed, WeightsOfEndlessShape) {
  Graph graph = Weights().Build();
  OutputOf(&graph, 1).shape = {6, k64Bits ? 1 << 30 : 1 << 13, 1 << 10, k64Bits ? 1 << 19 : 8};
  EXPECT_THAT(ErrorsOf(graph),
              AllOf(StartsWith("LceUnpackWeights 'LceUnpackWeights1' (#1): "),
                    HasSubstr(k64Bits ? "[6, 1073741824, 1024, 524288]" : "[6, 8192, 1024, 8]"),
                    HasSubstr("expected a product that memory can hold")));
}

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

// Tests every option of operator 1 with every kind of fault.
void ExpectOptionErrors(const ModelBuilder& builder, const std::string& op) {
  const OptionMap good = builder.Options(1);
  const auto errors_with = [&builder](const std::vector<uint8_t>& options) {
    Graph graph = builder.Build();
    graph.operators[1].options = options;
    return ErrorsOf(graph);
  };
  for (const auto& [key, unused] : good) {
    SCOPED_TRACE(key);
    for (int64_t value : Listed().options.at(key)) {
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

TEST(Malformed, ConvOptions) { ExpectOptionErrors(Conv(), "LceBconv2d 'LceBconv2d1' (#1): "); }

TEST(Malformed, ConvOptionsWithPads) {
  ExpectOptionErrors(PaddedConv(), "LceBconv2d 'LceBconv2d1' (#1): ");
}

TEST(Malformed, ConvOptionsWithBits) {
  ExpectOptionErrors(PlanesConv(), "LceBconv2d 'LceBconv2d1' (#1): ");
}

TEST(Malformed, PoolOptions) {
  ExpectOptionErrors(Pool(), "LceBMaxPool2d 'LceBMaxPool2d1' (#1): ");
}

TEST(Malformed, SquareOptions) { ExpectOptionErrors(Square(), "LceBmatmul 'LceBmatmul1' (#1): "); }

TEST(Malformed, WeightsOptions) {
  ExpectOptionErrors(Weights(), "LceUnpackWeights 'LceUnpackWeights1' (#1): ");
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
