// Checks that several operators share; each throws OpError with expected, got and the remedy.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/runtime/ops/op_info.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

// `role` is what the tensor is to the operator: "input", "filter", "output"...
void CheckInputCount(const OpInfo& op, size_t expected);
void CheckType(const TensorInfo& tensor, const char* role,
               std::initializer_list<TfLiteType> expected);
void CheckRank(const std::vector<int>& dims, const char* role, size_t expected);

// For operators of the host: whether a tensor is of floats with a number of channels that the file
// says (one that it leaves open is declared as 1), and whether it is also computed.
bool IsFloat(const TensorInfo& tensor);
bool IsFloatData(const TensorInfo& tensor);

// Data of a kind that is moved without looking at it: floats, bytes, or words of bits.
bool IsMovable(const TensorInfo& tensor);

// Of the host's operators: whether one has as many inputs and makes floats.
bool IsFloatOp(const OpInfo& op, size_t inputs);
// And whether the first of them is computed.
bool IsOpOfFloatData(const OpInfo& op, size_t inputs);

// Whether floats, constant weights and, where there is a third input, a bias or its absence make
// floats; whether the bias has a value for each output channel; and those values, zeros for none.
bool HasFloatWeights(const OpInfo& op);
bool IsBias(const OpInfo& op, int channels);
std::vector<float> ReadBias(const OpInfo& op, int channels);

// The values of a constant of int32; none of another.
std::vector<int> ReadInts(const TensorInfo& tensor);

// A computed size of a dimension, which 32 bits must hold.
int CheckedSize(int64_t size);

// The shape of an output that has its input's.
TensorShape AsInput(const TensorShape& input);

// For a tensor of the file: as many bytes as its shape asks for.
void CheckConstant(const TensorInfo& tensor, const char* role, size_t element_bytes);

// The number of channels that the maker of a tensor of bits put there, and of bits for each, where
// they are known.
void CheckBitChannels(const TensorShape& input, int64_t channels, int64_t bits = 1);
void CheckBits(const TensorShape& input, int64_t expected);

// The zero point of an int8 tensor, 0 where the file gives none; the first where it gives several,
// or those are an error.
int32_t ZeroPointOf(const TensorInfo& tensor);
int32_t ZeroPoint(const TensorInfo& tensor, const char* role);
// A per-tensor scale of an int8 tensor: required, positive and finite.
double Scale(const TensorInfo& tensor, const char* role);

// For an operator without options: no bytes at all, or an empty map.
void CheckNoOptions(const OpInfo& op);

using OptionKeys = std::span<const std::string_view>;

// The whole-number options of an operator: exactly the keys that it knows, each in a range. An
// operator may know several sets of keys; errors speak of the one that has most of the file's.
class CustomOptions {
 public:
  CustomOptions(std::span<const uint8_t> flexbuffer, OptionKeys keys)
      : CustomOptions(flexbuffer, {keys}) {}
  CustomOptions(std::span<const uint8_t> flexbuffer, std::initializer_list<OptionKeys> key_sets);

  bool Has(std::string_view key) const { return values_.contains(std::string(key)); }
  int64_t Get(std::string_view key, int64_t min, int64_t max) const;
  bool IsSame() const;  // the key "padding": SAME is 0, VALID is 1

 private:
  std::map<std::string, int64_t> values_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_
