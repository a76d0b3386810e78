// Broadcasting: combines two tensors of different shapes value by value, by the rules of NumPy and
// of the hosts. A size of 1 stands for the other tensor's size, and missing dimensions in front for
// 1.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_
#define LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace larq_engine {

// Repeats a single value for all channels; returns other values unchanged.
template <typename T>
std::vector<T> ForEachChannel(const std::vector<T>& values, size_t channels) {
  return values.size() == 1 ? std::vector<T>(channels, values[0]) : values;
}

// Returns the shape of the result. Throws OpError if the shapes do not fit each other.
std::vector<int> BroadcastShape(const std::vector<int>& a, const std::vector<int>& b);

// Tells whether an operand has one value for each pixel of the result.
bool HasOneAPixel(const std::vector<int>& dims, const std::vector<int>& result);

// Finds the pixel of an operand (its values along the last dimension) for each pixel of the result.
class BroadcastPixels {
 public:
  BroadcastPixels() = default;
  BroadcastPixels(const std::vector<int>& dims, const std::vector<int>& result);

  // Returns the index of the operand's first value for pixel `pixel` of the result.
  size_t Begin(int64_t pixel) const {
    size_t begin = 0;
    for (const Axis& axis : axes_) {
      begin += static_cast<size_t>(pixel % axis.size) * axis.stride;
      pixel /= axis.size;
    }
    return begin;
  }
  // Returns how many pixels of the result, from `pixel` on, share the operand's pixel. The number
  // may exceed the pixels that are left.
  int64_t Repeats(int64_t pixel) const {
    if (axes_.empty()) return std::numeric_limits<int64_t>::max();
    return axes_[0].stride > 0 ? 1 : axes_[0].size - pixel % axes_[0].size;
  }
  size_t size() const { return size_; }  // values of a pixel: the result's number, or 1

 private:
  struct Axis {
    int64_t size;   // in the result
    size_t stride;  // in values of the operand; 0 if it has one for all
  };
  std::vector<Axis> axes_;  // innermost first; neighbours are merged if possible
  size_t size_ = 1;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BROADCAST_H_
