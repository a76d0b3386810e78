// The number of dimensions that LiteRT's C interface has room for.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_RANK_LIMIT_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_RANK_LIMIT_H_

#include <cstdint>
#include <span>

namespace larq_engine {

// Throws FileError if a tensor has more dimensions. Such a file is legal, but LiteRT 2.2 writes
// beyond its array of sizes.
void CheckRanks(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_RANK_LIMIT_H_
