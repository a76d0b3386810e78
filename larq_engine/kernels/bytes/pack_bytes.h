// Packs filters of several bits in the order in which a product of bytes reads them
// (byte_product.h, clause RightSide).
#ifndef LARQ_ENGINE_KERNELS_BYTES_PACK_BYTES_H_
#define LARQ_ENGINE_KERNELS_BYTES_PACK_BYTES_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/shared_buffer.h"

namespace larq_engine {

// A range of the planes of a number that has more planes than a byte holds.
struct PlanePart {
  int64_t first;
  int64_t count;
};
std::vector<PlanePart> PlaneParts(int64_t planes, int64_t most);

// Returns the bytes that PackBytes writes for n filters; throws std::bad_alloc if memory cannot be
// that large.
size_t PackedBytes(const ByteRow& row, size_t n, size_t depth);

// `filters` is [n][depth]; columns and depth are filled up with zeros.
void PackBytes(const ByteRow& row, const int8_t* filters, size_t n, size_t depth, int8_t* packed);

// The right sides of a layer, one for each part of the planes of its weights and each group.
class ByteFilters {
 public:
  // `filter` is laid out as for Bconv2d. The object keeps no pointer to it.
  ByteFilters(const Bconv2dSpec& spec, const ByteRow& row, const uint32_t* filter);

  const std::vector<PlanePart>& parts() const { return parts_; }
  size_t depth() const { return depth_; }  // in whole steps of the row

  // Returns a group's columns from `first` on, a multiple of kRhsPartColumns.
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
  size_t group_bytes_;    // rounded up so that every group is aligned
  size_t group_columns_;  // rounded up so that every group's start is aligned
  SharedBuffer<int8_t> packed_;
  AlignedBuffer<int32_t> start_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_PACK_BYTES_H_
