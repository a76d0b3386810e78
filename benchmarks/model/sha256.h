// The digest by which profiles and placements know a model.
#ifndef BENCHMARKS_MODEL_SHA256_H_
#define BENCHMARKS_MODEL_SHA256_H_

#include <cstdint>
#include <span>
#include <string>

namespace larq_engine {

// In hexadecimal digits.
std::string Sha256(std::span<const uint8_t> data);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_SHA256_H_
