// The interface of a simulated pipeline, a library that Verilator's model of an exported network
// and pipeline.cc make.
#ifndef LARQ_ENGINE_TESTS_FPGA_DEVICE_PIPELINE_H_
#define LARQ_ENGINE_TESTS_FPGA_DEVICE_PIPELINE_H_

#include <cstddef>
#include <cstdint>

struct PipelineImage {
  const uint8_t* in;  // pixels, each at the next multiple of in_step bytes
  size_t pixels_in;
  size_t in_step;
  uint8_t* out;
  size_t pixels_out;
  size_t out_step;
};

extern "C" {

size_t pipeline_in_bits();
size_t pipeline_out_bits();

// Computes an image. Both sides pause in `pauses` of 16 cycles, as `seed` draws them. Returns the
// cycles from the first pixel in to the last one out; 0 if the pipeline hangs.
uint64_t pipeline_run(const PipelineImage* image, unsigned pauses, unsigned seed);
}

#endif  // LARQ_ENGINE_TESTS_FPGA_DEVICE_PIPELINE_H_
