// What the instructions of tma.h do, by NVIDIA's "PTX ISA": pure functions. The emulated GPU
// follows them.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_
#define LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/tensor_map.h"

namespace larq_engine::cuda {

// A barrier goes from phase to phase. One ends when as many have arrived as it was made for, and
// all bytes that they told it to expect.
struct PhaseRule {
  uint32_t arrivals;      // of each phase
  uint32_t arrived = 0;   // in this one
  int64_t bytes = 0;      // expected and not here
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
  // What a wait for a parity waits for: the phase is another, so that the one before had it.
  bool HasEnded(uint32_t parity) const { return finished % 2 != parity; }

 private:
  void EndIfComplete() {
    if (arrived != arrivals || bytes != 0) return;
    arrived = 0;
    ++finished;
  }
};

// Of the box whose first word is column x of row y: the word that lies in column i of its row r.
inline uint32_t BoxWordRule(const MatrixMap& map, int64_t x, int64_t y, uint32_t r, uint32_t i) {
  const int64_t column = x + i;
  const int64_t row = y + r;
  const bool inside = column >= 0 && column < map.row_words && row >= 0 && row < map.rows;
  return inside ? map.words[row * map.pitch_words + column] : 0;
}

// Where it lies, in a box at address `to` of shared memory.
inline uint32_t BoxAddressRule(const MatrixMap& map, uint32_t to, uint32_t r, uint32_t i) {
  const uint32_t at = to + (r * static_cast<uint32_t>(map.box_words) + i) * 4;
  return map.is_swizzled ? at ^ (at >> 7 & 7) << 4 : at;
}

inline uint32_t BoxBytes(const MatrixMap& map) {
  return static_cast<uint32_t>(map.box_rows * map.box_words) * 4;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_TMA_RULES_H_
