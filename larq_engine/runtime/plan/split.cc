// Cuts a layer in two parts, so that two devices can compute it.
#include <cassert>

#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

void Program::Split(size_t index, int64_t channels) {
  const auto* conv = std::get_if<Bconv2dOp>(ops_[index]->op.get());
  assert(conv != nullptr && channels < conv->spec.out_channels);
  const int64_t all_channels = conv->spec.out_channels;
  const size_t output = ops_[index]->output;
  const auto make = [&](Op op, std::vector<size_t> inputs, size_t made) {
    auto added = std::make_unique<ProgramOp>();
    added->name = ops_[index]->name;
    added->op = std::make_unique<Op>(std::move(op));
    added->inputs = std::move(inputs);
    added->output = made;
    return added;
  };
  const auto add_value = [&] {
    values_.push_back({.tensor = values_[output].tensor,
                       .name = values_[output].name,
                       .element_bytes = values_[output].element_bytes,
                       .is_float = values_[output].is_float});
    return values_.size() - 1;
  };
  const size_t first = add_value();
  const size_t second = add_value();
  const std::vector<size_t>& inputs = ops_[index]->inputs;
  const size_t element_bytes = values_[output].element_bytes;
  auto first_part = make(conv->Slice(0, channels), inputs, first);
  auto second_part = make(conv->Slice(channels, all_channels - channels), inputs, second);
  first_part->is_first_half = true;
  auto joined =
      make(ConcatenationOp{.inputs = 2, .element_bytes = element_bytes}, {first, second}, output);
  joined->name.kind = "CONCATENATION";
  joined->declared_dims = ops_[index]->declared_dims;
  const auto place = ops_.begin() + static_cast<ptrdiff_t>(index);
  *place = std::move(first_part);
  const auto after = ops_.insert(place + 1, std::move(second_part));
  ops_.insert(after + 1, std::move(joined));
  Renumber();
}

}  // namespace larq_engine
