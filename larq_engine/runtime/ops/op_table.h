// The operators that the plug-in knows, ours and those of the host that it takes over where they
// lie next to ours: one row each. host/claim.h decides which of them it takes over.
#ifndef LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_
#define LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/op_info.h"

namespace larq_engine {

// Forms of the host's operators that have rows of their own. kWeightBits: LceUnpackWeights makes
// input 1. kInt8: input 0 is int8.
enum class OpForm : uint8_t { kUsual, kWeightBits, kInt8 };

struct KnownOp {
  // The spelling of files; for an operator of the host, that of TensorFlow Lite's tools.
  const char* name;

  // Checks all that a file says and throws OpError. Null for LceUnpackWeights: weights are unpacked
  // when the host hands over the graph.
  Op (*read)(const OpInfo& op);

  // For operators of the host; null for ours. Tells whether `read` can take what the file says. The
  // answer must not depend on sizes that a resize changes: a host that asks again after one must
  // get the same answer.
  bool (*can_claim)(const OpInfo& op) = nullptr;
  // Tells whether the plug-in leaves the operator to the host where it computes on the CPU, because
  // the host is no slower there. Null if never. `can_claim` must hold.
  bool (*is_hosts_on_cpu)(const OpInfo& op) = nullptr;
  // The CPU takes the operator only if a plan reads its result, as with gates. A model's last
  // layers stay with the host, so that their roundings are the host's.
  bool must_be_read = false;
  // Input 1 may be what LceUnpackWeights makes.
  bool is_float_conv = false;
  bool makes_several = false;  // calls `read` and `can_claim` for each output
  // Hosts keep the operator in this form. Only models that run without a host need the row.
  bool is_left_to_hosts = false;
  OpForm form = OpForm::kUsual;
  int code = builtin::kCustom;

  // `custom_name` counts only for custom operators, and may be null.
  bool IsFor(int builtin_code, const char* custom_name) const;
  constexpr bool is_ours() const { return code == builtin::kCustom; }
  bool is_weights() const { return read == nullptr; }
};

// For an operator that has several rows, the first one that can compute its form counts.
std::span<const KnownOp> KnownOps();

// Returns null for operators that stay with the host.
const KnownOp* FindOp(int32_t builtin_code, const char* custom_name);

// Returns the row for a form of an operator of the host; null if there is none.
const KnownOp* FindOpOfForm(const KnownOp& op, OpForm form);

// Number of rows that are ours. They come first in the table.
inline constexpr size_t kOurOps = 7;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_OP_TABLE_H_
