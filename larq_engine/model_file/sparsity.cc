#include "larq_engine/model_file/sparsity.h"

#include <algorithm>

#include "larq_engine/model_file/walk.h"

namespace larq_engine {
namespace {

// The dimensions in the order in which they are traversed: those of the shape, some of which are
// divided into blocks, then those within a block.
class SparseWalk {
 public:
  SparseWalk(const FileTensor& tensor, const PartName& place)
      : sparsity_(*tensor.sparsity),
        place_(place),
        sizes_(tensor.shape.begin(), tensor.shape.end()) {
    const size_t rank = sizes_.size();
    const size_t all = rank + sparsity_.block_map.size();
    if (sparsity_.traversal_order.size() != all || sparsity_.dimensions.size() != all) {
      Refuse("sparse " + std::to_string(all) + " dimensions",
             std::to_string(sparsity_.traversal_order.size()) + " to walk, " +
                 std::to_string(sparsity_.dimensions.size()) + " described");
    }
    std::vector<bool> seen(all);
    level_of_.resize(all);
    for (size_t level = 0; level < all; ++level) {
      const int32_t dimension = sparsity_.traversal_order[level];
      if (dimension < 0 || static_cast<size_t>(dimension) >= all ||
          seen[static_cast<size_t>(dimension)]) {
        Refuse("an order of all " + std::to_string(all) + " dimensions",
               NumbersText(sparsity_.traversal_order));
      }
      seen[static_cast<size_t>(dimension)] = true;
      level_of_[static_cast<size_t>(dimension)] = level;
    }
    DivideIntoBlocks(rank);
  }

  // Returns the number of stored values.
  uint64_t Count() const {
    uint64_t count = 1;
    for (size_t level = 0; level < sparsity_.dimensions.size(); ++level) {
      const SparseDimension& dimension = sparsity_.dimensions[level];
      const auto size =
          static_cast<uint64_t>(sizes_[static_cast<size_t>(sparsity_.traversal_order[level])]);
      if (dimension.is_sparse) {
        CheckSegments(dimension, count, size);
        count = dimension.indices->size();
      } else {
        if (static_cast<uint64_t>(dimension.dense_size) != size) {
          Refuse("a dense dimension of " + std::to_string(size),
                 std::to_string(dimension.dense_size));
        }
        if (size != 0 && count > (uint64_t{1} << 60) / size) Refuse("a size in memory", "more");
        count *= size;
      }
    }
    return count;
  }

 private:
  [[noreturn]] void Refuse(const std::string& expected, const std::string& got) const {
    larq_engine::Refuse(place_, expected, got);
  }

  void DivideIntoBlocks(size_t rank) {
    for (size_t i = 0; i < sparsity_.block_map.size(); ++i) {
      const int32_t divided = sparsity_.block_map[i];
      if (divided < 0 || static_cast<size_t>(divided) >= rank ||
          (i > 0 && divided <= sparsity_.block_map[i - 1])) {
        Refuse("blocks of dimensions in order", NumbersText(sparsity_.block_map));
      }
      const SparseDimension& block = sparsity_.dimensions[level_of_[rank + i]];
      int64_t& size = sizes_[static_cast<size_t>(divided)];
      if (block.is_sparse || block.dense_size < 1 || size % block.dense_size != 0) {
        Refuse("blocks that divide a dimension of " + std::to_string(size),
               "one of " + std::to_string(block.dense_size));
      }
      sizes_.push_back(block.dense_size);
      sizes_[static_cast<size_t>(divided)] /= block.dense_size;
    }
  }

  void CheckSegments(const SparseDimension& dimension, uint64_t count, uint64_t size) const {
    if (!dimension.segments.has_value() || !dimension.indices.has_value()) {
      Refuse("segments and indices of a sparse dimension", "none");
    }
    const std::vector<uint64_t>& segments = *dimension.segments;
    if (segments.size() != count + 1 || segments.front() != 0 ||
        !std::is_sorted(segments.begin(), segments.end()) ||
        segments.back() != dimension.indices->size()) {
      Refuse(std::to_string(count) + " sparse segments of " +
                 std::to_string(dimension.indices->size()) + " indices",
             NumbersText(segments));
    }
    for (const uint64_t index : *dimension.indices) {
      if (index >= size) {
        Refuse("sparse indices below " + std::to_string(size),
               std::to_string(static_cast<int64_t>(index)));
      }
    }
    for (size_t segment = 0; segment + 1 < segments.size(); ++segment) {
      for (uint64_t i = segments[segment] + 1; i < segments[segment + 1]; ++i) {
        const uint64_t before = dimension.indices->at(i - 1);
        const uint64_t index = dimension.indices->at(i);
        if (index <= before) {
          Refuse("sparse indices that rise",
                 std::to_string(index) + " after " + std::to_string(before));
        }
      }
    }
  }

  const FileSparsity& sparsity_;
  const PartName& place_;
  std::vector<int64_t> sizes_;  // sizes of the dimensions, in blocks if they are divided
  std::vector<size_t> level_of_;
};

}  // namespace

void CheckSparsity(const FileTensor& tensor, size_t data_size, const PartName& place) {
  const uint64_t values = SparseWalk(tensor, place).Count();
  // Indices rise, so there are no more values than the shape has, and the number of bits does not
  // overflow.
  const uint64_t bytes = (values * static_cast<uint64_t>(BitsOf(tensor.type)) + 7) / 8;
  if (bytes != data_size) {
    Refuse(place, std::to_string(bytes) + " bytes of sparse values", std::to_string(data_size));
  }
}

}  // namespace larq_engine
