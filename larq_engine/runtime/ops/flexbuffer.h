// Reads the options of a custom operator: a FlexBuffer map from names to whole numbers. Any bytes
// may come, so every read is checked against the buffer's ends.
#ifndef LARQ_ENGINE_RUNTIME_OPS_FLEXBUFFER_H_
#define LARQ_ENGINE_RUNTIME_OPS_FLEXBUFFER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace larq_engine {

// Throws std::invalid_argument, which says what is wrong with the bytes. Keys have 64 bytes at most
// and none comes twice, so the time grows no faster than the number of bytes.
std::map<std::string, int64_t> ReadIntMap(std::span<const uint8_t> buffer);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_FLEXBUFFER_H_
