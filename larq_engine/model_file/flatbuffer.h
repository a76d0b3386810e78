// Reads a flatbuffer whose offsets may lead anywhere.
//
// A flatbuffer has tables that point to each other by offsets. Every read here checks that it stays
// within the file, and throws FileError otherwise. It assumes no alignment.
#ifndef LARQ_ENGINE_MODEL_FILE_FLATBUFFER_H_
#define LARQ_ENGINE_MODEL_FILE_FLATBUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace larq_engine {

// Says what is wrong with a file, without its name.
class FileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A position is a number of bytes from the file's beginning. A table is given by the position where
// it starts, and 0 means that there is none.
class Flatbuffer {
 public:
  explicit Flatbuffer(std::span<const uint8_t> bytes)
      : bytes_(bytes), budget_(kFreeBytes + kBytesPerByte * uint64_t{bytes.size()}) {}

  uint64_t size() const { return bytes_.size(); }

  std::span<const uint8_t> Slice(uint64_t position, uint64_t length, const char* what) const {
    if (position > bytes_.size() || length > bytes_.size() - position) {
      throw FileError(std::string("expected ") + what + " of " + std::to_string(length) +
                      " bytes at byte " + std::to_string(static_cast<int64_t>(position)) +
                      ", got the end of the file; it is truncated or corrupted: copy or convert "
                      "it again");
    }
    return bytes_.subspan(static_cast<size_t>(position), static_cast<size_t>(length));
  }

  template <typename Number>
  Number Read(uint64_t position, const char* what) const {
    Number number;
    std::memcpy(&number, Slice(position, sizeof(Number), what).data(), sizeof(Number));
    return number;
  }

  // Returns the position that the offset at `position` leads to.
  uint64_t Follow(uint64_t position, const char* what) const {
    return position + Read<uint32_t>(position, what);
  }

  // Returns the position of the table's layout, which lists the byte of the table at which each
  // field is.
  uint64_t Layout(uint64_t table, const char* what) const {
    // A layout before the file's beginning wraps to a position far behind its end.
    return table - static_cast<uint64_t>(int64_t{Read<int32_t>(table, what)});
  }

  // Returns the position of the field, or 0 if the table does not have it. Fields are offsets
  // unless `width` says otherwise.
  uint64_t Field(uint64_t table, int field, size_t width = sizeof(uint32_t)) const {
    const uint64_t layout = Layout(table, "a table");
    const uint64_t slot = 4 + 2 * static_cast<uint64_t>(field);
    if (slot + 2 > Read<uint16_t>(layout, "a layout")) return 0;
    const uint16_t offset = Read<uint16_t>(layout + slot, "a layout");
    if (offset == 0) return 0;
    const uint16_t size = Read<uint16_t>(layout + 2, "a layout");
    if (offset < 4 || offset + width > size) {
      throw FileError("expected the fields of the table at byte " + std::to_string(table) +
                      " within its " + std::to_string(size) + " bytes, got one at " +
                      std::to_string(offset) + "; it is corrupted: copy or convert it again");
    }
    return table + offset;
  }

  bool Has(uint64_t table, int field) const { return Field(table, field) != 0; }

  // Returns the field, or the default if the table lacks it.
  template <typename Number>
  Number Scalar(uint64_t table, int field, Number fallback = 0) const {
    const uint64_t position = Field(table, field, sizeof(Number));
    return position == 0 ? fallback : Read<Number>(position, "a number");
  }

  // The following functions return an empty value if the table lacks the field.
  uint64_t Table(uint64_t table, int field) const {
    const uint64_t position = Field(table, field);
    return position == 0 ? 0 : Follow(position, "a table");
  }

  std::span<const uint8_t> Bytes(uint64_t table, int field) const {
    const uint64_t start = Table(table, field);
    if (start == 0) return {};
    return Slice(start + 4, Read<uint32_t>(start, "a vector"), "a vector");
  }

  std::string Text(uint64_t table, int field) {
    const std::span<const uint8_t> bytes = Bytes(table, field);
    Spend(bytes.size());
    return std::string(bytes.begin(), bytes.end());
  }

  template <typename Number>
  std::vector<Number> Vector(uint64_t table, int field) {
    const uint64_t start = Table(table, field);
    if (start == 0) return {};
    const uint64_t length = Read<uint32_t>(start, "a vector");
    const std::span<const uint8_t> bytes = Slice(start + 4, length * sizeof(Number), "a vector");
    Spend(bytes.size());
    std::vector<Number> numbers(static_cast<size_t>(length));
    if (length > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  std::vector<uint64_t> Tables(uint64_t table, int field) {
    const uint64_t start = Table(table, field);
    const std::vector<uint32_t> offsets = Vector<uint32_t>(table, field);
    Spend(offsets.size() * sizeof(uint64_t));
    std::vector<uint64_t> tables;
    tables.reserve(offsets.size());
    for (const uint32_t offset : offsets) {
      tables.push_back(start + 4 + 4 * tables.size() + offset);
    }
    return tables;
  }

  // Takes bytes from the budget, for memory that is allocated or for a string that is read through.
  // Tables and vectors may be shared. So without a budget a small file could stand for more data
  // than any memory can hold, or any computer can read in time.
  void Spend(uint64_t bytes) {
    if (bytes > budget_) {
      throw FileError(
          "expected tables and vectors that are shared a few times, got a file of " +
          std::to_string(size()) +
          " bytes that stands for far more; the file is corrupted: copy or convert it again");
    }
    budget_ -= bytes;
  }

 private:
  // A tensor that shares nothing takes 40 bytes of a file, and some 400 bytes of memory.
  static constexpr uint64_t kBytesPerByte = 32;
  static constexpr uint64_t kFreeBytes = 4 << 20;  // small files may share without limit

  std::span<const uint8_t> bytes_;
  uint64_t budget_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_FLATBUFFER_H_
