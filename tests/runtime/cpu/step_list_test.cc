// Tests ListSteps: concatenations split into parts, operators absorbed into others, and the order
// of steps.
#include "larq_engine/runtime/cpu/step_list.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op_table.h"
#include "tests/host/model_builder.h"

namespace larq_engine {
namespace {

// A program of convolutions of bits, clamps, sums, concatenations and quantizations. Its tensors
// are numbered in the order in which they are added.
class Network : public HostTensors {
 public:
  static constexpr int kConstant = -1;

  explicit Network(int height = 5) : height_(height) {}

  int Input(int channels) { return Tensor({1, height_, 5, channels}); }
  int InputOfAPixel(int channels) { return Tensor({1, 1, 1, channels}); }
  int Product(int a, int b, Activation activation = Activation::kNone) {
    activation_ = activation;
    const int output = Add("MUL", builtin::kMul, {a, b}, std::max(Channels(a), Channels(b)));
    activation_ = Activation::kNone;
    return output;
  }
  int Prelu(int input) {
    return Add("PRELU", builtin::kPrelu, {input, kConstant}, Channels(input));
  }
  int Average(int input) {  // over a whole image
    return Add("AVERAGE_POOL_2D", builtin::kAveragePool2d, {input}, Channels(input));
  }
  int Scale(int input) { return Add("MUL", builtin::kMul, {input, kConstant}, Channels(input)); }
  int Pool(int input, int stride, int taps = 2) {
    stride_ = stride;
    taps_ = taps;
    return Add("MAX_POOL_2D", builtin::kMaxPool2d, {input}, Channels(input));
  }
  int Clamp(int input) { return Add("RELU", builtin::kRelu, {input}, Channels(input)); }
  int Concatenation(const std::vector<int>& inputs) {
    int channels = 0;
    for (int input : inputs) channels += Channels(input);
    return Add("CONCATENATION", builtin::kConcatenation, inputs, channels);
  }
  // Adds MUL and LceQuantize. The LceQuantize absorbs the MUL by turning it into limits.
  int ScaleAndQuantize(int input) { return Quantize(Scale(input)); }
  // Adds a 1x1 convolution of 32 channels to 32.
  int Convolution(int bits) {
    return Add("LceBconv2d", builtin::kCustom, {bits, kConstant, kConstant, kConstant}, 32);
  }
  int Sum(int a, int b, Activation activation = Activation::kNone) {
    activation_ = activation;
    const int output = Add("ADD", builtin::kAdd, {a, b}, Channels(a));
    activation_ = Activation::kNone;
    return output;
  }
  int Quantize(int input) {
    return Add("LceQuantize", builtin::kCustom, {input}, (Channels(input) + 31) / 32);
  }

  int Reshape(int input, std::vector<int> dims) {
    const int output = Tensor(std::move(dims));
    const std::vector<int>& shape = dims_[static_cast<size_t>(output)];
    OpInfo info{.inputs = {Info(ElementType::kFloat32, input), ShapeConstant(shape)},
                .output = Info(ElementType::kFloat32, output)};
    OpName op_name{.kind = "RESHAPE", .layer = ""};
    program_.Add(*FindOp(builtin::kReshape, nullptr), op_name, info,
                 std::vector<int>{input, kConstant}, output, false);
    return output;
  }

  // Returns each step as a text: the operator, the values that it reads, the operators that it
  // absorbs, and the value that it makes. "from N": it writes at channel N of the output (of the
  // original value, if the output is a part).
  std::vector<std::string> List(const std::vector<int>& outputs, bool fuse = true) {
    program_.Absorb();
    EXPECT_TRUE(program_.Resize(*this));
    std::vector<size_t> ops;
    std::vector<bool> is_shared;
    for (size_t i = 0; i < program_.ops().size(); ++i) ops.push_back(i);
    for (const Value& value : program_.values()) {
      is_shared.push_back(value.producer == Value::kHost ||
                          std::find(outputs.begin(), outputs.end(), value.tensor) != outputs.end());
    }
    std::vector<std::string> texts;
    const StepList list = ListSteps(program_, ops, is_shared, fuse);
    const auto name = [&](size_t value) {
      const size_t values = program_.values().size();
      return value < values ? std::to_string(program_.value(value).tensor)
                            : "part" + std::to_string(value - values);
    };
    for (const ListedStep& step : list.steps) {
      std::string text = step.kind == ListedStep::kJoin ? "join" : program_.op(step.op).name.kind;
      for (size_t input : step.inputs) text += " " + name(input);
      for (size_t op : step.absorbed) text += " " + std::string(program_.op(op).name.kind);
      text += " to " + name(step.output);
      if (step.kind != ListedStep::kWhole) {
        text += " from " + std::to_string(step.channels.first);
        EXPECT_EQ(step.channels.count, Channels(step.inputs[0], list));
      }
      texts.push_back(text);
    }
    return texts;
  }

 private:
  std::vector<int> Dims(int tensor) const override { return dims_[static_cast<size_t>(tensor)]; }
  void Resize(int, const std::vector<int>&) override {}
  std::span<std::byte> Data(int) const override { return {}; }

  int Channels(int tensor) const { return Dims(tensor).back(); }
  int64_t Channels(size_t value, const StepList& list) const {
    const size_t values = program_.values().size();
    return value < values ? Channels(program_.value(value).tensor)
                          : list.parts[value - values].channels;
  }
  TensorInfo Info(ElementType type, int tensor) const {
    TensorInfo info{.present = true, .name = "t", .type = type, .dims = Dims(tensor)};
    info.bytes = 4;
    for (int dim : info.dims) info.bytes *= static_cast<size_t>(dim);
    return info;
  }

  static TensorInfo Constant() {
    static constexpr float kTwo = 2;
    return {.present = true,
            .name = "two",
            .type = ElementType::kFloat32,
            .dims = {1},
            .constant = &kTwo,
            .bytes = sizeof(kTwo)};
  }

  static TensorInfo ShapeConstant(const std::vector<int>& shape) {
    return {.present = true,
            .name = "shape",
            .type = ElementType::kInt32,
            .dims = {static_cast<int>(shape.size())},
            .constant = shape.data(),
            .bytes = shape.size() * sizeof(int)};
  }

  static TensorInfo LayerConstant(ElementType type, std::vector<int> dims) {
    static constexpr float kValues[32] = {};
    return {.present = true,
            .name = "zeros",
            .type = type,
            .dims = std::move(dims),
            .constant = kValues,
            .bytes = sizeof(kValues)};
  }

  int Tensor(std::vector<int> dims) {
    dims_.push_back(std::move(dims));
    return static_cast<int>(dims_.size()) - 1;
  }

  int Add(const char* name, int code, const std::vector<int>& inputs, int channels) {
    std::vector<int> dims = Dims(inputs[0]);
    for (size_t i = 0; i < dims.size() && inputs.size() == 2 && inputs[1] != kConstant; ++i) {
      dims[i] = std::max(dims[i], Dims(inputs[1])[i]);
    }
    dims.back() = channels;
    const int output = Tensor(std::move(dims));
    const bool is_layer = inputs.size() == 4;
    const bool is_quantization = code == builtin::kCustom && !is_layer;
    OpInfo info{
        .inputs = {},
        .output = Info(is_quantization ? ElementType::kInt32 : ElementType::kFloat32, output)};
    info.builtin_options.file.axis = 3;
    info.builtin_options.activation = activation_;
    if (code == builtin::kAveragePool2d) {
      info.builtin_options.window = Window2d{.height = {.taps = height_, .stride = height_},
                                             .width = {.taps = 5, .stride = 5}};
    }
    if (code == builtin::kMaxPool2d) {
      info.builtin_options.window = SquareWindow({.taps = taps_, .stride = stride_});
    }
    if (code == builtin::kRelu) info.builtin_options.activation = Activation::kRelu;
    for (int input : inputs) {
      info.inputs.push_back(input == kConstant ? Constant() : Info(ElementType::kFloat32, input));
    }
    const std::vector<uint8_t> options = testing::EncodeOptions(testing::ConvOptions({}, 32));
    if (is_layer) {
      info.options = options;
      info.inputs = {Info(ElementType::kInt32, inputs[0]),
                     LayerConstant(ElementType::kInt32, {32, 1, 1, 1}),
                     LayerConstant(ElementType::kFloat32, {32}),
                     LayerConstant(ElementType::kFloat32, {32}), TensorInfo()};
    }
    OpName op_name{.kind = name, .layer = ""};
    program_.Add(*FindOp(code, name), op_name, info, inputs, output, false);
    return output;
  }

  int height_;
  int taps_ = 2, stride_ = 2;                  // for the next pooling
  Activation activation_ = Activation::kNone;  // for the next operator
  std::vector<std::vector<int>> dims_;         // for each tensor
  Program program_;
};

using Texts = std::vector<std::string>;

TEST(ListSteps, ADenseBlockHasNoConcatenations) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int first = net.Concatenation({x, y});
  const int bits = net.ScaleAndQuantize(first);
  const int z = net.Clamp(x);
  const int second = net.Concatenation({first, z});
  const int more = net.ScaleAndQuantize(second);
  EXPECT_EQ(net.List({bits, more}),
            (Texts{"RELU 0 to 1", "LceQuantize 1 to 4 from 32", "LceQuantize 1 to 8 from 32",
                   "LceQuantize 0 to 4 from 0", "RELU 0 to 5", "LceQuantize 5 to 8 from 64",
                   "LceQuantize 0 to 8 from 0"}));
}

TEST(ListSteps, ConcatenationsReadOutsideAreJoinedFromParts) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int first = net.Concatenation({x, y});
  const int second = net.Concatenation({y, first});
  EXPECT_EQ(net.List({second}), (Texts{"RELU 0 to 1", "join 1 to 3 from 0", "join 1 to 3 from 64",
                                       "join 0 to 3 from 32"}));
  EXPECT_EQ(net.List({first, second}),
            (Texts{"RELU 0 to 1", "join 1 to 2 from 32", "join 1 to 3 from 0",
                   "join 1 to 3 from 64", "join 0 to 2 from 0", "join 0 to 3 from 32"}));
}

TEST(ListSteps, WhatIsDoneToEachChannelIsDoneToParts) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int clamped = net.Clamp(net.Concatenation({y, x}));
  EXPECT_EQ(net.List({clamped}),
            (Texts{"RELU 0 to 1", "RELU 1 to part0 from 0", "join part0 to 3 from 0",
                   "RELU 0 to part1 from 32", "join part1 to 3 from 32"}));
}

// Parts that do not begin at a word cannot be quantized apart; in a dense block, each layer would
// have to join them again.
TEST(ListSteps, PartsOfHalfAWordStayTogether) {
  Network net;
  const int x = net.Input(48), y = net.Clamp(x);
  const int bits = net.ScaleAndQuantize(net.Concatenation({x, y}));
  EXPECT_EQ(net.List({bits}),
            (Texts{"RELU 0 to 1", "CONCATENATION 0 1 to 2", "LceQuantize 2 to 4"}));
}

const Texts kOneForEach = {"RELU 0 to 1", "CONCATENATION 0 1 to 2", "LceQuantize 2 to 4"};

TEST(ListSteps, OneForEachOperatorWithoutFusing) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int bits = net.ScaleAndQuantize(net.Concatenation({x, y}));
  EXPECT_EQ(net.List({bits}, false), kOneForEach);
}

TEST(ListSteps, OneForEachOperatorOfFewPixels) {
  Network net(/*height=*/3);
  const int x = net.Input(32), y = net.Clamp(x);
  const int bits = net.ScaleAndQuantize(net.Concatenation({x, y}));
  EXPECT_EQ(net.List({bits}), kOneForEach);
}

// The steps that compute a gate, which has few pixels, run before the layer, in their own order.
// Without fusing, they run where the model has them.
TEST(ListSteps, FewPixelsComeEarly) {
  Network net;
  const int x = net.Input(32), small = net.InputOfAPixel(32);
  const int layer = net.Clamp(net.Clamp(x));
  const int gate = net.Clamp(net.Clamp(small));
  const int gated = net.Product(layer, gate);
  EXPECT_EQ(net.List({gated}),
            (Texts{"RELU 1 to 4", "RELU 4 to 5", "RELU 0 to 2", "RELU 2 to 3", "MUL 3 5 to 6"}));
  EXPECT_EQ(net.List({gated}, false),
            (Texts{"RELU 0 to 2", "RELU 2 to 3", "RELU 1 to 4", "RELU 4 to 5", "MUL 3 5 to 6"}));
}

// The gate is made of the layer before, so it cannot come earlier.
TEST(ListSteps, FewPixelsFollowWhatTheyRead) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int z = net.Clamp(net.Clamp(y));
  const int gated = net.Product(z, net.Clamp(net.Average(y)));
  EXPECT_EQ(net.List({gated}), (Texts{"RELU 0 to 1", "AVERAGE_POOL_2D 1 to 4", "RELU 4 to 5",
                                      "RELU 1 to 2", "RELU 2 to 3", "MUL 3 5 to 6"}));
}

TEST(ListSteps, ConcatenationsOfHostInputsStayWhole) {
  Network net;
  const int x = net.Input(32), y = net.Input(32);
  const int bits = net.ScaleAndQuantize(net.Concatenation({x, y}));
  EXPECT_EQ(net.List({bits}), (Texts{"CONCATENATION 0 1 to 2", "LceQuantize 2 to 4"}));
}

TEST(ListSteps, ReshapesOfValuesInBetweenAreLeftOut) {
  Network net;
  const int rows = net.Reshape(net.Clamp(net.Input(32)), {25, 32});
  const int image = net.Reshape(net.Reshape(rows, {1, 25, 32}), {1, 5, 5, 32});
  const int result = net.Clamp(image);
  EXPECT_EQ(net.List({result}), (Texts{"RELU 0 to 1", "RELU 4 to 5"}));
}

TEST(ListSteps, ReshapesThatAreReadOutsideAreCopies) {
  Network net;
  const int rows = net.Reshape(net.Clamp(net.Input(32)), {25, 32});
  EXPECT_EQ(net.List({rows}), (Texts{"RELU 0 to 1", "RESHAPE 1 to 2"}));
}

TEST(ListSteps, SignsAreTakenOfParts) {
  Network net;
  const int x = net.Input(32), y = net.Clamp(x);
  const int bits = net.Quantize(net.Concatenation({x, y}));
  EXPECT_EQ(net.List({bits}),
            (Texts{"RELU 0 to 1", "LceQuantize 1 to 3 from 32", "LceQuantize 0 to 3 from 0"}));
}

TEST(ListSteps, LongConcatenationChainsKeepStepsFew) {
  Network net;
  const int x = net.Input(32);
  int chain = net.Clamp(x);
  constexpr int kLinks = 2000;
  for (int i = 0; i < kLinks; ++i) chain = net.Concatenation({chain, x});
  std::vector<int> outputs;
  for (int i = 0; i < kLinks; ++i) outputs.push_back(net.Concatenation({chain, x}));
  for (int i = 0; i < kLinks; ++i) chain = net.Clamp(chain);
  outputs.push_back(net.ScaleAndQuantize(chain));
  EXPECT_LT(net.List(outputs).size(), size_t{20'000});
}

TEST(ListSteps, PoolingsComputeTheProductsThatTheyAloneRead) {
  Network net;
  const int x = net.Input(32);
  const int product = net.Scale(net.Clamp(x));
  const int pooled = net.Pool(product, 2);
  EXPECT_EQ(net.List({pooled}), (Texts{"RELU 0 to 1", "MAX_POOL_2D 1 MUL to 3"}));
  EXPECT_EQ(net.List({pooled}, false), (Texts{"RELU 0 to 1", "MUL 1 to 2", "MAX_POOL_2D 2 to 3"}));
  EXPECT_EQ(net.List({pooled, product}),
            (Texts{"RELU 0 to 1", "MUL 1 to 2", "MAX_POOL_2D 2 to 3"}));
}

// The poolings' windows overlap or are large. The last case is no product with a constant.
TEST(ListSteps, ProductsStayWherePoolingsAreOfSeveralPixels) {
  for (const int stride : {1, 2}) {
    Network net(7);
    const int product = net.Scale(net.Input(32));
    const int pooled = stride == 1 ? net.Pool(product, 1) : net.Pool(product, 2, 5);
    EXPECT_EQ(net.List({pooled}), (Texts{"MUL 0 to 1", "MAX_POOL_2D 1 to 2"}));
  }
  Network net;
  const int x = net.Input(32);
  EXPECT_EQ(net.List({net.Pool(net.Sum(x, x), 2)}), (Texts{"ADD 0 0 to 1", "MAX_POOL_2D 1 to 2"}));
}

TEST(ListSteps, PoolingsOfPartsComputeTheProductsOfThose) {
  Network net(40);
  const int a = net.Clamp(net.Input(32)), b = net.Clamp(net.Input(64));
  const int pooled = net.Pool(net.Scale(net.Concatenation({a, b})), 2);
  EXPECT_EQ(net.List({net.ScaleAndQuantize(pooled)}),
            (Texts{"RELU 0 to 1", "MAX_POOL_2D 1 MUL to part2 from 0",
                   "LceQuantize part2 to 8 from 0", "RELU 2 to 3",
                   "MAX_POOL_2D 3 MUL to part3 from 32", "LceQuantize part3 to 8 from 32"}));
}

// The convolution moves to the place of the sum, because the shortcut may be made after the
// convolution.
TEST(ListSteps, ConvolutionsComputeTheSumsThatAloneReadThem) {
  Network net;
  const int x = net.Input(32), conv = net.Convolution(net.Quantize(x));
  const int sum = net.Sum(conv, net.Clamp(x));
  EXPECT_EQ(net.List({sum}),
            (Texts{"LceQuantize 0 to 1", "RELU 0 to 3", "LceBconv2d 1 3 ADD to 4"}));
  EXPECT_EQ(net.List({sum}, false),
            (Texts{"LceQuantize 0 to 1", "LceBconv2d 1 to 2", "RELU 0 to 3", "ADD 2 3 to 4"}));
}

TEST(ListSteps, OfTwoConvolutionsTheLaterComputesTheSum) {
  for (const bool swapped : {false, true}) {
    Network net;
    const int bits = net.Quantize(net.Input(32));
    const int first = net.Convolution(bits), second = net.Convolution(bits);
    const int sum = swapped ? net.Sum(second, first) : net.Sum(first, second);
    EXPECT_EQ(net.List({sum}),
              (Texts{"LceQuantize 0 to 1", "LceBconv2d 1 to 2", "LceBconv2d 1 2 ADD to 4"}));
  }
}

TEST(ListSteps, EarlierConvolutionComputesSumIfLaterIsReadElsewhere) {
  Network net;
  const int bits = net.Quantize(net.Input(32));
  const int first = net.Convolution(bits), second = net.Convolution(bits);
  EXPECT_EQ(net.List({net.Sum(first, second), second}),
            (Texts{"LceQuantize 0 to 1", "LceBconv2d 1 to 3", "LceBconv2d 1 3 ADD to 4"}));
}

TEST(ListSteps, ConvolutionsComputeWhatComesBeforeTheirSums) {
  for (const bool swapped : {false, true}) {
    Network net;
    const int x = net.Input(32), gate = net.InputOfAPixel(32);
    const int conv = net.Convolution(net.Quantize(x));
    const int product = swapped ? net.Product(gate, conv) : net.Product(conv, gate);
    const int sum = net.Sum(x, net.Prelu(product), Activation::kRelu);
    EXPECT_EQ(net.List({sum}), (Texts{"LceQuantize 0 to 2", "LceBconv2d 2 1 0 MUL PRELU ADD to 6"}))
        << swapped;
  }
  Network net;
  const int x = net.Input(32);
  const int sum = net.Sum(net.Prelu(net.Convolution(net.Quantize(x))), x);
  EXPECT_EQ(net.List({sum}), (Texts{"LceQuantize 0 to 1", "LceBconv2d 1 0 PRELU ADD to 4"}));
}

// The cases: a gate behind a PRELU, a gate of one value, a clamped product, a second PRELU, and a
// product that others read.
TEST(ListSteps, WhatIsNoGateStays) {
  const auto expect = [](const std::string& stays, const auto& output_of) {
    Network net;
    const int x = net.Input(32), conv = net.Convolution(net.Quantize(x));
    const std::vector<int> outputs = output_of(net, x, conv);
    std::string found;
    for (const std::string& text : net.List(outputs)) found += text.substr(0, text.find(' ')) + " ";
    EXPECT_EQ(found, "LceQuantize LceBconv2d " + stays);
  };
  using Outputs = std::vector<int>;
  expect("PRELU MUL ADD ", [](Network& net, int x, int conv) {
    return Outputs{net.Sum(net.Product(net.Prelu(conv), net.InputOfAPixel(32)), x)};
  });
  expect("MUL ADD ", [](Network& net, int x, int conv) {
    return Outputs{net.Sum(net.Product(conv, net.InputOfAPixel(1)), x)};
  });
  expect("MUL ADD ", [](Network& net, int x, int conv) {
    return Outputs{net.Sum(net.Product(conv, net.InputOfAPixel(32), Activation::kRelu), x)};
  });
  expect("PRELU PRELU ADD ", [](Network& net, int x, int conv) {
    return Outputs{net.Sum(net.Prelu(net.Prelu(conv)), x)};
  });
  expect("MUL ADD ", [](Network& net, int x, int conv) {
    const int product = net.Product(conv, net.InputOfAPixel(32));
    return Outputs{net.Sum(product, x), product};
  });
}

TEST(ListSteps, SumsThatConvolutionsCannotCompute) {
  const auto expect_apart = [](const auto& outputs_of) {
    Network net;
    const int x = net.Input(32), conv = net.Convolution(net.Quantize(x));
    int sums = 0;
    for (const std::string& text : net.List(outputs_of(net, x, conv))) {
      EXPECT_EQ(text.find(" ADD to "), std::string::npos) << text;
      sums += text.starts_with("ADD ");
    }
    EXPECT_EQ(sums, 1);
  };
  using Outputs = std::vector<int>;
  expect_apart([](Network& net, int x, int conv) { return Outputs{net.Sum(conv, x), conv}; });
  expect_apart([](Network& net, int x, int conv) {
    return Outputs{net.Sum(conv, x), net.Clamp(conv)};
  });
  expect_apart([](Network& net, int, int conv) { return Outputs{net.Sum(conv, conv)}; });
  expect_apart(
      [](Network& net, int, int conv) { return Outputs{net.Sum(conv, net.InputOfAPixel(32))}; });
}

}  // namespace
}  // namespace larq_engine
