// Reads a flatbuffer whose offsets may lead anywhere.
#ifndef BENCHMARKS_MODEL_FLATBUFFER_H_
#define BENCHMARKS_MODEL_FLATBUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/model/errors.h"

namespace larq_engine {

// Every read throws ModelError where it would leave the file. A position is a number of bytes from
// the file's beginning; a table is the position where it starts, 0 for none.
class Flatbuffer {
 public:
  explicit Flatbuffer(std::span<const uint8_t> bytes)
      : bytes_(bytes), visits_left_(kMaxVisitsPerByte * uint64_t{bytes.size()}) {}

  uint64_t size() const { return bytes_.size(); }

  template <typename Number>
  Number Read(uint64_t position) const {
    if (position > bytes_.size() || bytes_.size() - position < sizeof(Number)) {
      throw ModelError(
          "expected data at byte " + std::to_string(position) +
          ", got the end of the file; it is truncated or corrupted: copy or convert it "
          "again");
    }
    Number number;
    std::memcpy(&number, &bytes_[static_cast<size_t>(position)], sizeof(Number));
    return number;
  }

  // The default if the table lacks the field.
  template <typename Number>
  Number Scalar(uint64_t table, int field, Number fallback = 0) const {
    const uint64_t position = Field(table, field, sizeof(Number));
    return position == 0 ? fallback : Read<Number>(position);
  }

  uint64_t Table(uint64_t table, int field) const { return Target(Field(table, field)); }

  bool Has(uint64_t table, int field) const { return Field(table, field) != 0; }

  // Empty if the table lacks the field.
  template <typename Number>
  std::vector<Number> Vector(uint64_t table, int field) {
    const uint64_t start = Target(Field(table, field));
    if (start == 0) return {};
    const uint32_t length = Read<uint32_t>(start);
    Visit(length);
    std::vector<Number> numbers;
    if (length == 0) return numbers;
    Read<Number>(start + 4 + (uint64_t{length} - 1) * sizeof(Number));
    numbers.resize(length);
    std::memcpy(numbers.data(), &bytes_[static_cast<size_t>(start + 4)], length * sizeof(Number));
    return numbers;
  }

  std::vector<uint64_t> Tables(uint64_t table, int field) {
    const uint64_t start = Target(Field(table, field));
    std::vector<uint64_t> tables;
    for (const uint32_t offset : Vector<uint32_t>(table, field)) {
      tables.push_back(start + 4 + 4 * tables.size() + offset);
    }
    return tables;
  }

 private:
  // Vectors of a whole file overlap only where a writer shared them. Without a limit a small file
  // whose vectors overlap takes for ever.
  static constexpr uint64_t kMaxVisitsPerByte = 4;

  void Visit(uint64_t elements) {
    if (elements > visits_left_) {
      throw ModelError("expected vectors that do not overlap, got one more of " +
                       std::to_string(elements) +
                       " elements; the file is corrupted: copy or convert it again");
    }
    visits_left_ -= elements;
  }

  // Where the field is, 0 if the table has none of its own. Fields are offsets unless told
  // otherwise.
  uint64_t Field(uint64_t table, int field, size_t width = sizeof(uint32_t)) const {
    // A layout before the file's beginning becomes a position far behind its end.
    const uint64_t layout = table - static_cast<uint64_t>(int64_t{Read<int32_t>(table)});
    const uint64_t slot = 4 + 2 * static_cast<uint64_t>(field);
    if (slot + 2 > Read<uint16_t>(layout)) return 0;
    const uint16_t offset = Read<uint16_t>(layout + slot);
    if (offset == 0) return 0;
    if (const uint16_t size = Read<uint16_t>(layout + 2); offset + width > size) {
      throw ModelError("expected the fields of the table at byte " + std::to_string(table) +
                       " within its " + std::to_string(size) + " bytes, got one at " +
                       std::to_string(offset) + "; it is corrupted: copy or convert it again");
    }
    return table + offset;
  }

  uint64_t Target(uint64_t position) const {
    return position == 0 ? 0 : position + Read<uint32_t>(position);
  }

  std::span<const uint8_t> bytes_;
  uint64_t visits_left_;
};

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_FLATBUFFER_H_
