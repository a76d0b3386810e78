#include "larq_engine/kernels/bytes/pack_bytes.h"

#include <algorithm>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/common/memory_size.h"

namespace larq_engine {
namespace {

// Writes the weights that some planes of a tap add up to, and returns their sum. `tap` has its
// planes one after the other.
int64_t TapWeights(const uint32_t* tap, size_t channels, const PlanePart& part, int8_t* weights) {
  const size_t words = WordsFor(channels);
  int64_t sum = 0;
  for (size_t c = 0; c < channels; ++c) {
    int64_t weight = 0;
    for (int64_t p = 0; p < part.count; ++p) {
      const uint32_t word = tap[static_cast<size_t>(part.first + p) * words + c / kWordBits];
      weight += (word & kBit[c % kWordBits] ? -1 : 1) * (int64_t{1} << p);
    }
    weights[c] = static_cast<int8_t>(weight);
    sum += weight;
  }
  return sum;
}

}  // namespace

std::vector<PlanePart> PlaneParts(int64_t planes, int64_t most) {
  std::vector<PlanePart> parts;
  for (int64_t first = 0; first < planes; first += most) {
    parts.push_back({.first = first, .count = std::min(most, planes - first)});
  }
  return parts;
}

size_t PackedBytes(const ByteRow& row, size_t n, size_t depth) {
  return MemoryProduct(RoundUp(n, static_cast<size_t>(row.nr)),
                       RoundUp(depth, static_cast<size_t>(row.kr)));
}

void PackBytes(const ByteRow& row, const int8_t* filters, size_t n, size_t depth, int8_t* packed) {
  const size_t nr = static_cast<size_t>(row.nr);
  const size_t filled = RoundUp(depth, static_cast<size_t>(row.kr));
  for (size_t block = 0; block < n; block += nr) {
    for (size_t step = 0; step < filled; step += kByteStep) {
      for (size_t j = block; j < block + nr; ++j) {
        for (size_t k = step; k < step + kByteStep; ++k) {
          *packed++ = j < n && k < depth ? filters[j * depth + k] : int8_t{0};
        }
      }
    }
  }
}

ByteFilters::ByteFilters(const Bconv2dSpec& spec, const ByteRow& row, const uint32_t* filter)
    : parts_(PlaneParts(spec.bits_weights, row.weight_planes)),
      groups_(static_cast<size_t>(spec.groups)),
      depth_(RoundUp(static_cast<size_t>(spec.depth()), static_cast<size_t>(row.kr))) {
  const auto taps = static_cast<size_t>(spec.window.taps());
  const auto channels = static_cast<size_t>(spec.group_in_channels());
  const auto n = static_cast<size_t>(spec.group_out_channels());
  const size_t tap_words = static_cast<size_t>(spec.bits_weights) * spec.tap_words();
  const auto depth = static_cast<size_t>(spec.depth());
  group_bytes_ = RoundUp(PackedBytes(row, n, depth), kBufferAlignment);
  group_columns_ =
      RoundUp(RoundUp(n, static_cast<size_t>(row.nr)), kBufferAlignment / sizeof(int32_t));
  AlignedBuffer<int8_t> packed(MemoryProduct(MemoryProduct(parts_.size(), groups_), group_bytes_));
  start_ = AlignedBuffer<int32_t>(MemoryProduct(groups_, group_columns_));
  std::fill_n(start_.data(), start_.size(), 0);
  std::vector<int8_t> weights(MemoryProduct(n, depth));
  std::vector<int64_t> sums(n * groups_);
  for (size_t part = 0; part < parts_.size(); ++part) {
    for (size_t group = 0; group < groups_; ++group) {
      for (size_t tap = 0; tap < n * taps; ++tap) {
        sums[group * n + tap / taps] +=
            TapWeights(filter + (group * n * taps + tap) * tap_words, channels, parts_[part],
                       weights.data() + tap * channels)
            << parts_[part].first;
      }
      int8_t* to = packed.data() + (part * groups_ + group) * group_bytes_;
      PackBytes(row, weights.data(), n, depth, to);
      std::fill(to + PackedBytes(row, n, depth), to + group_bytes_, int8_t{0});
    }
  }
  packed_ = SharedBuffer(std::move(packed));
  for (size_t group = 0; group < groups_; ++group) {
    for (size_t j = 0; j < n; ++j) {
      const int64_t most = spec.max_dot() - LargestOf(spec.bits_in) * sums[group * n + j];
      start_.data()[group * group_columns_ + j] = static_cast<int32_t>(most / 2);
    }
  }
}

}  // namespace larq_engine
