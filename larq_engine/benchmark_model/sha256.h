// The digest that identifies a model in profiles and placements.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_SHA256_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_SHA256_H_

#include <cstdint>
#include <span>
#include <string>

namespace larq_engine {

// Returns the digest in hexadecimal digits.
std::string Sha256(std::span<const uint8_t> data);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_SHA256_H_
