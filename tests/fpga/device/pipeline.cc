// Drives Verilator's model of an exported network. It is compiled for each network anew, with
// IN_BITS and OUT_BITS, the bits of a pixel.
#include "tests/fpga/device/pipeline.h"

#include <cstring>
#include <random>

#include "Vmodel_network.h"
#include "verilated.h"

namespace {

constexpr size_t kInBytes = (IN_BITS + 7) / 8;
constexpr size_t kOutBytes = (OUT_BITS + 7) / 8;

// No network of the tests needs so many cycles for an image.
constexpr uint64_t kMostCycles = 1 << 22;

}  // namespace

size_t pipeline_in_bits() { return IN_BITS; }

size_t pipeline_out_bits() { return OUT_BITS; }

uint64_t pipeline_run(const PipelineImage* image, unsigned pauses, unsigned seed) {
  VerilatedContext context;
  Vmodel_network network(&context);
  std::minstd_rand random(seed + 1);
  const auto is_pause = [&] { return (random() >> 8) % 16 < pauses; };
  const auto edge = [&] {
    network.clk = 1;
    network.eval();
    network.clk = 0;
    network.eval();
  };
  network.reset = 1;
  network.in_valid = 0;
  network.out_ready = 0;
  for (int i = 0; i < 4; ++i) edge();
  network.reset = 0;
  size_t sent = 0;
  size_t made = 0;
  uint64_t first = 0;
  for (uint64_t cycle = 0; cycle < kMostCycles; ++cycle) {
    // A pixel that was offered stays until it is taken.
    if (!network.in_valid && sent < image->pixels_in && !is_pause()) {
      // Ports lie in memory as little-endian numbers.
      std::memset(&network.in_data, 0, sizeof network.in_data);
      std::memcpy(&network.in_data, image->in + sent * image->in_step, kInBytes);
      network.in_valid = 1;
    }
    network.out_ready = !is_pause();
    network.eval();
    const bool is_taken = network.in_valid && network.in_ready;
    if (network.out_valid && network.out_ready) {
      uint8_t* pixel = image->out + made * image->out_step;
      std::memset(pixel, 0, image->out_step);
      std::memcpy(pixel, &network.out_data, kOutBytes);
      ++made;
    }
    if (is_taken && sent++ == 0) first = cycle;
    if (made == image->pixels_out) return cycle - first + 1;
    edge();
    if (is_taken) network.in_valid = 0;
  }
  return 0;
}
