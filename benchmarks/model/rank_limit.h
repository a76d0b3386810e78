// How many dimensions LiteRT's C interface has room for.
#ifndef BENCHMARKS_MODEL_RANK_LIMIT_H_
#define BENCHMARKS_MODEL_RANK_LIMIT_H_

#include <cstdint>
#include <span>

namespace larq_engine {

// Throws FileError where a tensor has more: LiteRT 2.2 writes behind its array of sizes. The file
// is a legal one.
void CheckRanks(std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_RANK_LIMIT_H_
