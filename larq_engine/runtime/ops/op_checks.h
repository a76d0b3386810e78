// Checks that several operators share; each throws OpError with expected, got and the remedy.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/runtime/ops/op_info.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

// `role` names the tensor's role in the operator: "input", "filter", "output"...
void CheckInputCount(const OpInfo& op, size_t expected);
void CheckType(const TensorInfo& tensor, const char* role,
               std::initializer_list<ElementType> expected);
void CheckRank(const std::vector<int>& dims, const char* role, size_t expected);
// Checks that the input is no scalar.
void CheckHasChannels(const std::vector<int>& dims);

// For operators of the host. IsFloat tells whether a tensor is of floats and the file states its
// number of channels (an open number is declared as 1). IsFloatData tells whether such a tensor is
// also computed, and no constant.
bool IsFloat(const TensorInfo& tensor);
bool IsFloatData(const TensorInfo& tensor);

// Tells whether the tensor is data that is moved without looking at it: floats, bytes, or words of
// bits.
bool IsMovable(const TensorInfo& tensor);

// Tells whether an operator of the host has this many inputs and makes floats.
bool IsFloatOp(const OpInfo& op, size_t inputs);
// Tells whether its first input is also computed.
bool IsOpOfFloatData(const OpInfo& op, size_t inputs);

// HasFloatWeights tells whether the operator makes floats of floats and constant weights, with or
// without a third input. IsBias tells whether the third input has a value for each output channel,
// or is absent. ReadBias returns these values, or zeros.
bool HasFloatWeights(const OpInfo& op);
bool IsBias(const OpInfo& op, int channels);
std::vector<float> ReadBias(const OpInfo& op, int channels);

// Returns the values of a constant of int32; empty for other tensors.
std::vector<int> ReadInts(const TensorInfo& tensor);

// Returns a computed size of a dimension. Throws OpError if 32 bits cannot hold it.
int CheckedSize(int64_t size);

// Returns the shape of an output of values, not bits. Throws OpError if there are too many.
TensorShape CheckedShape(const std::vector<int>& dims);

// Checks that a tensor of the file has as many bytes as its shape asks for.
void CheckConstant(const TensorInfo& tensor, const char* role, size_t element_bytes);

// Check the numbers of channels and of bits for each channel that the producer of a tensor of bits
// has given it, if they are known.
void CheckBitChannels(const TensorShape& input, int64_t channels, int64_t bits = 1);
void CheckBits(const TensorShape& input, int64_t expected);

// Return the zero point of an int8 tensor, or 0 if the file gives none. If it gives several,
// ZeroPointOf returns the first and ZeroPoint throws OpError.
int32_t ZeroPointOf(const TensorInfo& tensor);
int32_t ZeroPoint(const TensorInfo& tensor, const char* role);
// Returns the per-tensor scale of an int8 tensor, which must be present, positive and finite.
double Scale(const TensorInfo& tensor, const char* role);

// Checks that an operator has no options: no bytes at all, or an empty map.
void CheckNoOptions(const OpInfo& op);

// The largest value of an option, as a host holds it.
inline constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

using OptionKeys = std::span<const std::string_view>;

// The whole-number options of an operator. The file must have exactly the keys that the operator
// knows, each value within a range. If an operator knows several sets of keys, errors speak of the
// one that has most of the file's.
class CustomOptions {
 public:
  CustomOptions(std::span<const uint8_t> flexbuffer, OptionKeys keys)
      : CustomOptions(flexbuffer, {keys}) {}
  CustomOptions(std::span<const uint8_t> flexbuffer, std::initializer_list<OptionKeys> key_sets);

  bool Has(std::string_view key) const { return values_.contains(std::string(key)); }
  int64_t Get(std::string_view key, int64_t min, int64_t max) const;
  bool IsSame() const;  // reads the key "padding": SAME is 0, VALID is 1

 private:
  std::map<std::string, int64_t> values_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_CHECKS_H_
