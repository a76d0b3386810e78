#include "larq_engine/runtime/ops/window_checks.h"

#include <algorithm>
#include <string>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

bool AxisReachesLittle(const Window1d& axis) {
  const int64_t pads = std::max(axis.padding.before, axis.padding.after);
  return axis.taps <= kLittleReach / axis.dilation && std::max(axis.stride, pads) <= kLittleReach;
}

}  // namespace

Window2d ConvWindow(const OpInfo& op) {
  Window2d window = *op.builtin_options.dilated_window;
  window.height.taps = op.inputs[1].dims[1];
  window.width.taps = op.inputs[1].dims[2];
  return window;
}

std::vector<int> OutputDims(const Window2d& window, const std::vector<int>& in, int channels) {
  CheckRank(in, "input", 4);
  CountElements(in, 4);
  if (!window.Fits(in[1], in[2])) {
    throw OpError("input: expected an image of at least " + std::to_string(window.height.taps) +
                  " x " + std::to_string(window.width.taps) + " for this VALID window, got shape " +
                  DimsString(in) + "; feed larger images");
  }
  const auto [height, width] = window.Over(in[1], in[2]);
  const std::vector<int> output = {in[0], static_cast<int>(height.out), static_cast<int>(width.out),
                                   channels};
  CountElements(output, 4);
  return output;
}

bool IsLegal(const Window2d& window) {
  return std::min({window.height.taps, window.width.taps, window.height.stride,
                   window.width.stride}) >= 1;
}

bool ReachesLittle(const Window2d& window) {
  return AxisReachesLittle(window.height) && AxisReachesLittle(window.width);
}

}  // namespace larq_engine
