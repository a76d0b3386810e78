#include "larq_engine/runtime/step.h"

#include <algorithm>
#include <array>

#include "larq_engine/runtime/host_ops.h"

namespace larq_engine {
namespace {

struct OpKind {
  const char* name;
  std::unique_ptr<Step> (*make)(const OpInfo& op, const StepKernels& kernels);  // null: no step
};

// LCE's converter writes "LceBconv2d"; its sources and documents also spell "LceBConv2d".
constexpr OpKind kOpKinds[] = {
    {"LceQuantize", MakeQuantizeStep},     {"LceDequantize", MakeDequantizeStep},
    {"LceBconv2d", MakeBconv2dStep},       {"LceBConv2d", MakeBconv2dStep},
    {"LceBMaxPool2d", MakeBMaxPool2dStep}, {kUnpackWeights, nullptr},
};

static_assert(std::size(kOpKinds) == kOpNameCount);

const OpKind* FindOpKind(std::string_view name) {
  for (const OpKind& kind : kOpKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Step> MakeStep(std::string_view name, const OpInfo& op,
                               const StepKernels& kernels) {
  if (const HostOp* host_op = FindHostOp(name)) return host_op->make(op, kernels);
  const OpKind* kind = FindOpKind(name);
  return kind == nullptr || kind->make == nullptr ? nullptr : kind->make(op, kernels);
}

std::span<const char* const, kOpNameCount> OpNames() {
  static const auto names = [] {
    std::array<const char*, kOpNameCount> all;
    std::transform(std::begin(kOpKinds), std::end(kOpKinds), all.begin(),
                   [](const OpKind& kind) { return kind.name; });
    return all;
  }();
  return names;
}

const char* FindOpName(std::string_view name) {
  const OpKind* kind = FindOpKind(name);
  return kind == nullptr ? nullptr : kind->name;
}

}  // namespace larq_engine
