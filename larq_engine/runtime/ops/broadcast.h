// How two tensors of unlike shapes are combined value by value: as NumPy and the hosts do it, where
// a size of 1 stands for the other tensor's size, and missing dimensions in front for 1.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_
#define LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace larq_engine {

// One value for each channel, where there may be one for all.
template <typename T>
std::vector<T> ForEachChannel(const std::vector<T>& values, size_t channels) {
  return values.size() == 1 ? std::vector<T>(channels, values[0]) : values;
}

// The shape of the result. Throws OpError where the shapes do not fit each other.
std::vector<int> BroadcastShape(const std::vector<int>& a, const std::vector<int>& b);

// Where the pixels (values along the last dimension) of a tensor are, for those of the result.
class BroadcastPixels {
 public:
  BroadcastPixels() = default;
  BroadcastPixels(const std::vector<int>& dims, const std::vector<int>& result);

  // The first value of what belongs to pixel `pixel` of the result.
  size_t Begin(int64_t pixel) const {
    size_t begin = 0;
    for (const Axis& axis : axes_) {
      begin += static_cast<size_t>(pixel % axis.size) * axis.stride;
      pixel /= axis.size;
    }
    return begin;
  }
  // How many pixels of the result, from `pixel` on, have the same; more perhaps than there are.
  int64_t Repeats(int64_t pixel) const {
    if (axes_.empty()) return std::numeric_limits<int64_t>::max();
    return axes_[0].stride > 0 ? 1 : axes_[0].size - pixel % axes_[0].size;
  }
  size_t size() const { return size_; }  // of a pixel: that of the result's, or 1 value for all

 private:
  struct Axis {
    int64_t size;   // in the result
    size_t stride;  // in values of the tensor; 0 where it has one for all
  };
  std::vector<Axis> axes_;  // innermost first; neighbours that can be are one
  size_t size_ = 1;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_
