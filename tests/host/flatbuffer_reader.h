// Reads FlatBuffers without generated code and trusts no byte: every access is checked against the
// buffer, and a violation throws FormatError. Alignment is not assumed.
#ifndef LARQ_ENGINE_TESTS_HOST_FLATBUFFER_READER_H_
#define LARQ_ENGINE_TESTS_HOST_FLATBUFFER_READER_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace larq_engine::testing {

class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class FlatBuffer {
 public:
  explicit FlatBuffer(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T Read(uint64_t at) const {
    T value;
    std::memcpy(&value, Slice(at, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::span<const uint8_t> Slice(uint64_t at, uint64_t length) const {
    if (at > bytes_.size() || length > bytes_.size() - at) {
      throw FormatError("reads " + std::to_string(length) + " bytes at " + std::to_string(at) +
                        " of a file of " + std::to_string(bytes_.size()) + " bytes");
    }
    return bytes_.subspan(at, length);
  }

  // Follows the unsigned offset that is stored at `at`.
  uint64_t Follow(uint64_t at) const { return at + Read<uint32_t>(at); }

 private:
  std::span<const uint8_t> bytes_;
};

// A vector of N-byte elements: a 32-bit count, then the elements.
class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(const FlatBuffer* buffer, uint64_t at, size_t element_size)
      : buffer_(buffer), size_(buffer->Read<uint32_t>(at)), first_(at + 4), step_(element_size) {
    buffer->Slice(first_, uint64_t{size_} * step_);
  }
  size_t size() const { return size_; }
  uint64_t Position(size_t i) const {
    if (i >= size_) {
      throw FormatError("index " + std::to_string(i) + " of a vector of " + std::to_string(size_));
    }
    return first_ + i * step_;
  }
  std::span<const uint8_t> Bytes() const {
    return size_ == 0 ? std::span<const uint8_t>() : buffer_->Slice(first_, size_ * step_);
  }

 private:
  const FlatBuffer* buffer_ = nullptr;
  uint32_t size_ = 0;
  uint64_t first_ = 0;
  uint64_t step_ = 1;
};

// A table finds its fields through a table of 16-bit offsets; a missing field has offset 0 or lies
// beyond the end of that table.
class FlatTable {
 public:
  FlatTable(const FlatBuffer* buffer, uint64_t at) : buffer_(buffer), at_(at) {
    const int64_t offsets = static_cast<int64_t>(at) - buffer->Read<int32_t>(at);
    if (offsets < 0) throw FormatError("a table's field offsets lie before the file");
    offsets_ = static_cast<uint64_t>(offsets);
    offsets_size_ = buffer->Read<uint16_t>(offsets_);
  }

  template <typename T>
  T Scalar(int field, T missing) const {
    const uint64_t at = FieldPosition(field);
    return at == 0 ? missing : buffer_->Read<T>(at);
  }
  FlatVector Vector(int field, size_t element_size) const {
    const uint64_t at = FieldPosition(field);
    return at == 0 ? FlatVector() : FlatVector(buffer_, buffer_->Follow(at), element_size);
  }
  std::string String(int field) const {
    const std::span<const uint8_t> bytes = Vector(field, 1).Bytes();
    return std::string(bytes.begin(), bytes.end());
  }
  bool Has(int field) const { return FieldPosition(field) != 0; }
  FlatTable Table(int field) const {
    const uint64_t at = FieldPosition(field);
    if (at == 0) throw FormatError("a table that must be there is missing");
    return FlatTable(buffer_, buffer_->Follow(at));
  }
  FlatTable TableAt(const FlatVector& tables, size_t i) const {
    return FlatTable(buffer_, buffer_->Follow(tables.Position(i)));
  }
  template <typename T>
  T ScalarAt(const FlatVector& scalars, size_t i) const {
    return buffer_->Read<T>(scalars.Position(i));
  }

 private:
  uint64_t FieldPosition(int field) const {
    const uint64_t entry = 4 + 2 * static_cast<uint64_t>(field);  // after two sizes of 2 bytes
    if (entry + 2 > offsets_size_) return 0;
    const uint16_t offset = buffer_->Read<uint16_t>(offsets_ + entry);
    return offset == 0 ? 0 : at_ + offset;
  }

  const FlatBuffer* buffer_;
  uint64_t at_;
  uint64_t offsets_;
  uint64_t offsets_size_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_FLATBUFFER_READER_H_
