#include "larq_engine/benchmark_model/xnnpack_names.h"

#include <algorithm>
#include <iterator>

namespace larq_engine {
namespace {

struct Row {
  std::string_view step;  // text before the layout and type in parentheses
  std::string_view op;
};

constexpr Row kRows[] = {
    {"Abs", "ABS"},
    {"Add", "ADD"},
    {"ArgMax Pooling", "MAX_POOL_2D"},
    {"Average Pooling", "AVERAGE_POOL_2D"},
    {"Average Pooling", "MEAN"},
    {"Bankders Rounding", "ROUND"},  // the spelling of LiteRT 2.2 and 2.3
    {"Bankers Rounding", "ROUND"},
    {"Batch Matrix Multiply", "BATCH_MATMUL"},
    {"Batch Matrix Multiply", "FULLY_CONNECTED"},
    {"Ceiling", "CEIL"},
    {"Clamp", "MAXIMUM"},
    {"Clamp", "MINIMUM"},
    {"Clamp", "RELU"},
    {"Clamp", "RELU6"},
    {"Clamp", "RELU_0_TO_1"},
    {"Clamp", "RELU_N1_TO_1"},
    {"Constant Pad", "PAD"},
    {"Constant Pad", "PADV2"},
    {"Convert", "CAST"},
    {"Convert", "DEQUANTIZE"},
    {"Convert", "QUANTIZE"},
    {"Convolution", "CONV_2D"},
    {"Convolution", "DEPTHWISE_CONV_2D"},
    {"Convolution", "FULLY_CONNECTED"},
    {"Copy", "CONCATENATION"},
    {"Copy", "RESHAPE"},
    {"Copy", "SPLIT"},
    {"Deconvolution", "TRANSPOSE_CONV"},
    {"Depth To Space", "DEPTH_TO_SPACE"},
    {"Divide", "DIV"},
    {"ELU", "ELU"},
    {"Exp", "EXP"},
    {"Floor", "FLOOR"},
    {"Fully Connected", "BATCH_MATMUL"},
    {"Fully Connected", "CONV_2D"},
    {"Fully Connected", "FULLY_CONNECTED"},
    {"GELU", "GELU"},
    {"Global Average Pooling", "AVERAGE_POOL_2D"},
    {"Global Average Pooling", "MEAN"},
    {"HardSwish", "HARD_SWISH"},
    {"Leaky ReLU", "LEAKY_RELU"},
    {"Log", "LOG"},
    {"Max Pooling", "MAX_POOL_2D"},
    {"Maximum", "MAXIMUM"},
    {"Mean", "MEAN"},
    {"Minimum", "MINIMUM"},
    {"Multiply", "MUL"},
    {"Negate", "NEG"},
    {"PReLU", "PRELU"},
    {"Reciprocal Square Root", "RSQRT"},
    {"Resize Bilinear", "RESIZE_BILINEAR"},
    {"Sigmoid", "LOGISTIC"},
    {"Slice", "SLICE"},
    {"Slice", "SPLIT"},
    {"Slice", "STRIDED_SLICE"},
    {"Softmax", "SOFTMAX"},
    {"Space To Depth", "SPACE_TO_DEPTH"},
    {"Square", "SQUARE"},
    {"Square Root", "SQRT"},
    {"Squared Difference", "SQUARED_DIFFERENCE"},
    {"Static Reshape", "EXPAND_DIMS"},
    {"Static Reshape", "RESHAPE"},
    {"Static Reshape", "SQUEEZE"},
    {"Subtract", "SUB"},
    {"Sum", "MEAN"},
    {"Sum", "SUM"},
    {"TanH", "TANH"},
    {"Transpose", "TRANSPOSE"},
};

std::string_view WithoutLayout(std::string_view step) { return step.substr(0, step.find(" (")); }

}  // namespace

bool IsStepOf(std::string_view step, std::string_view op) {
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.step == WithoutLayout(step) && row.op == op;
  });
}

bool IsKnownStep(std::string_view step) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return row.step == WithoutLayout(step); });
}

}  // namespace larq_engine
