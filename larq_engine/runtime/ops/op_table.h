// The operators that the plug-in knows, ours and those of the host that it takes over where they
// lie next to ours: one row each.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/op_info.h"

namespace larq_engine {

// Two forms of the host's operators have rows of their own: LceUnpackWeights makes input 1, or
// input 0 is int8. The CPU takes them where it is faster than the host, and a GPU the former.
enum class OpForm : uint8_t { kUsual, kWeightBits, kInt8 };

struct KnownOp {
  // As files spell it, or, of the host's, TensorFlow Lite's tools print it.
  const char* name;

  // Checks all that a file says and throws OpError. Null for weights, which are unpacked when the
  // host hands over the graph.
  Op (*read)(const OpInfo& op);

  // Of the host's operators; null for ours. What stands behind TfLiteNode::builtin_data, which may
  // be null where the operator has no options, and whether `read` can take what the file says. That
  // must not depend on sizes that a resize changes: a host that asks again after one must get the
  // same answer.
  HostOptions (*read_options)(const void* builtin_data) = nullptr;
  bool (*can_claim)(const OpInfo& op) = nullptr;
  bool needs_options = false;
  bool (*is_for_other_devices)(const OpInfo& op) = nullptr;  // null where none is; see op.h
  // Whether the CPU takes it only where a plan reads what it makes: gates. A model's last layers
  // stay with the host, and so do its roundings.
  bool must_be_read = false;
  // Its input 1 may be what LceUnpackWeights makes, and the CPU leaves it to a host that is faster.
  bool is_float_conv = false;
  bool makes_several = false;  // `read` and `can_claim` are asked for each output
  OpForm form = OpForm::kUsual;
  TfLiteBuiltinOperator code = kTfLiteBuiltinCustom;

  constexpr bool is_ours() const { return code == kTfLiteBuiltinCustom; }
  bool is_weights() const { return read == nullptr; }
};

std::span<const KnownOp> KnownOps();

// Null for operators that stay with the host. `custom_name` counts only for custom operators, and
// may be null.
const KnownOp* FindOp(int32_t builtin_code, const char* custom_name);

// The row for a form of an operator of the host; null if there is none.
const KnownOp* FindOpOfForm(const KnownOp& op, OpForm form);

// Rows of the table that are ours come first.
inline constexpr size_t kOurOps = 6;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_
