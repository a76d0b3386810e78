#include "larq_engine/runtime/ops/window2d.h"

#include <algorithm>
#include <string>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

std::vector<int> Window2d::OutputDims(const std::vector<int>& in, int channels) const {
  CheckRank(in, "input", 4);
  CountElements(in, 4);
  const WindowAxis height = Height(in[1]);
  const WindowAxis width = Width(in[2]);
  if (!same && (height.out == 0 || width.out == 0)) {
    throw OpError("input: expected an image of at least " + std::to_string(filter_height) + " x " +
                  std::to_string(filter_width) + " for this VALID window, got shape " +
                  DimsString(in) + "; feed larger images");
  }
  const std::vector<int> output = {in[0], static_cast<int>(height.out), static_cast<int>(width.out),
                                   channels};
  CountElements(output, 4);
  return output;
}

bool Window2d::IsLegal() const {
  return std::min({filter_height, filter_width, stride_height, stride_width}) >= 1;
}

bool Window2d::ReachesLittle() const {
  return std::max({filter_height, filter_width, stride_height, stride_width}) <= kLittleReach;
}

}  // namespace larq_engine
