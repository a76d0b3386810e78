#include "larq_engine/model_file/scale_clauses.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "larq_engine/model_file/walk.h"

namespace larq_engine {
namespace {

std::string TextOf(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

bool IsOf8Bits(const FileTensor& tensor) {
  return tensor.type == ElementType::kInt8 || tensor.type == ElementType::kUint8;
}

// A tensor whose scale hosts use to compute an operator.
struct Scaled {
  const GraphPlace& place;
  size_t op;
  size_t tensor;

  const FileTensor& Tensor() const { return place.Graph().tensors[tensor]; }

  size_t Scales() const {
    return Tensor().quantization.has_value() ? Tensor().quantization->scales.size() : 0;
  }

  // Kernels of the operators here take one scale for the whole tensor; if there are several, hosts
  // give them 0.
  std::optional<float> Scale() const {
    if (Scales() == 0) return std::nullopt;
    return Scales() == 1 ? Tensor().quantization->scales[0] : 0.0f;
  }

  [[noreturn]] void Refuse(const std::string& expected, const char* host) const {
    std::string got = "none";
    if (Scales() == 1) got = TextOf(*Scale());
    if (Scales() > 1) got = std::to_string(Scales()) + " scales";
    larq_engine::Refuse(
        place.OperatorName(op), "a scale of " + place.TensorName(tensor) + " " + expected, got,
        std::string(host) + " would crash: quantize with data of the range that the model is for");
  }
};

constexpr char kAnyHost[] = "hosts";

// Hosts abort if a scale is 1, but not if it is larger.
void CheckComparison(const std::vector<Scaled>& inputs) {
  for (const Scaled& input : inputs) {
    const std::optional<float> scale = input.Scale();
    if (!scale.has_value() && !IsOf8Bits(input.Tensor())) continue;
    if (!(scale > 0.0f) || scale == 1.0f) input.Refuse("above 0, and not 1", kAnyHost);
  }
}

// Hosts compute the multiplier (2 * input scale)^power / (2^shift * output scale). They abort if it
// is 0, as it is when the divisor overflows a float. They also abort if it is not below 1, except
// for SUB in LiteRT.
void CheckSum(int kind, const std::vector<Scaled>& inputs, const Scaled& output, int power,
              int shift) {
  double largest = 0;
  for (const Scaled& input : inputs) {
    if (!(input.Scale() > 0.0f)) input.Refuse("above 0", kAnyHost);
    largest = std::max(largest, static_cast<double>(*input.Scale()));
  }
  const double least = std::ldexp(std::pow(2 * largest, power), -shift);
  if (!output.Scale().has_value() || !(*output.Scale() > least)) {
    output.Refuse(
        "above " + TextOf(least) + ", as those of its inputs are up to " + TextOf(largest),
        kind == builtin::kSub ? "tflite_runtime 2.14" : kAnyHost);
  }
  const float most = std::ldexp(std::numeric_limits<float>::max(), -shift);
  if (*output.Scale() > most) output.Refuse("of at most " + TextOf(most), kAnyHost);
}

// XNNPACK leaves tensors of several scales to its host.
void CheckXnnpack(const Scaled& tensor) {
  if (!IsOf8Bits(tensor.Tensor()) || tensor.Scales() != 1) return;
  if (!std::isnormal(*tensor.Scale()) || *tensor.Scale() < 0) {
    tensor.Refuse("of at least 1.2e-38", "XNNPACK of LiteRT 2.3");
  }
}

}  // namespace

void ScalesAreNumbers(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    // No kernel computes with the scale of any other type.
    const bool is_quantized = BitsOf(tensor.type) <= 16 && tensor.type != ElementType::kFloat16 &&
                              tensor.type != ElementType::kBfloat16;
    if (!is_quantized || !tensor.quantization.has_value()) return;
    for (const float scale : tensor.quantization->scales) {
      if (!std::isfinite(scale) || scale < 0) {
        Refuse(place.TensorName(index), "scales of at least 0", TextOf(static_cast<double>(scale)));
      }
    }
  });
}

void ScalesFitTheirOperators(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const auto scaled = [&](int32_t tensor) {
      return Scaled{.place = place, .op = index, .tensor = static_cast<size_t>(tensor)};
    };
    const auto inputs = [&] {
      std::vector<Scaled> result;
      for (const int32_t input : op.inputs) result.push_back(scaled(input));
      return result;
    };
    const int kind = KindOf(model, op);
    switch (kind) {
      case builtin::kLess:
      case builtin::kGreater:
      case builtin::kGreaterEqual:
      case builtin::kLessEqual:
        if (IsOf8Bits(scaled(op.inputs[0]).Tensor())) CheckComparison(inputs());
        return;
      case builtin::kEqual:
      case builtin::kNotEqual: {
        const FileTensor& first = scaled(op.inputs[0]).Tensor();
        if (IsOf8Bits(first) || first.type == ElementType::kInt16) CheckComparison(inputs());
        return;
      }
      case builtin::kAdd:
      case builtin::kSub: {
        const Scaled first = scaled(op.inputs[0]);
        if (IsOf8Bits(first.Tensor())) {
          CheckSum(kind, inputs(), scaled(op.outputs[0]), 1, 20);
        } else if (first.Tensor().type == ElementType::kInt16 && first.Scale().has_value()) {
          CheckSum(kind, inputs(), scaled(op.outputs[0]), 1, 15);
        }
        return;
      }
      case builtin::kSquaredDifference:
        if (scaled(op.inputs[0]).Tensor().type == ElementType::kInt8) {
          CheckSum(kind, inputs(), scaled(op.outputs[0]), 2, 14);
        }
        return;
      case builtin::kQuantize:
        CheckXnnpack(scaled(op.inputs[0]));
        CheckXnnpack(scaled(op.outputs[0]));
        return;
      case builtin::kBatchMatmul:
        CheckXnnpack(scaled(op.inputs[0]));
        return;
    }
  });
}

}  // namespace larq_engine
