// The rules of the instructions of tma.h, by NVIDIA's "PTX ISA": pure functions, which the emulated
// GPU follows.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/tensor_map.h"

namespace larq_engine::cuda {

// The phases of a barrier. A phase ends when the number of threads that the barrier was made for
// have arrived, and with them all bytes that they told it to expect.
struct PhaseRule {
  uint32_t arrivals;      // that each phase waits for
  uint32_t arrived = 0;   // in this one
  int64_t bytes = 0;      // expected, but not here yet
  uint32_t finished = 0;  // phases

  void Arrive(int64_t expected_bytes) {
    bytes += expected_bytes;
    ++arrived;
    EndIfComplete();
  }
  void Receive(int64_t received_bytes) {
    bytes -= received_bytes;
    EndIfComplete();
  }
  // Tells whether a wait for `parity` is over: the current phase has the other parity, so the one
  // before had this one.
  bool HasEnded(uint32_t parity) const { return finished % 2 != parity; }

 private:
  void EndIfComplete() {
    if (arrived != arrivals || bytes != 0) return;
    arrived = 0;
    ++finished;
  }
};

// Returns the word in column i of row r of the box that begins in column x of row y.
inline uint32_t BoxWordRule(const MatrixMap& map, int64_t x, int64_t y, uint32_t r, uint32_t i) {
  const int64_t column = x + i;
  const int64_t row = y + r;
  const bool inside = column >= 0 && column < map.row_words && row >= 0 && row < map.rows;
  return inside ? map.words[row * map.pitch_words + column] : 0;
}

// Returns the shared address of that word, if the box is copied to address `to`.
inline uint32_t BoxAddressRule(const MatrixMap& map, uint32_t to, uint32_t r, uint32_t i) {
  const uint32_t at = to + (r * static_cast<uint32_t>(map.box_words) + i) * 4;
  return map.is_swizzled ? at ^ (at >> 7 & 7) << 4 : at;
}

inline uint32_t BoxBytes(const MatrixMap& map) {
  return static_cast<uint32_t>(map.box_rows * map.box_words) * 4;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_
