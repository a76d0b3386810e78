// Turns a fuzzer's bytes into decisions; when they run out, every decision is the first choice.
#ifndef LARQ_ENGINE_TESTS_FUZZ_BYTE_SOURCE_H_
#define LARQ_ENGINE_TESTS_FUZZ_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace larq_engine::testing {

class ByteSource {
 public:
  explicit ByteSource(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  // Returns a number below `count`, which is at most 256.
  size_t Below(size_t count) { return Byte() % count; }
  template <typename T, size_t N>
  T OneOf(const T (&values)[N]) {
    return values[Below(N)];
  }
  std::vector<uint8_t> Bytes(size_t count) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = Byte();
    return bytes;
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_FUZZ_BYTE_SOURCE_H_
