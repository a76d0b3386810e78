// Makes graphs in memory of our operators, and of the host's operators that we fuse, for tests that
// need a certain shape, option or fault. Such a test builds a good graph, then changes the part
// that is to be wrong.
#ifndef LARQ_ENGINE_TESTS_HOST_MODEL_BUILDER_H_
#define LARQ_ENGINE_TESTS_HOST_MODEL_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/host/graph.h"

namespace larq_engine::testing {

using OptionMap = std::map<std::string, int64_t>;

// Encodes a map of whole numbers as a FlexBuffer. `width` is the bytes of each number: 1, 2, 4 or
// 8. It grows if a value, or the distance to a key, needs more.
std::vector<uint8_t> EncodeOptions(const OptionMap& options, int width = 1);

enum FilePadding { kSame = 0, kValid = 1 };
struct FilePads {
  int top = 0;
  int bottom = 0;
  int left = 0;
  int right = 0;
};
enum FileActivation { kNone = 0, kRelu = 1, kReluN1To1 = 2, kRelu6 = 3 };

struct ConvConfig {
  int filters = 8;
  int filter_height = 3;
  int filter_width = 3;
  int groups = 1;
  int stride_height = 1;
  int stride_width = 1;
  int dilation_height = 1;
  int dilation_width = 1;
  FilePadding padding = kSame;
  std::optional<FilePads> pads = std::nullopt;  // replaces `padding`
  int pad_values = 1;
  int activation = kNone;
  TfLiteType output = kTfLiteFloat32;  // or kTfLiteInt8, or kTfLiteInt32 for bits
  int bits_in = 1;
  int bits_weights = 1;
};

struct PoolConfig {
  int filter_height = 2;
  int filter_width = 2;
  int stride_height = 2;
  int stride_width = 2;
  FilePadding padding = kSame;
  TfLiteFusedActivation activation = kTfLiteActNone;  // for floats
};

OptionMap ConvOptions(const ConvConfig& config, int channels_in);
OptionMap PoolOptions(const PoolConfig& config);

// Each Add function appends one operator that reads the previous tensor (the first reads the
// graph's input). The last operator's result is the graph's output. Constants are random but fixed
// by the seed. Tensors are named after their operator: "LceBconv2d1", "LceBconv2d1/filter".
class ModelBuilder {
 public:
  // `shape` counts channels, not words, even if the type is kTfLiteInt32 (bits).
  ModelBuilder(TfLiteType type, std::vector<int> shape, uint32_t seed = 1);

  // Adds a quantization. To several bits it has a constant of limits, one set for all channels or
  // one for each. uint8 becomes 8 bits without limits.
  ModelBuilder& AddQuantize(int bits = 1, bool has_channel_limits = false);
  ModelBuilder& AddDequantize(TfLiteType type);
  ModelBuilder& AddConv(const ConvConfig& config);
  ModelBuilder& AddPool(const PoolConfig& config);
  // Adds the LceBmatmul of the lines of bits, of `depth` channels, with themselves.
  ModelBuilder& AddSquare(int depth);
  // Reads only constants, so what was added before it no longer leads to the graph's output. There
  // is 1 scale, or as many as the axis has indices. Scales of int8 weights are whole numbers.
  ModelBuilder& AddUnpackWeights(std::vector<int> shape, int axis, int scales,
                                 TfLiteType type = kTfLiteFloat32);

  // Adds another input of the graph, of floats. The next operator does not read it by default.
  int AddInput(std::vector<int> shape);

  // The following add the host's operators, on floats. `other` is a tensor of the same shape, or
  // one that is broadcast. Without it, the operator reads a constant for each channel.
  ModelBuilder& AddBinary(int code, TfLiteFusedActivation activation,
                          std::optional<int> other = std::nullopt);
  ModelBuilder& AddRelu(int code);
  ModelBuilder& AddPrelu();
  ModelBuilder& AddFloatPool(const PoolConfig& config);
  // Add convolutions. They use only those fields of `config` that a host's convolution has. In a
  // depthwise one, each channel makes `multiplier` channels, whatever `config.filters` is.
  // LceUnpackWeights may make the weights.
  ModelBuilder& AddFloatConv(const ConvConfig& config, bool unpacks_weights = false);
  ModelBuilder& AddDepthwiseConv(const ConvConfig& config, int multiplier = 1);
  ModelBuilder& AddConcatenation(const std::vector<int>& others);
  // Cut a tensor on an axis into equal parts, or into parts of these sizes; one of these may be -1
  // for the rest. The first part becomes the last tensor, and the other parts follow it.
  ModelBuilder& AddSplit(int axis, int parts);
  ModelBuilder& AddSplitV(int axis, const std::vector<int>& sizes);
  // Cut a box with the same number of dimensions.
  ModelBuilder& AddSlice(const std::vector<int>& begin, const std::vector<int>& size);
  ModelBuilder& AddStridedSlice(const std::vector<int>& begin, const std::vector<int>& end);

  // Adds a convolution of int8 with int8 weights, with a scale for each channel or one for all. It
  // uses only those fields of `config` that a host's convolution has.
  ModelBuilder& AddInt8Conv(const ConvConfig& config, bool has_channel_scales);
  // Adds a dense layer on the last tensor's type, floats or int8, with weights that
  // LceUnpackWeights makes.
  ModelBuilder& AddSignedDense(int units, int depth, TfLiteFusedActivation activation,
                               bool keeps_dims);

  int LastTensor() const;
  const std::vector<int>& shape() const { return shape_; }  // last tensor's, in channels
  Graph Build() const { return graph_; }
  // Returns the options of operator `index`, for tests that encode them again with a change.
  const OptionMap& Options(size_t index) const { return options_.at(index); }

 private:
  int AddTensor(const std::string& name, TfLiteType type, std::vector<int> shape);
  int AddConstant(const std::string& name, TfLiteType type, std::vector<int> shape,
                  std::vector<uint8_t> data);
  void AddOperator(const char* kind, std::vector<int> inputs, TfLiteType type,
                   std::vector<int> shape, const OptionMap& options);
  template <typename Params>
  ModelBuilder& AddBuiltin(int code, std::vector<int> inputs, std::vector<int> shape,
                           const Params& params, TfLiteType type = kTfLiteFloat32);
  int AddChannelConstant();
  void SetScales(int tensor, size_t count);
  int AddInt8Bias(int channels);
  int AddFloats(const std::string& name, std::vector<int> shape);
  int AddInts(const std::string& name, const std::vector<int>& values);
  void AddParts(std::vector<int> inputs, int code, int axis, const std::vector<int>& sizes);
  std::vector<int> ConvShape(const ConvConfig& config, int channels) const;
  std::string NextName(const std::string& kind) const;

  Graph graph_;
  std::vector<OptionMap> options_;
  std::vector<int> shape_;  // shape of the last tensor, in channels
  std::mt19937 random_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_MODEL_BUILDER_H_
