#include "larq_engine/runtime/cpu/pass_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

namespace larq_engine {
namespace {

// Limits the bytes that an operator reads and writes in a pass. If all of 32 images go through each
// step together, QuickNet takes 1.18 times as long (Xeon, L2 of 2 MB a core).
constexpr uint64_t kMostPassBytes = 1 << 20;

constexpr size_t kImageRank = 4;

}  // namespace

// In images axis 0 counts the samples, unless an operator mixes them. Values of other ranks may
// have the samples on another axis.
int CountPasses(const Program& program, std::span<const size_t> ops) {
  const std::vector<int>& dims = program.value(program.op(ops[0]).output).shape.dims;
  const int samples = dims.empty() ? 0 : dims[0];
  if (samples == 0) return 1;
  uint64_t most = 1;  // bytes of an operator
  for (size_t index : ops) {
    const ProgramOp& op = program.op(index);
    uint64_t bytes = 0;
    const std::optional<size_t> rank_of_rows = RankOfRows(*op.op);
    const auto add = [&](size_t value) {
      const std::vector<int>& dims = program.value(value).shape.dims;
      bytes += program.value(value).bytes;
      const bool is_of_samples =
          rank_of_rows ? dims.size() >= *rank_of_rows : dims.size() == kImageRank;
      return is_of_samples && dims[0] == samples;
    };
    if (MixesSamples(*op.op)) return 1;
    if (!add(op.output) || !std::all_of(op.inputs.begin(), op.inputs.end(), add)) return 1;
    most = std::max(most, bytes);
  }
  const uint64_t fitting = kMostPassBytes * static_cast<uint64_t>(samples) / most;
  const int most_at_once =
      static_cast<int>(std::min<uint64_t>(fitting, static_cast<uint64_t>(samples)));
  int at_once = std::max(most_at_once, 1);
  while (at_once > 1 && samples % at_once != 0) --at_once;
  // With a prime number of samples, such as 1009 of 4 KB, each sample would be a pass, perhaps of
  // one pixel.
  return at_once < most_at_once / 4 ? 1 : samples / at_once;
}

TensorShape PassValues::Shape(size_t value) const {
  TensorShape shape = program_.value(IsPart(value) ? Part(value).whole : value).shape;
  if (passes_ > 1) shape.dims[0] /= passes_;
  if (IsPart(value)) shape.dims.back() = static_cast<int>(Part(value).channels);
  return shape;
}

size_t PassValues::Bytes(size_t value) const {
  if (!IsPart(value)) return program_.value(value).bytes / static_cast<size_t>(passes_);
  const std::vector<int> dims = Shape(value).dims;
  return static_cast<size_t>(CountElements(dims, dims.size())) *
         program_.value(Part(value).whole).element_bytes;
}

}  // namespace larq_engine
