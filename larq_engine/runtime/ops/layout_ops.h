// PAD and PADV2 of the host, on floats, int8 and int32, and RESHAPE, on floats, bytes and bits.
// They move values and compute nothing.
#ifndef LARQ_ENGINE_RUNTIME_OPS_LAYOUT_OPS_H_
#define LARQ_ENGINE_RUNTIME_OPS_LAYOUT_OPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Pads with zeros, or with a constant number.
struct PadOp {
  static constexpr size_t kMaxDims = 6;

  std::vector<std::array<int, 2>> pads;  // for each dimension: before and after
  float value = 0;

  static bool CanClaim(const OpInfo& op);
  static PadOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// PAD and PADV2 on int8. PAD pads with the zero point, which stands for 0.
struct PadBytesOp {
  PadOp pad;
  int8_t value;

  static bool CanClaim(const OpInfo& op);
  static PadBytesOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const { return pad.Shape(inputs); }
};

// PAD and PADV2 on int32, with zeros or a constant number.
struct PadIntsOp {
  PadOp pad;
  int32_t value = 0;

  static bool CanClaim(const OpInfo& op);
  static PadIntsOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const { return pad.Shape(inputs); }
};

struct ReshapeOp {
  static constexpr size_t kRankOfRows = 1;

  std::vector<int> dims;  // one may be -1: it takes what is left
  size_t element_bytes;

  static bool CanClaim(const OpInfo& op);
  static ReshapeOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_LAYOUT_OPS_H_
