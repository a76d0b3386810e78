// Filters of several bits as a product of bytes reads them (byte_product.h, clause RightSide).
#ifndef LARQ_ENGINE_KERNELS_PACK_BYTES_H_
#define LARQ_ENGINE_KERNELS_PACK_BYTES_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/byte_table.h"
#include "larq_engine/kernels/shared_buffer.h"

namespace larq_engine {

// Some planes of a number that has more of them than a byte holds.
struct PlanePart {
  int64_t first;
  int64_t count;
};
std::vector<PlanePart> PlaneParts(int64_t planes, int64_t most);

// Bytes that PackBytes writes for n filters; std::bad_alloc if there cannot be as many.
size_t PackedBytes(const ByteRow& row, size_t n, size_t depth);

// `filters` is [n][depth]; columns and depth are filled up with zeros.
void PackBytes(const ByteRow& row, const int8_t* filters, size_t n, size_t depth, int8_t* packed);

// The right sides of a layer: a part of the planes of its weights and a group each.
class ByteFilters {
 public:
  // filter as for Bconv2d. Nothing of it is kept.
  ByteFilters(const Bconv2dSpec& spec, const ByteRow& row, const uint32_t* filter);

  const std::vector<PlanePart>& parts() const { return parts_; }
  size_t depth() const { return depth_; }  // whole steps of the row

  // A group's columns from `first` on, a multiple of kRhsPartColumns.
  const int8_t* Columns(size_t part, size_t group, size_t first) const {
    return packed_.data() + (part * groups_ + group) * group_bytes_ + first * depth_;
  }
  const int32_t* Start(size_t group, size_t first) const {
    return start_.data() + group * group_columns_ + first;
  }

 private:
  std::vector<PlanePart> parts_;
  size_t groups_;
  size_t depth_;
  size_t group_bytes_;    // so many that every group is aligned,
  size_t group_columns_;  // and its start
  SharedBuffer<int8_t> packed_;
  AlignedBuffer<int32_t> start_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PACK_BYTES_H_
