#include "larq_engine/runtime/placement_option.h"

namespace larq_engine {
namespace {

constexpr AcceleratorKind kAcceleratorKinds[] = {{.name = "cuda", .title = "GPU"}};

}  // namespace

std::span<const AcceleratorKind> AcceleratorKinds() { return kAcceleratorKinds; }

}  // namespace larq_engine
