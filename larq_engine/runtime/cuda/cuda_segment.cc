#include "larq_engine/runtime/cuda/cuda_segment.h"

#include <algorithm>
#include <new>

namespace larq_engine {
namespace {

// The most sets of shapes that are remembered. A data set in batches needs two: one for full
// batches, one for the last.
constexpr size_t kMostShapes = 4;

}  // namespace

CudaSegment::CudaSegment(CudaExecutor& executor, const Program& program,
                         std::span<const size_t> ops, const std::vector<bool>& is_shared)
    : executor_(executor),
      program_(program),
      is_shared_(is_shared),
      ops_(ops.begin(), ops.end()),
      constants_(*executor.memory()) {}

void CudaSegment::Resize(int) {
  Shapes shapes;
  for (const Value& value : program_.values()) shapes.push_back(value.shape.dims);
  const auto known = std::find_if(shaped_.begin(), shaped_.end(),
                                  [&](const Shaped& shaped) { return shaped.shapes == shapes; });
  if (known != shaped_.end()) {
    shaped_.splice(shaped_.begin(), shaped_, known);
    return;
  }
  // The oldest shapes are dropped before memory for new ones is allocated.
  while (shaped_.size() >= kMostShapes) shaped_.pop_back();
  const auto make = [&] {
    return std::make_unique<ShapedLaunches>(executor_, program_, ops_, is_shared_, constants_);
  };
  std::unique_ptr<ShapedLaunches> launches;
  try {
    launches = make();
  } catch (const std::bad_alloc&) {
    if (shaped_.empty()) throw;
    shaped_.clear();  // the new shapes may fit once the remembered ones are gone
    launches = make();
  }
  shaped_.push_front({std::move(shapes), std::move(launches)});
}

void CudaSegment::ClearProfile() {
  for (Shaped& shaped : shaped_) shaped.launches->ClearProfile();
}

}  // namespace larq_engine
