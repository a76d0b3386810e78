#include "larq_engine/runtime/step.h"

#include <algorithm>
#include <array>

namespace larq_engine {
namespace {

struct OpKind {
  const char* name;
  std::unique_ptr<Step> (*make)(const OpInfo& op, std::string_view kernel);  // null: no step
};

// LCE's converter writes "LceBconv2d"; its sources and documents also spell "LceBConv2d".
constexpr OpKind kOpKinds[] = {
    {"LceQuantize", [](const OpInfo& op, std::string_view) { return MakeQuantizeStep(op); }},
    {"LceDequantize", [](const OpInfo& op, std::string_view) { return MakeDequantizeStep(op); }},
    {"LceBconv2d", MakeBconv2dStep},
    {"LceBConv2d", MakeBconv2dStep},
    {"LceBMaxPool2d", [](const OpInfo& op, std::string_view) { return MakeBMaxPool2dStep(op); }},
    {kUnpackWeights, nullptr},
};

static_assert(std::size(kOpKinds) == kOpNameCount);

const OpKind* FindOpKind(std::string_view name) {
  for (const OpKind& kind : kOpKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Step> MakeStep(std::string_view name, const OpInfo& op, std::string_view kernel) {
  const OpKind* kind = FindOpKind(name);
  return kind == nullptr || kind->make == nullptr ? nullptr : kind->make(op, kernel);
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
