#include "larq_engine/runtime/ops/flexbuffer.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace larq_engine {
namespace {

// FlexBuffer types; a packed type byte is type << 2 | log2(width in bytes).
enum Type : uint8_t {
  kInt = 1,
  kUInt = 2,
  kIndirectInt = 6,
  kIndirectUInt = 7,
  kMap = 9,
  kBool = 26
};

// Limits the length of a key. Without a limit, each byte of one long text could begin a key, and
// the copies of these keys would take memory without end.
constexpr size_t kMaxKeyBytes = 64;

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> buffer) : buffer_(buffer) {}

  uint64_t Unsigned(size_t at, size_t width) const {
    if (at > buffer_.size() || width > buffer_.size() - at) {
      throw std::invalid_argument("options: the FlexBuffer points outside its " +
                                  std::to_string(buffer_.size()) + " bytes");
    }
    uint64_t value = 0;
    std::memcpy(&value, buffer_.data() + at, width);
    return value;
  }

  int64_t Signed(size_t at, size_t width) const {
    const int shift = static_cast<int>(64 - 8 * width);
    return static_cast<int64_t>(Unsigned(at, width) << shift) >> shift;
  }

  // Positions are stored as distances back from where they are stored.
  size_t Follow(size_t at, size_t width) const { return Back(at, Unsigned(at, width)); }

  size_t Back(size_t at, uint64_t distance) const {
    if (distance > at) {
      throw std::invalid_argument("options: the FlexBuffer points before its first byte");
    }
    return at - static_cast<size_t>(distance);
  }

  std::string Key(size_t at) const {
    const uint8_t* begin = buffer_.data() + at;
    const size_t length = at < buffer_.size() ? std::min(kMaxKeyBytes + 1, buffer_.size() - at) : 0;
    const void* end = std::memchr(begin, 0, length);
    if (end == nullptr) {
      throw std::invalid_argument("options: a key of the FlexBuffer has no end within " +
                                  std::to_string(kMaxKeyBytes) + " bytes");
    }
    return std::string(reinterpret_cast<const char*>(begin),
                       static_cast<size_t>(static_cast<const uint8_t*>(end) - begin));
  }

  // Reads the whole number of packed type `packed` from the slot of `width` bytes at `at`.
  int64_t Int(size_t at, size_t width, uint8_t packed, const std::string& key) const {
    const size_t own_width = size_t{1} << (packed & 3);
    switch (packed >> 2) {
      case kInt:
        return Signed(at, width);
      case kUInt:
      case kBool:
        return static_cast<int64_t>(Unsigned(at, width));
      case kIndirectInt:
        return Signed(Follow(at, width), own_width);
      case kIndirectUInt:
        return static_cast<int64_t>(Unsigned(Follow(at, width), own_width));
      default:
        throw std::invalid_argument("option '" + key +
                                    "': expected a whole number, got FlexBuffer type " +
                                    std::to_string(packed >> 2));
    }
  }

 private:
  std::span<const uint8_t> buffer_;
};

}  // namespace

std::map<std::string, int64_t> ReadIntMap(std::span<const uint8_t> buffer) {
  // The end: the root's slot, its packed type, the slot's width.
  if (buffer.size() < 3) {
    throw std::invalid_argument("options: expected a FlexBuffer map, got " +
                                std::to_string(buffer.size()) + " bytes");
  }
  const Reader reader(buffer);
  const size_t root_width = buffer[buffer.size() - 1];
  const uint8_t root_type = buffer[buffer.size() - 2];
  if (root_width != 1 && root_width != 2 && root_width != 4 && root_width != 8) {
    throw std::invalid_argument("options: the bytes are not a FlexBuffer");
  }
  if (root_type >> 2 != kMap) {
    throw std::invalid_argument("options: expected a FlexBuffer map, got FlexBuffer type " +
                                std::to_string(root_type >> 2));
  }
  // Before a map's values: where its sorted keys are, their width, the number of entries; after
  // them: a packed type for each.
  const size_t width = size_t{1} << (root_type & 3);
  const size_t root = reader.Back(buffer.size() - 2, root_width);
  const size_t values = reader.Follow(root, root_width);
  const size_t keys_slot = reader.Back(values, 3 * width);
  const size_t keys = reader.Follow(keys_slot, width);
  const uint64_t key_width = reader.Unsigned(reader.Back(values, 2 * width), width);
  const uint64_t count = reader.Unsigned(reader.Back(values, width), width);
  if (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8) {
    throw std::invalid_argument("options: the FlexBuffer's keys have an impossible width");
  }
  if (count > buffer.size()) {
    throw std::invalid_argument("options: the FlexBuffer map says " + std::to_string(count) +
                                " entries in " + std::to_string(buffer.size()) + " bytes");
  }
  std::map<std::string, int64_t> map;
  for (size_t i = 0; i < count; ++i) {
    const std::string key = reader.Key(reader.Follow(keys + i * key_width, key_width));
    const auto packed = static_cast<uint8_t>(reader.Unsigned(values + count * width + i, 1));
    if (!map.emplace(key, reader.Int(values + i * width, width, packed, key)).second) {
      throw std::invalid_argument("options: expected every option once, got '" + key + "' again");
    }
  }
  return map;
}

}  // namespace larq_engine
